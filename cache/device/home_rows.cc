#include "cache/device/home_rows.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "proto/common/status.h"

namespace vicinity {

absl::StatusOr<std::unique_ptr<HomeRows>> HomeRows::Create(RowMover* mover, const HostRows& rows,
                                                           int64_t device_rows, FarRead far) {
  if (rows.num_rows > INT32_MAX || device_rows < 0) {
    return absl::InvalidArgumentError(absl::StrCat(rows.num_rows, " rows, ", device_rows,
                                                   " of them on the device; up to ", INT32_MAX));
  }
  std::unique_ptr<HomeRows> home(new HomeRows(mover, rows, far));
  const int64_t split = std::min(device_rows, rows.num_rows);
  const auto bytes_of = [&](int64_t first, int64_t n) {
    return absl::MakeConstSpan(rows.data + first * rows.row_bytes, n * rows.row_bytes);
  };
  // The pinned ones first: if there is no room for them, no copies to the others are on their way.
  if (far == FarRead::kDirect) {
    VICINITY_ASSIGN_OR_RETURN(
        home->far_, mover->Place(MemoryKind::kPinned, bytes_of(split, rows.num_rows - split)));
  }
  VICINITY_ASSIGN_OR_RETURN(home->near_, mover->Place(MemoryKind::kDevice, bytes_of(0, split)));
  home->places_ = RowsAt(home->near_.data(), rows.num_rows, rows.row_bytes);
  home->places_.far = home->far_.data();
  home->places_.split = split;
  return home;
}

absl::Status HomeRows::Gather(absl::Span<const int32_t> rows, const RowPlaces& to,
                              absl::Span<const int64_t> to_rows) const {
  if (far_read_ == FarRead::kDirect) return mover_->Gather(places_, rows, to, to_rows, row_bytes());
  return GatherStaged(rows, to, to_rows);
}

absl::Status HomeRows::GatherStaged(absl::Span<const int32_t> rows, const RowPlaces& to,
                                    absl::Span<const int64_t> to_rows) const {
  if (rows.size() != to_rows.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(rows.size(), " rows to ", to_rows.size(), " places"));
  }
  VICINITY_RETURN_IF_ERROR(CheckRows(rows, places_));
  VICINITY_RETURN_IF_ERROR(CheckRows(to_rows, to));
  std::vector<int32_t> near_rows, far_rows, far_to;
  std::vector<int64_t> near_to;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < places_.split) {
      near_rows.push_back(rows[i]);
      near_to.push_back(to_rows[i]);
    } else {
      far_rows.push_back(rows[i]);
      far_to.push_back(static_cast<int32_t>(to_rows[i]));
    }
  }
  const auto stage = [&](int64_t first, int64_t n, char* out) {
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(out + i * row_bytes(), rows_ + far_rows[first + i] * row_bytes(), row_bytes());
    }
  };
  VICINITY_RETURN_IF_ERROR(mover_->Send(row_bytes(), stage, to, far_to));
  return mover_->Gather(places_, near_rows, to, near_to, row_bytes());
}

}  // namespace vicinity
