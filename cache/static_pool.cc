#include "cache/static_pool.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cache/row_pool.h"
#include "proto/common/mutex.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int64_t kFillBytes = int64_t{16} << 20;  // asked for at a time
constexpr int64_t kMaxSlots = std::numeric_limits<int32_t>::max();
constexpr size_t kRowsAhead = 8;

// The longest single wait: longer ones overflow the clock in libstdc++.
constexpr std::chrono::nanoseconds kLongWait = std::chrono::hours(1);

}  // namespace

StaticPool::StaticPool(int64_t row_bytes, int32_t capacity, std::unique_ptr<char[]> core_rows)
    : row_bytes_(row_bytes),
      capacity_(capacity),
      core_rows_(std::move(core_rows)),
      slab_(row_bytes) {
  stats_.capacity_rows = capacity;
}

absl::StatusOr<std::unique_ptr<StaticPool>> StaticPool::Create(int64_t row_bytes,
                                                               absl::Span<const int64_t> ids,
                                                               const FillRows& fill) {
  if (row_bytes < 1)
    return absl::InvalidArgumentError(absl::StrCat("rows of ", row_bytes, " bytes"));
  const int64_t num_rows = static_cast<int64_t>(ids.size());
  if (num_rows > kMaxSlots) {
    return absl::InvalidArgumentError(absl::StrCat(num_rows, " rows; a pool holds ", kMaxSlots));
  }
  // Not make_unique: fill writes every byte, so none need be zero first.
  std::unique_ptr<char[]> rows(new (std::nothrow) char[num_rows * row_bytes]);
  if (rows == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", num_rows, " rows of ", row_bytes, " bytes"));
  }
  char* const out = rows.get();
  std::unique_ptr<StaticPool> pool(
      new StaticPool(row_bytes, static_cast<int32_t>(num_rows), std::move(rows)));
  VICINITY_RETURN_IF_ERROR(pool->IndexCore(ids));
  const int64_t step = std::max<int64_t>(1, kFillBytes / row_bytes);
  for (int64_t first = 0; first < num_rows; first += step) {
    VICINITY_RETURN_IF_ERROR(fill(ids.subspan(first, step), out + first * row_bytes));
  }
  return pool;
}

absl::Status StaticPool::IndexCore(absl::Span<const int64_t> ids) {
  core_.reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0) return absl::InvalidArgumentError(absl::StrCat("node ", ids[i]));
    if (!core_.emplace(ids[i], static_cast<int32_t>(i)).second) {
      return absl::InvalidArgumentError(absl::StrCat("node ", ids[i], " is given twice"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PoolBatch> StaticPool::Admit(absl::Span<const int64_t> ids) {
  PoolBatch batch;
  batch.slots.resize(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0) return absl::InvalidArgumentError(absl::StrCat("node ", ids[i]));
    const auto found = core_.find(ids[i]);
    batch.slots[i] = found == core_.end() ? -1 : found->second;
  }
  VICINITY_RETURN_IF_ERROR(Stage(ids, &batch));
  return batch;
}

// Gives slots to the rows that have none yet.
absl::Status StaticPool::Stage(absl::Span<const int64_t> ids, PoolBatch* batch) {
  const int64_t num_outside = std::count(batch->slots.begin(), batch->slots.end(), -1);
  MutexLock lock(&mu_);
  // Room for all of them as if none was staged, so that nothing can fail half-way.
  const int64_t num_new = std::max<int64_t>(0, num_outside - static_cast<int64_t>(free_.size()));
  const int64_t num_staged = static_cast<int64_t>(staged_.size()) + num_new;
  if (capacity_ + num_staged > kMaxSlots || !slab_.Grow(num_staged)) {
    return absl::ResourceExhaustedError(absl::StrCat("no room for ", num_outside, " more rows of ",
                                                     row_bytes_, " bytes beside ", staged_.size()));
  }
  const int64_t admission = num_admissions_++;
  for (size_t i = 0; num_outside > 0 && i < ids.size(); ++i) {
    if (batch->slots[i] >= 0) continue;
    auto found = staged_slots_.find(ids[i]);
    if (found == staged_slots_.end()) {
      found = staged_slots_.emplace(ids[i], TakeSlot(ids[i])).first;
      staged(found->second).admission = admission;
      batch->missing.push_back(static_cast<int32_t>(i));
    } else if (staged(found->second).admission != admission &&
               staged(found->second).state != State::kReady) {
      batch->awaited.push_back(static_cast<int32_t>(i));
    }
    batch->slots[i] = found->second;
    ++staged(found->second).pins;
  }
  stats_.lookups += ids.size();
  stats_.fetched += batch->missing.size();
  stats_.hits += ids.size() - batch->missing.size();
  stats_.staged_rows = std::max<int64_t>(stats_.staged_rows, staged_.size() - free_.size());
  return absl::OkStatus();
}

int32_t StaticPool::TakeSlot(int64_t id) {
  if (free_.empty()) {
    free_.push_back(capacity_ + static_cast<int32_t>(staged_.size()));
    staged_.emplace_back();
  }
  const int32_t slot = free_.back();
  free_.pop_back();
  staged(slot).id = id;
  staged(slot).pins = 0;
  staged(slot).state = State::kFetching;
  return slot;
}

absl::Status StaticPool::Deliver(const PoolBatch& batch, int64_t first,
                                 absl::Span<const char> rows) {
  const int64_t num_rows = static_cast<int64_t>(rows.size()) / row_bytes_;
  const int64_t num_missing = static_cast<int64_t>(batch.missing.size());
  if (static_cast<int64_t>(rows.size()) % row_bytes_ != 0 || first < 0 || first > num_missing ||
      num_rows > num_missing - first) {
    return absl::InvalidArgumentError(absl::StrCat(rows.size(), " bytes of ", row_bytes_,
                                                   "-byte rows from ", first, " on of ",
                                                   num_missing, " missing rows"));
  }
  const auto slot_of = [&](int64_t i) { return batch.slots[batch.missing[first + i]]; };
  {
    MutexLock lock(&mu_);
    for (int64_t i = 0; i < num_rows; ++i) {
      const Staged& row = staged(slot_of(i));
      if (row.state == State::kFetching) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("the row of node ", row.id, " was delivered or abandoned before"));
    }
    for (int64_t i = 0; i < num_rows; ++i) staged(slot_of(i)).state = State::kArriving;
  }
  // Outside the lock: until a row is ready nobody else looks at its bytes.
  for (int64_t i = 0; i < num_rows; ++i) {
    std::memcpy(slab_.Row(slot_of(i) - capacity_), rows.data() + i * row_bytes_, row_bytes_);
  }
  {
    MutexLock lock(&mu_);
    for (int64_t i = 0; i < num_rows; ++i) staged(slot_of(i)).state = State::kReady;
  }
  changed_.NotifyAll();
  return absl::OkStatus();
}

void StaticPool::Abandon(const PoolBatch& batch) {
  {
    MutexLock lock(&mu_);
    AbandonLocked(batch);
  }
  changed_.NotifyAll();
}

void StaticPool::AbandonLocked(const PoolBatch& batch) {
  for (const int32_t i : batch.missing) {
    Staged& row = staged(batch.slots[i]);
    if (row.state != State::kFetching) continue;
    row.state = State::kAbandoned;
    // Whoever asks for the node from now on gets another slot and fetches it.
    staged_slots_.erase(row.id);
  }
}

absl::StatusOr<int64_t> StaticPool::CountAbsent(const PoolBatch& batch) {
  int64_t absent = 0;
  for (const std::vector<int32_t>* rows : {&batch.missing, &batch.awaited}) {
    for (const int32_t i : *rows) {
      const Staged& row = staged(batch.slots[i]);
      if (row.state == State::kAbandoned) {
        return absl::UnavailableError(absl::StrCat("the row of node ", row.id, " was not fetched"));
      }
      if (row.state != State::kReady) ++absent;
    }
  }
  return absent;
}

absl::Status StaticPool::WaitForRows(const PoolBatch& batch, std::chrono::nanoseconds timeout) {
  const auto start = std::chrono::steady_clock::now();
  MutexLock lock(&mu_);
  for (;;) {
    VICINITY_ASSIGN_OR_RETURN(const int64_t absent, CountAbsent(batch));
    if (absent == 0) return absl::OkStatus();
    const std::chrono::nanoseconds waited = std::chrono::steady_clock::now() - start;
    if (waited >= timeout) {
      return absl::DeadlineExceededError(absl::StrCat(
          absent, " of ", batch.slots.size(), " rows are still on their way after ",
          std::chrono::duration_cast<std::chrono::milliseconds>(waited).count(), " ms"));
    }
    changed_.WaitFor(&mu_, std::min(timeout - waited, kLongWait));
  }
}

absl::Status StaticPool::Assemble(const PoolBatch& batch, absl::Span<const int64_t> positions,
                                  std::chrono::nanoseconds timeout, char* out) {
  if (positions.size() != batch.slots.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(positions.size(), " positions for ", batch.slots.size(), " rows"));
  }
  VICINITY_RETURN_IF_ERROR(WaitForRows(batch, timeout));
  for (size_t i = 0; i < batch.slots.size(); ++i) {
    if (i + kRowsAhead < batch.slots.size()) __builtin_prefetch(Row(batch.slots[i + kRowsAhead]));
    std::memcpy(out + positions[i] * row_bytes_, Row(batch.slots[i]), row_bytes_);
  }
  return absl::OkStatus();
}

void StaticPool::Release(const PoolBatch& batch) {
  {
    MutexLock lock(&mu_);
    AbandonLocked(batch);
    for (const int32_t slot : batch.slots) {
      if (!IsStaged(slot)) continue;
      Staged& row = staged(slot);
      if (--row.pins > 0) continue;
      if (row.state != State::kAbandoned) staged_slots_.erase(row.id);
      row.state = State::kFree;
      free_.push_back(slot);
    }
  }
  changed_.NotifyAll();
}

PoolStats StaticPool::stats() const {
  MutexLock lock(&mu_);
  return stats_;
}

}  // namespace vicinity
