#include "partition/overlay/high_water.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/overlay/failpoint.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr off_t kSlotBytes = 4096;  // no two share what a disk writes at once

struct Slot {
  uint64_t turn;
  uint64_t version;
  uint64_t checksum;  // of both

  uint64_t Sum() const {
    return Checksum({reinterpret_cast<const char*>(this), sizeof(turn) + sizeof(version)});
  }
};
static_assert(sizeof(Slot) == 24);

}  // namespace

absl::StatusOr<std::unique_ptr<HighWater>> HighWater::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return ErrnoStatus(errno, path, "open");
  std::unique_ptr<HighWater> mark(new HighWater(path, fd));
  const off_t size = lseek(fd, 0, SEEK_END);
  if (size < 0) return ErrnoStatus(errno, path, "lseek");
  if (size == 0) {
    VICINITY_RETURN_IF_ERROR(mark->Write(0, 0));
    Pass(Failpoint::kMarkHalfMade);
    VICINITY_RETURN_IF_ERROR(mark->Write(1, 0));
    Pass(Failpoint::kMarkFilled);
    if (fsync(fd) != 0) return ErrnoStatus(errno, path, "fsync");
  }
  VICINITY_RETURN_IF_ERROR(mark->Read());
  return mark;
}

HighWater::~HighWater() { close(fd_); }

absl::Status HighWater::Read() {
  bool any = false;
  for (off_t at = 0; at < 2; ++at) {
    Slot slot{};
    const ssize_t size = pread(fd_, &slot, sizeof(slot), at * kSlotBytes);
    if (size < 0) return ErrnoStatus(errno, path_, "read");
    if (size != sizeof(slot) || slot.Sum() != slot.checksum) continue;
    if (any && slot.turn < turn_) continue;
    any = true;
    turn_ = slot.turn;
    version_ = slot.version;
  }
  if (any) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      path_,
      ": neither of its two slots is whole, so that nobody can tell whether the change log "
      "has lost its end; rebuild the shard from a replica or restore a backup"));
}

absl::Status HighWater::Made() {
  if (was_made()) return absl::OkStatus();
  VICINITY_RETURN_IF_ERROR(Write(turn_ + 1, version_));
  ++turn_;
  return fsync(fd_) == 0 ? absl::OkStatus() : ErrnoStatus(errno, path_, "fsync");
}

absl::Status HighWater::Raise(uint64_t version) {
  if (version <= version_) return absl::OkStatus();
  Pass(Failpoint::kMarkRising);
  VICINITY_RETURN_IF_ERROR(Write(turn_ + 1, version));
  Pass(Failpoint::kMarkRaised);
  ++turn_;
  version_ = version;
  return absl::OkStatus();
}

absl::Status HighWater::Write(uint64_t turn, uint64_t version) {
  Slot slot = {turn, version, 0};
  slot.checksum = slot.Sum();
  std::array<char, kSlotBytes> block{};
  std::memcpy(block.data(), &slot, sizeof(slot));
  const auto at = static_cast<off_t>(turn % 2) * kSlotBytes;
  if (pwrite(fd_, block.data(), block.size(), at) != kSlotBytes) {
    return ErrnoStatus(errno, path_, "write");
  }
  return absl::OkStatus();
}

}  // namespace vicinity
