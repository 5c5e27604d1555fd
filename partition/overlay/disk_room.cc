#include "partition/overlay/disk_room.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"

namespace vicinity {

DiskRoom::DiskRoom(std::string folder, int64_t least_bytes, FreeBytes free_bytes)
    : folder_(std::move(folder)),
      least_bytes_(least_bytes),
      free_bytes_(free_bytes ? std::move(free_bytes) : [this]() -> absl::StatusOr<int64_t> {
        std::error_code error;
        const auto space = std::filesystem::space(folder_, error);
        if (!error) return static_cast<int64_t>(space.available);
        return absl::UnavailableError(absl::StrCat(folder_, ": ", error.message()));
      }) {}

absl::Status DiskRoom::Check(int64_t bytes) {
  if (least_bytes_ <= 0) return absl::OkStatus();
  VICINITY_ASSIGN_OR_RETURN(const int64_t free, free_bytes_());
  is_full_ = free - bytes < (is_full_ ? least_bytes_ + least_bytes_ / 4 : least_bytes_);
  if (!is_full_) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(folder_, ": ", HumanBytes(free), " are free on the disk, ",
                   HumanBytes(least_bytes_), " should stay so: nothing is written until there are ",
                   HumanBytes(least_bytes_ + least_bytes_ / 4)));
}

}  // namespace vicinity
