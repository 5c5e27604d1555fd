// How far a shard's change log went when it was last known to be on disk, in a file of its own: a
// log that has lost its end opens without a word, and this is how that is seen.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vicinity {

// Two slots that are written in turn, so that a power cut in the middle of one leaves the other.
//
// Threads: one at a time.
class HighWater {
 public:
  // Of a file that is made if there is none. DataLoss naming it if neither slot is whole.
  static absl::StatusOr<std::unique_ptr<HighWater>> Open(const std::string& path);
  ~HighWater();
  HighWater(const HighWater&) = delete;
  HighWater& operator=(const HighWater&) = delete;

  // The last version that was Raised to; 0: none.
  uint64_t version() const { return version_; }
  // Whether the log was made once; Made() tells that it is, and waits for the disk.
  bool was_made() const { return turn_ > kFirstTurns; }
  absl::Status Made();
  // Once the log is on disk up to `version`. Does not wait for the disk: after a power cut an older
  // version may stand here, which claims less and is true.
  absl::Status Raise(uint64_t version);

 private:
  static constexpr uint64_t kFirstTurns = 1;  // 0 and 1 fill the slots

  HighWater(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  absl::Status Write(uint64_t turn, uint64_t version);
  absl::Status Read();

  const std::string path_;
  const int fd_;
  uint64_t turn_ = 0;
  uint64_t version_ = 0;
};

}  // namespace vicinity
