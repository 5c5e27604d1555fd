#include "cache/device/row_mover.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int64_t kAlignment = 16;  // of rows behind a list

int64_t RoundUp(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Whether all are rows of num_rows. Without a branch, so that the compiler makes vectors of it: a
// row that is none leaves the sign bit in itself or in its distance from the last.
template <typename Index>
bool AreRows(absl::Span<const Index> rows, int64_t num_rows) {
  using Bits = std::make_unsigned_t<Index>;
  const auto last =
      static_cast<Bits>(std::min<int64_t>(num_rows - 1, std::numeric_limits<Index>::max()));
  Bits signs = 0;
  for (const Index row : rows) signs |= static_cast<Bits>(row) | (last - static_cast<Bits>(row));
  return static_cast<Index>(signs) >= 0;
}

template <typename Index>
absl::Status CheckRowList(absl::Span<const Index> rows, const RowPlaces& places) {
  if (AreRows(rows, places.num_rows)) return absl::OkStatus();
  const auto wrong = std::find_if(rows.begin(), rows.end(),
                                  [&](Index row) { return row < 0 || row >= places.num_rows; });
  return absl::InvalidArgumentError(absl::StrCat("row ", *wrong, " (the ", wrong - rows.begin(),
                                                 "-th) of ", places.num_rows, " rows"));
}

}  // namespace

absl::Status CheckRows(absl::Span<const int32_t> rows, const RowPlaces& places) {
  return CheckRowList(rows, places);
}
absl::Status CheckRows(absl::Span<const int64_t> rows, const RowPlaces& places) {
  return CheckRowList(rows, places);
}

absl::StatusOr<std::unique_ptr<RowMover>> RowMover::Create(Device* device,
                                                           const StagingRing::Options& options) {
  std::unique_ptr<RowMover> mover(new RowMover(device));
  VICINITY_ASSIGN_OR_RETURN(mover->ring_, StagingRing::Create(device, options));
  VICINITY_ASSIGN_OR_RETURN(mover->stream_, device->NewStream());
  return mover;
}

absl::Status RowMover::Gather(const RowPlaces& from, absl::Span<const int32_t> from_rows,
                              const RowPlaces& to, absl::Span<const int64_t> to_rows,
                              int64_t row_bytes) {
  if (from_rows.size() != to_rows.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(from_rows.size(), " rows to ", to_rows.size(), " places"));
  }
  VICINITY_RETURN_IF_ERROR(CheckRows(from_rows, from));
  VICINITY_RETURN_IF_ERROR(CheckRows(to_rows, to));
  const int64_t step = ring_->chunk_bytes() / static_cast<int64_t>(2 * sizeof(int32_t));
  const auto num_rows = static_cast<int64_t>(from_rows.size());
  for (int64_t first = 0; first < num_rows; first += step) {
    const int64_t n = std::min(step, num_rows - first);
    VICINITY_ASSIGN_OR_RETURN(StagingRing::Lease lease, ring_->Take());
    auto* const lists = reinterpret_cast<int32_t*>(lease.host());
    std::copy_n(from_rows.begin() + first, n, lists);
    std::copy_n(to_rows.begin() + first, n, lists + n);
    VICINITY_RETURN_IF_ERROR(
        lease.Send(2 * n * static_cast<int64_t>(sizeof(int32_t)), stream_.get()));
    CopyRows work;
    work.from = from;
    work.to = to;
    work.from_rows = reinterpret_cast<const int32_t*>(lease.device());
    work.to_rows = work.from_rows + n;
    work.num_rows = n;
    work.row_bytes = row_bytes;
    VICINITY_RETURN_IF_ERROR(stream_->Launch(KernelOf(work)));
    VICINITY_RETURN_IF_ERROR(lease.Done(stream_.get()));
  }
  return absl::OkStatus();
}

absl::Status RowMover::Send(int64_t row_bytes, const StageRows& stage, const RowPlaces& to,
                            absl::Span<const int32_t> to_rows) {
  VICINITY_RETURN_IF_ERROR(CheckRows(to_rows, to));
  const auto row_and_index = row_bytes + static_cast<int64_t>(sizeof(int32_t));
  const int64_t step = (ring_->chunk_bytes() - kAlignment) / row_and_index;
  if (step < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a row of ", row_bytes, " bytes does not go through chunks of ", ring_->chunk_bytes()));
  }
  const auto num_rows = static_cast<int64_t>(to_rows.size());
  for (int64_t first = 0; first < num_rows; first += step) {
    const int64_t n = std::min(step, num_rows - first);
    VICINITY_ASSIGN_OR_RETURN(StagingRing::Lease lease, ring_->Take());
    const int64_t list_bytes = RoundUp(n * static_cast<int64_t>(sizeof(int32_t)));
    std::memcpy(lease.host(), to_rows.data() + first, n * sizeof(int32_t));
    stage(first, n, lease.host() + list_bytes);
    VICINITY_RETURN_IF_ERROR(lease.Send(list_bytes + n * row_bytes, stream_.get()));
    CopyRows work;
    work.from = RowsAt(lease.device() + list_bytes, n, row_bytes);
    work.to = to;
    work.to_rows = reinterpret_cast<const int32_t*>(lease.device());
    work.num_rows = n;
    work.row_bytes = row_bytes;
    VICINITY_RETURN_IF_ERROR(stream_->Launch(KernelOf(work)));
    VICINITY_RETURN_IF_ERROR(lease.Done(stream_.get()));
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceMemory> RowMover::Place(MemoryKind kind, absl::Span<const char> bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  VICINITY_ASSIGN_OR_RETURN(DeviceMemory memory, device_->Allocate(kind, size));
  if (kind == MemoryKind::kPinned) {
    if (size > 0) std::memcpy(memory.data(), bytes.data(), size);
    return memory;
  }
  for (int64_t first = 0; first < size; first += ring_->chunk_bytes()) {
    const int64_t n = std::min(ring_->chunk_bytes(), size - first);
    VICINITY_ASSIGN_OR_RETURN(StagingRing::Lease lease, ring_->Take());
    std::memcpy(lease.host(), bytes.data() + first, n);
    VICINITY_RETURN_IF_ERROR(lease.Send(n, stream_.get()));
    VICINITY_RETURN_IF_ERROR(stream_->Copy(memory.data() + first, lease.device(), n));
    VICINITY_RETURN_IF_ERROR(lease.Done(stream_.get()));
  }
  return memory;
}

}  // namespace vicinity
