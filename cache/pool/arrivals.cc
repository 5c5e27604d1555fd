#include "cache/pool/arrivals.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/common/mutex.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// The longest single wait: longer ones overflow the clock in libstdc++.
constexpr std::chrono::nanoseconds kLongWait = std::chrono::hours(1);

int32_t MissingSlot(const PoolBatch& batch, int64_t i) { return batch.slots[batch.missing[i]]; }

}  // namespace

void Arrivals::Grow(int64_t num_slots) {
  MutexLock lock(&mu_);
  if (num_slots > static_cast<int64_t>(states_.size())) states_.resize(num_slots, State::kThere);
}

void Arrivals::Expect(PoolBatch* batch) {
  MutexLock lock(&mu_);
  for (size_t i = 0; i < batch->slots.size(); ++i) {
    const State state = states_[batch->slots[i]];
    // Own missing rows have the state that their slot's last row left.
    if (state == State::kFetching || state == State::kArriving) {
      batch->awaited.push_back(static_cast<int32_t>(i));
    }
  }
  for (const int32_t i : batch->missing) states_[batch->slots[i]] = State::kFetching;
}

absl::Status Arrivals::Begin(const PoolBatch& batch, int64_t first, int64_t num_rows) {
  MutexLock lock(&mu_);
  for (int64_t i = first; i < first + num_rows; ++i) {
    if (states_[MissingSlot(batch, i)] == State::kFetching) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("missing row ", i, " was delivered or abandoned before"));
  }
  for (int64_t i = first; i < first + num_rows; ++i) {
    states_[MissingSlot(batch, i)] = State::kArriving;
  }
  return absl::OkStatus();
}

void Arrivals::Finish(const PoolBatch& batch, int64_t first, int64_t num_rows, bool there) {
  {
    MutexLock lock(&mu_);
    for (int64_t i = first; i < first + num_rows; ++i) {
      states_[MissingSlot(batch, i)] = there ? State::kThere : State::kFetching;
    }
  }
  if (there) changed_.NotifyAll();
}

std::vector<int32_t> Arrivals::GiveUp(const PoolBatch& batch) {
  std::vector<int32_t> given_up;
  {
    MutexLock lock(&mu_);
    for (const int32_t i : batch.missing) {
      State& state = states_[batch.slots[i]];
      if (state != State::kFetching) continue;
      state = State::kGivenUp;
      given_up.push_back(i);
    }
  }
  changed_.NotifyAll();
  return given_up;
}

absl::StatusOr<int64_t> Arrivals::CountAbsent(const PoolBatch& batch) {
  int64_t num_absent = 0;
  for (const std::vector<int32_t>* rows : {&batch.missing, &batch.awaited}) {
    for (const int32_t i : *rows) {
      const State state = states_[batch.slots[i]];
      if (state == State::kGivenUp) {
        return absl::UnavailableError(absl::StrCat("row ", i, " was not fetched"));
      }
      if (state != State::kThere) ++num_absent;
    }
  }
  return num_absent;
}

absl::Status Arrivals::Wait(const PoolBatch& batch, std::chrono::nanoseconds timeout) {
  const auto start = std::chrono::steady_clock::now();
  MutexLock lock(&mu_);
  for (;;) {
    VICINITY_ASSIGN_OR_RETURN(const int64_t num_absent, CountAbsent(batch));
    if (num_absent == 0) return absl::OkStatus();
    const std::chrono::nanoseconds waited = std::chrono::steady_clock::now() - start;
    if (waited >= timeout) {
      return absl::DeadlineExceededError(absl::StrCat(
          num_absent, " of ", batch.slots.size(), " rows are still on their way after ",
          std::chrono::duration_cast<std::chrono::milliseconds>(waited).count(), " ms"));
    }
    changed_.WaitFor(&mu_, std::min(timeout - waited, kLongWait));
  }
}

absl::Status CheckDelivery(const PoolBatch& batch, int64_t first, int64_t num_bytes,
                           int64_t row_bytes) {
  const int64_t num_rows = num_bytes / row_bytes;
  const int64_t num_missing = static_cast<int64_t>(batch.missing.size());
  if (num_bytes % row_bytes == 0 && first >= 0 && first <= num_missing &&
      num_rows <= num_missing - first) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(num_bytes, " bytes of ", row_bytes,
                                                 "-byte rows from ", first, " on of ", num_missing,
                                                 " missing rows"));
}

}  // namespace vicinity
