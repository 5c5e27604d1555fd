// Whether a disk has room for what is to be written: asked before, since a store that meets a full
// disk is of no use until it is opened again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vicinity {

// Says no from the moment that less is free than should be, until there is a quarter more than
// that: so a disk near its limit is not written and refused in turn.
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

 private:
  const std::string folder_;
  const int64_t least_bytes_;
  const FreeBytes free_bytes_;
  bool is_full_ = false;
};

}  // namespace vicinity
