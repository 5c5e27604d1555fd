#include "cache/device/device_pool.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "proto/common/mutex.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int64_t kFillBytes = int64_t{16} << 20;  // asked for at a time

absl::Status Validate(const DevicePool::Options& options) {
  if (options.row_bytes < 1) {
    return absl::InvalidArgumentError(absl::StrCat("rows of ", options.row_bytes, " bytes"));
  }
  if (options.staged_rows < 0 || options.staged_rows > LookAheadPlanner::kMaxRows) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.staged_rows, " staged rows; 0 to ", LookAheadPlanner::kMaxRows));
  }
  return absl::OkStatus();
}

std::vector<int64_t> InOrder(size_t n) {
  std::vector<int64_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return numbers;
}

}  // namespace

DevicePool::DevicePool(RowMover* mover, const Options& options,
                       std::unique_ptr<LookAheadPlanner> planner)
    : PlannedPool(std::move(planner)), mover_(mover), options_(options) {}

absl::StatusOr<std::unique_ptr<DevicePool>> DevicePool::Create(RowMover* mover,
                                                               const Options& options,
                                                               absl::Span<const int64_t> ranked,
                                                               const FillRows& fill) {
  VICINITY_RETURN_IF_ERROR(Validate(options));
  LookAheadPlanner::Options plan;
  plan.capacity_rows = options.capacity_rows;
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<LookAheadPlanner> planner,
                            LookAheadPlanner::Create(plan, ranked));
  std::unique_ptr<DevicePool> pool(new DevicePool(mover, options, std::move(planner)));
  const int64_t num_slots = options.capacity_rows + options.staged_rows;
  VICINITY_ASSIGN_OR_RETURN(
      pool->memory_, mover->device()->Allocate(MemoryKind::kDevice, num_slots * options.row_bytes));
  pool->slots_ = RowsAt(pool->memory_.data(), num_slots, options.row_bytes);
  pool->arrivals_.Grow(num_slots);
  const absl::Status filled =
      pool->Fill(ranked.first(std::min<size_t>(options.capacity_rows, ranked.size())), fill);
  if (filled.ok()) return pool;
  // What is on its way must be there before its place goes.
  FinishOnHost(mover->device(), mover->stream(), StagingRing::Options().timeout).IgnoreError();
  return filled;
}

absl::Status DevicePool::Fill(absl::Span<const int64_t> ids, const FillRows& fill) {
  const auto num_rows = static_cast<int64_t>(ids.size());
  const int64_t step = std::min(num_rows, std::max<int64_t>(1, kFillBytes / options_.row_bytes));
  std::vector<char> rows(step * options_.row_bytes);
  for (int64_t first = 0; first < num_rows; first += step) {
    const absl::Span<const int64_t> some = ids.subspan(first, step);
    VICINITY_RETURN_IF_ERROR(fill(some, rows.data()));
    PoolBatch batch;  // as if it had asked for them
    batch.slots.resize(some.size());
    std::iota(batch.slots.begin(), batch.slots.end(), static_cast<int32_t>(first));
    batch.missing.resize(some.size());
    std::iota(batch.missing.begin(), batch.missing.end(), 0);
    VICINITY_RETURN_IF_ERROR(
        SendRows(batch, 0, absl::MakeConstSpan(rows).first(some.size() * options_.row_bytes)));
  }
  return absl::OkStatus();
}

absl::StatusOr<PoolBatch> DevicePool::Admit(absl::Span<const int64_t> ids) {
  PoolBatch batch;
  MutexLock lock(&mu_);
  VICINITY_RETURN_IF_ERROR(CheckRoom(static_cast<int64_t>(ids.size())));
  VICINITY_RETURN_IF_ERROR(Plan(ids, &batch));
  return batch;
}

// As if none of the rows was there, so that nothing can fail half-way. What is not pinned makes
// room.
absl::Status DevicePool::CheckRoom(int64_t num_rows) const {
  const int64_t pinned = std::min(planner_->held_rows(), planner_->uses_in_flight());
  if (pinned + num_rows <= slots_.num_rows) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("no room for ", num_rows, " more rows beside ", pinned,
                   " of batches in flight: the device has ", slots_.num_rows, " places, ",
                   options_.staged_rows, " of them over the capacity"));
}

absl::Status DevicePool::Deliver(const PoolBatch& batch, int64_t first,
                                 absl::Span<const char> rows) {
  const auto num_bytes = static_cast<int64_t>(rows.size());
  VICINITY_RETURN_IF_ERROR(CheckDelivery(batch, first, num_bytes, options_.row_bytes));
  const int64_t num_rows = num_bytes / options_.row_bytes;
  VICINITY_RETURN_IF_ERROR(arrivals_.Begin(batch, first, num_rows));
  const absl::Status sent = SendRows(batch, first, rows);
  arrivals_.Finish(batch, first, num_rows, /*there=*/sent.ok());
  return sent;
}

absl::Status DevicePool::SendRows(const PoolBatch& batch, int64_t first,
                                  absl::Span<const char> rows) {
  std::vector<int32_t> slots(rows.size() / options_.row_bytes);
  for (size_t i = 0; i < slots.size(); ++i) slots[i] = batch.slots[batch.missing[first + i]];
  const auto stage = [&](int64_t row, int64_t n, char* out) {
    std::memcpy(out, rows.data() + row * options_.row_bytes, n * options_.row_bytes);
  };
  return mover_->Send(options_.row_bytes, stage, slots_, slots);
}

absl::Status DevicePool::AssembleOnDevice(const PoolBatch& batch,
                                          absl::Span<const int64_t> positions,
                                          std::chrono::nanoseconds timeout, const RowPlaces& to) {
  if (positions.size() != batch.slots.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(positions.size(), " positions for ", batch.slots.size(), " rows"));
  }
  VICINITY_RETURN_IF_ERROR(arrivals_.Wait(batch, timeout));
  return mover_->Gather(slots_, batch.slots, to, positions, options_.row_bytes);
}

absl::Status DevicePool::Assemble(const PoolBatch& batch, absl::Span<const int64_t> positions,
                                  std::chrono::nanoseconds timeout, char* out) {
  const auto num_rows = static_cast<int64_t>(batch.slots.size());
  const int64_t num_bytes = num_rows * options_.row_bytes;
  Device* const device = mover_->device();
  if (positions.size() != batch.slots.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(positions.size(), " positions for ", num_rows, " rows"));
  }
  VICINITY_RETURN_IF_ERROR(arrivals_.Wait(batch, timeout));
  VICINITY_ASSIGN_OR_RETURN(const DeviceMemory there,
                            device->Allocate(MemoryKind::kDevice, num_bytes));
  VICINITY_ASSIGN_OR_RETURN(const DeviceMemory here,
                            device->Allocate(MemoryKind::kPinned, num_bytes));
  VICINITY_RETURN_IF_ERROR(mover_->Gather(slots_, batch.slots,
                                          RowsAt(there.data(), num_rows, options_.row_bytes),
                                          InOrder(num_rows), options_.row_bytes));
  VICINITY_RETURN_IF_ERROR(mover_->stream()->Copy(here.data(), there.data(), num_bytes));
  // The time to fetch rows is the caller's; the device has its own, as in the ring.
  VICINITY_RETURN_IF_ERROR(
      FinishOnHost(device, mover_->stream(),
                   std::max<std::chrono::nanoseconds>(timeout, StagingRing::Options().timeout)));
  for (int64_t i = 0; i < num_rows; ++i) {
    std::memcpy(out + positions[i] * options_.row_bytes, here.data() + i * options_.row_bytes,
                options_.row_bytes);
  }
  return absl::OkStatus();
}

}  // namespace vicinity
