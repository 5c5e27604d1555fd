// Files of a dataset from whichever of some servers has a sound one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/flags/servers_flags.h"
#include "partition/writing/repair.h"
#include "proto/manifest.pb.h"

namespace vicinity::cli {

class ServerFiles final : public FileSource {
 public:
  // `targets`: admin addresses. `timeout`: for each MiB.
  ServerFiles(std::vector<ServerTarget> targets, uint64_t fingerprint, absl::Duration timeout)
      : targets_(std::move(targets)), fingerprint_(fingerprint), timeout_(timeout) {}

  // Unavailable naming what each server said if none has it.
  absl::Status Read(const proto::FileEntry& file, const Take& take) override;
  // The text of the first manifest that is to be had, which its own checksum vouches for alone.
  absl::StatusOr<std::string> ReadManifestText() const;

 private:
  // Until the file ends; `taken` counts its bytes.
  absl::Status ReadFrom(const ServerTarget& target, const std::string& path, const Take& take,
                        uint64_t* taken) const;

  const std::vector<ServerTarget> targets_;
  const uint64_t fingerprint_;
  const absl::Duration timeout_;
};

}  // namespace vicinity::cli
