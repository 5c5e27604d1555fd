#include "partition/overlay/disk_room.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"

namespace vicinity {

absl::StatusOr<int64_t> FreeBytesOf(const std::string& folder) {
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (!error) return static_cast<int64_t>(space.available);
  return absl::UnavailableError(absl::StrCat(folder, ": ", error.message()));
}

DiskRoom::DiskRoom(std::string folder, int64_t least_bytes, FreeBytes free_bytes)
    : folder_(std::move(folder)),
      limit_(least_bytes),
      free_bytes_(free_bytes ? std::move(free_bytes) : [this] { return FreeBytesOf(folder_); }) {}

absl::Status DiskRoom::Check(int64_t bytes) {
  if (limit_.least_bytes() <= 0) return absl::OkStatus();
  VICINITY_ASSIGN_OR_RETURN(const int64_t free, free_bytes_());
  if (!limit_.IsBelow(free - bytes)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      folder_, ": ", HumanBytes(free), " are free on the disk, ", HumanBytes(limit_.least_bytes()),
      " should stay so: nothing is written until there are ", HumanBytes(limit_.enough_bytes())));
}

absl::Status DiskRoom::CheckFits(int64_t bytes) const {
  VICINITY_ASSIGN_OR_RETURN(const int64_t free, free_bytes_());
  if (free >= bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(folder_, ": the disk was full while changes were written, and ",
                   HumanBytes(std::max<int64_t>(free, 0)),
                   " are free: nothing is written until there are ", HumanBytes(bytes)));
}

}  // namespace vicinity
