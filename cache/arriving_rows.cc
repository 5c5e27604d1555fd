#include "cache/arriving_rows.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "proto/common/mutex.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// The longest single wait: longer ones overflow the clock in libstdc++.
constexpr std::chrono::nanoseconds kLongWait = std::chrono::hours(1);

}  // namespace

bool ArrivingRows::Grow(int64_t num_slots) {
  if (!slab_.Grow(num_slots)) return false;
  MutexLock lock(&mu_);
  if (num_slots > static_cast<int64_t>(states_.size())) states_.resize(num_slots, State::kThere);
  return true;
}

void ArrivingRows::Expect(PoolBatch* batch) {
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

absl::Status ArrivingRows::Deliver(const PoolBatch& batch, int64_t first,
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
      if (states_[slot_of(i)] == State::kFetching) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("missing row ", first + i, " was delivered or abandoned before"));
    }
    for (int64_t i = 0; i < num_rows; ++i) states_[slot_of(i)] = State::kArriving;
  }
  // Outside the lock: until a row is there nobody else looks at its bytes.
  for (int64_t i = 0; i < num_rows; ++i) {
    std::memcpy(Row(slot_of(i)), rows.data() + i * row_bytes_, row_bytes_);
  }
  {
    MutexLock lock(&mu_);
    for (int64_t i = 0; i < num_rows; ++i) states_[slot_of(i)] = State::kThere;
  }
  changed_.NotifyAll();
  return absl::OkStatus();
}

std::vector<int32_t> ArrivingRows::GiveUp(const PoolBatch& batch) {
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

absl::StatusOr<int64_t> ArrivingRows::CountAbsent(const PoolBatch& batch) {
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

absl::Status ArrivingRows::Wait(const PoolBatch& batch, std::chrono::nanoseconds timeout) {
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

}  // namespace vicinity
