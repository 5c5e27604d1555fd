// What a folder of changes says of the dataset that is in force: after another has taken the place
// of the one that a server was started with, a start finds the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/common/ids.h"

namespace vicinity {

// "generation-00003.json" in the folder, by the first shard of the server, since several servers
// may share it; docs/formats.md has it.
struct GenerationRecord {
  uint64_t fingerprint = 0;
  std::string data;              // its folder
  std::string changes;           // the folder of its changes, within that of the record
  std::vector<uint64_t> before;  // the datasets that were in force before, the first one first
};

// Nothing: the dataset is still the first one, whose changes lie in `folder` itself. DataLoss
// naming the file if it does not read.
absl::StatusOr<std::optional<GenerationRecord>> ReadGenerationRecord(const std::string& folder,
                                                                     ShardId first);

// On disk when it returns; a crash leaves the one before or this one.
absl::Status WriteGenerationRecord(const std::string& folder, ShardId first,
                                   const GenerationRecord& record);

// The folder for changes of a dataset that was not the first one there.
std::string ChangesFolderOf(uint64_t fingerprint);

}  // namespace vicinity
