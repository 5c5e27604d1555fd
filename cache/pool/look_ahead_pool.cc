#include "cache/pool/look_ahead_pool.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
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
constexpr size_t kRowsAhead = 8;

}  // namespace

LookAheadPool::LookAheadPool(int64_t row_bytes, std::unique_ptr<LookAheadPlanner> planner)
    : PlannedPool(std::move(planner)), row_bytes_(row_bytes), slab_(row_bytes) {}

absl::StatusOr<std::unique_ptr<LookAheadPool>> LookAheadPool::Create(
    int64_t row_bytes, int64_t capacity_rows, absl::Span<const int64_t> ranked,
    const FillRows& fill) {
  if (row_bytes < 1) {
    return absl::InvalidArgumentError(absl::StrCat("rows of ", row_bytes, " bytes"));
  }
  LookAheadPlanner::Options options;
  options.capacity_rows = capacity_rows;
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<LookAheadPlanner> planner,
                            LookAheadPlanner::Create(options, ranked));
  std::unique_ptr<LookAheadPool> pool(new LookAheadPool(row_bytes, std::move(planner)));
  VICINITY_RETURN_IF_ERROR(
      pool->Fill(ranked.first(std::min<size_t>(capacity_rows, ranked.size())), fill));
  return pool;
}

bool LookAheadPool::Grow(int64_t num_slots) {
  if (!slab_.Grow(num_slots)) return false;
  arrivals_.Grow(num_slots);
  return true;
}

absl::Status LookAheadPool::Fill(absl::Span<const int64_t> ids, const FillRows& fill) {
  const int64_t num_rows = static_cast<int64_t>(ids.size());
  if (!Grow(num_rows)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", num_rows, " rows of ", row_bytes_, " bytes"));
  }
  const int64_t step = std::min(num_rows, std::max<int64_t>(1, kFillBytes / row_bytes_));
  std::vector<char> chunk(step * row_bytes_);
  for (int64_t first = 0; first < num_rows; first += step) {
    const absl::Span<const int64_t> some = ids.subspan(first, step);
    VICINITY_RETURN_IF_ERROR(fill(some, chunk.data()));
    for (size_t i = 0; i < some.size(); ++i) {
      std::memcpy(slab_.Row(static_cast<int32_t>(first + i)), chunk.data() + i * row_bytes_,
                  row_bytes_);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PoolBatch> LookAheadPool::Admit(absl::Span<const int64_t> ids) {
  PoolBatch batch;
  MutexLock lock(&mu_);
  // Room for all of them as if none was held, so that nothing can fail half-way.
  const int64_t num_rows = static_cast<int64_t>(ids.size());
  if (!Grow(std::max(planner_->num_slots(), planner_->held_rows() + num_rows))) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for ", num_rows, " more rows of ",
                                                     row_bytes_, " bytes beside ",
                                                     planner_->held_rows()));
  }
  VICINITY_RETURN_IF_ERROR(Plan(ids, &batch));
  return batch;
}

absl::Status LookAheadPool::Deliver(const PoolBatch& batch, int64_t first,
                                    absl::Span<const char> rows) {
  VICINITY_RETURN_IF_ERROR(
      CheckDelivery(batch, first, static_cast<int64_t>(rows.size()), row_bytes_));
  const int64_t num_rows = static_cast<int64_t>(rows.size()) / row_bytes_;
  VICINITY_RETURN_IF_ERROR(arrivals_.Begin(batch, first, num_rows));
  // Outside any lock: until a row is there nobody else looks at its bytes.
  for (int64_t i = 0; i < num_rows; ++i) {
    std::memcpy(slab_.Row(batch.slots[batch.missing[first + i]]), rows.data() + i * row_bytes_,
                row_bytes_);
  }
  arrivals_.Finish(batch, first, num_rows, /*there=*/true);
  return absl::OkStatus();
}

absl::Status LookAheadPool::Assemble(const PoolBatch& batch, absl::Span<const int64_t> positions,
                                     std::chrono::nanoseconds timeout, char* out) {
  const size_t num_rows = batch.slots.size();
  if (positions.size() != num_rows) {
    return absl::InvalidArgumentError(
        absl::StrCat(positions.size(), " positions for ", num_rows, " rows"));
  }
  VICINITY_RETURN_IF_ERROR(arrivals_.Wait(batch, timeout));
  for (size_t i = 0; i < num_rows; ++i) {
    if (i + kRowsAhead < num_rows) __builtin_prefetch(slab_.Row(batch.slots[i + kRowsAhead]));
    std::memcpy(out + positions[i] * row_bytes_, slab_.Row(batch.slots[i]), row_bytes_);
  }
  return absl::OkStatus();
}

}  // namespace vicinity
