// Whether a disk has room for what is to be written: asked before, since a store that meets a full
// disk is of no use until it is opened again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vicinity {

// Whether there is less free than so much, from the moment that there is until there is a quarter
// more: so a disk near its limit is not low and high in turn.
//
// Threads: one at a time.
class FreeLimit {
 public:
  explicit FreeLimit(int64_t least_bytes) : least_bytes_(least_bytes) {}  // 0: there never is

  bool IsBelow(int64_t free_bytes) {
    is_below_ = least_bytes_ > 0 && free_bytes < (is_below_ ? enough_bytes() : least_bytes_);
    return is_below_;
  }
  int64_t least_bytes() const { return least_bytes_; }
  int64_t enough_bytes() const { return least_bytes_ + least_bytes_ / 4; }

 private:
  const int64_t least_bytes_;
  bool is_below_ = false;
};

// Says no while less is free than should be.
//
// Threads: one at a time.
class DiskRoom {
 public:
  using FreeBytes = std::function<absl::StatusOr<int64_t>()>;

  // `least_bytes`: that are to stay free; 0: nobody looks. `free_bytes`: of the file system that
  // `folder` is on; null: as the system says.
  DiskRoom(std::string folder, int64_t least_bytes, FreeBytes free_bytes = nullptr);
  DiskRoom(const DiskRoom&) = delete;
  DiskRoom& operator=(const DiskRoom&) = delete;

  // ResourceExhausted naming the folder, what is free and what should be, if so many bytes more
  // would leave too little.
  absl::Status Check(int64_t bytes);
  // ResourceExhausted unless so many bytes fit onto the disk at all.
  absl::Status CheckFits(int64_t bytes) const;

 private:
  const std::string folder_;
  FreeLimit limit_;
  const FreeBytes free_bytes_;
};

// Free to who may write to the file system that a folder is on.
absl::StatusOr<int64_t> FreeBytesOf(const std::string& folder);

}  // namespace vicinity
