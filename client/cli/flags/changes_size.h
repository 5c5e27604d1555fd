// How much of a cluster's servers the changes of a live graph take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/cli/flags/servers_flags.h"
#include "proto/service.pb.h"

namespace vicinity::cli {

struct ChangesSize {
  std::string server;        // the one with most
  int64_t memory_bytes = 0;  // of what is known of changes
  int64_t disk_bytes = 0;    // in RocksDB's files, and what is not yet sorted into them

  int64_t larger() const { return memory_bytes > disk_bytes ? memory_bytes : disk_bytes; }
};

// Of the server whose memory or disk for changes, all its shards together, is the largest, by what
// AskStatusAndMetrics says of each target. Servers that gave no answer do not count, unless none
// did: then what OutcomeOf says. FailedPrecondition if nobody has changes at all.
absl::StatusOr<ChangesSize> LargestChanges(
    const std::vector<ServerTarget>& targets,
    const std::vector<absl::StatusOr<proto::StatusReply>>& answers);

}  // namespace vicinity::cli
