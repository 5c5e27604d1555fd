// Room on a disk that nobody writes to: what is given up when the disk is full all the same, so
// that what leads out of it has room.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "proto/common/mutex.h"

namespace vicinity {

// A file whose blocks are taken and never written.
//
// Threads: any.
class DiskReserve {
 public:
  // `path`: the file's, in a folder that is there. 0 bytes: none is kept.
  DiskReserve(std::string path, int64_t bytes);
  DiskReserve(const DiskReserve&) = delete;
  DiskReserve& operator=(const DiskReserve&) = delete;

  // Takes the room unless it is held: also what an earlier process left. ResourceExhausted: it is
  // not there, and nothing was taken; else what the system says.
  absl::Status Make();
  // Gives the room back, that of an earlier process too. False: there was none.
  bool GiveUp();

  bool is_held() const;
  // Since it was given up it could not be made again.
  bool is_given_up() const;
  int64_t times_given_up() const;  // since this was made, while it was held
  // Of what is free on the disk, that is to become the reserve again: nobody's to write to.
  int64_t missing_bytes() const;
  int64_t bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

 private:
  absl::Status Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string path_;
  const int64_t bytes_;
  mutable Mutex mu_;
  bool held_ ABSL_GUARDED_BY(mu_) = false;
  bool given_up_ ABSL_GUARDED_BY(mu_) = false;
  int64_t times_given_up_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vicinity
