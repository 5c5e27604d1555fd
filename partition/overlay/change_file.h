// The changes of one shard as a file: to be kept elsewhere, and to be made again of.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/live.pb.h"

namespace vicinity {

// Appends changes, version by version.
//
// Threads: one at a time.
class ChangeFile {
 public:
  // Of a file that is made if there is none. `identity`: as LiveBase::Identity; FailedPrecondition
  // with both if the file is of others. What was left half written at its end is taken away;
  // DataLoss naming the version for what is damaged.
  static absl::StatusOr<std::unique_ptr<ChangeFile>> Open(const std::string& path,
                                                          const std::string& identity);
  ~ChangeFile();
  ChangeFile(const ChangeFile&) = delete;
  ChangeFile& operator=(const ChangeFile&) = delete;

  uint64_t last_version() const { return last_version_; }
  uint64_t last_term() const { return last_term_; }  // Change.term of that; 0: there is none
  int64_t bytes() const { return bytes_; }
  // InvalidArgument for another version than the next.
  absl::Status Append(const proto::Change& change);
  // Waits until all is on disk.
  absl::Status Sync();

 private:
  ChangeFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  absl::Status Write(const std::string& record);

  const std::string path_;
  const int fd_;
  uint64_t last_version_ = 0;
  uint64_t last_term_ = 0;
  int64_t bytes_ = 0;
};

struct ChangeFileFacts {
  std::string identity;
  uint64_t last_version = 0;
  uint64_t last_term = 0;     // in which that was written
  int64_t bytes = 0;          // of whole records
  bool half_written = false;  // something came behind them
};

// What the file's changes are of. DataLoss if its beginning is damaged.
absl::StatusOr<std::string> ReadChangeFileIdentity(const std::string& path);

// Calls take(change) for all in order, if it is not null. DataLoss naming path and version for what
// is damaged before the end; what `take` returns.
absl::StatusOr<ChangeFileFacts> ReadChangeFile(
    const std::string& path, const std::function<absl::Status(proto::Change change)>& take);

}  // namespace vicinity
