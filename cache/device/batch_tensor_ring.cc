#include "cache/device/batch_tensor_ring.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/common/mutex.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// The longest single wait: longer ones overflow the clock in libstdc++.
constexpr std::chrono::nanoseconds kLongWait = std::chrono::hours(1);
// How long a device may still read the tensors of a ring that goes.
constexpr std::chrono::nanoseconds kLongestRead = std::chrono::seconds(60);
// How soon it is seen that a reader is through: a device cannot wake a thread.
constexpr std::chrono::microseconds kNap(100);
constexpr int64_t kMostBytes = int64_t{1} << 50;  // no sum overflows

}  // namespace

BatchTensor::~BatchTensor() { ring_->GiveBack(index_); }

Device* BatchTensor::device() const { return ring_->device(); }

absl::Status BatchTensor::Finish(DeviceStream* producer) {
  return producer->Record(ring_->slots_[index_].full.get());
}

absl::Status BatchTensor::WaitOn(DeviceStream* consumer) {
  return consumer->WaitFor(*ring_->slots_[index_].full);
}

absl::Status BatchTensor::Done(DeviceStream* consumer) {
  BatchTensorRing::Slot& slot = ring_->slots_[index_];
  if (slot.num_readers == slot.done.size()) {
    VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<DeviceEvent> event, ring_->device_->NewEvent());
    slot.done.push_back(std::move(event));
  }
  return consumer->Record(slot.done[slot.num_readers++].get());
}

absl::Status BatchTensor::WaitOnHost(std::chrono::nanoseconds timeout) {
  return ring_->slots_[index_].full->WaitOnHost(timeout);
}

absl::StatusOr<std::unique_ptr<BatchTensorRing>> BatchTensorRing::Create(Device* device,
                                                                         int32_t num_tensors,
                                                                         int64_t tensor_bytes) {
  if (num_tensors < 1 || tensor_bytes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(num_tensors, " tensors of ", tensor_bytes, " bytes"));
  }
  std::unique_ptr<BatchTensorRing> ring(new BatchTensorRing(device));
  for (int32_t i = 0; i < num_tensors; ++i) {
    Slot slot;
    VICINITY_ASSIGN_OR_RETURN(slot.memory, device->Allocate(MemoryKind::kDevice, tensor_bytes));
    VICINITY_ASSIGN_OR_RETURN(slot.full, device->NewEvent());
    ring->bytes_ += slot.memory.bytes();
    ring->slots_.push_back(std::move(slot));
    ring->GiveBack(i);
  }
  return ring;
}

BatchTensorRing::~BatchTensorRing() {
  const auto start = std::chrono::steady_clock::now();
  for (const Slot& slot : slots_) {
    // An error is one that the trainer met, or nobody needs to know.
    WaitForSlot(slot, kLongestRead - (std::chrono::steady_clock::now() - start)).IgnoreError();
  }
}

absl::StatusOr<std::unique_ptr<BatchTensor>> BatchTensorRing::Take(
    int64_t num_rows, int64_t row_bytes, DeviceStream* producer, std::chrono::nanoseconds timeout) {
  if (num_rows < 0 || row_bytes < 0 || num_rows > kMostBytes / std::max<int64_t>(1, row_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor of ", num_rows, " rows of ", row_bytes, " bytes"));
  }
  const auto start = std::chrono::steady_clock::now();
  VICINITY_ASSIGN_OR_RETURN(const int32_t index, TakeFree(timeout));
  Slot& slot = slots_[index];
  const int64_t bytes = num_rows * row_bytes;
  absl::Status grown;
  if (slot.memory.bytes() < bytes) {
    grown = Grow(&slot, bytes, timeout - (std::chrono::steady_clock::now() - start));
  }
  std::unique_ptr<BatchTensor> tensor(
      new BatchTensor(this, index, RowsAt(slot.memory.data(), num_rows, row_bytes)));
  VICINITY_RETURN_IF_ERROR(grown);
  VICINITY_RETURN_IF_ERROR(producer->WaitFor(*slot.full));
  for (size_t i = 0; i < slot.num_readers; ++i) {
    VICINITY_RETURN_IF_ERROR(producer->WaitFor(*slot.done[i]));
  }
  slot.num_readers = 0;
  return tensor;
}

absl::Status BatchTensorRing::WaitForSlot(const Slot& slot, std::chrono::nanoseconds timeout) {
  const auto start = std::chrono::steady_clock::now();
  VICINITY_RETURN_IF_ERROR(slot.full->WaitOnHost(timeout));
  for (size_t i = 0; i < slot.num_readers; ++i) {
    const auto waited = std::chrono::steady_clock::now() - start;
    VICINITY_RETURN_IF_ERROR(slot.done[i]->WaitOnHost(timeout - waited));
  }
  return absl::OkStatus();
}

// The old memory goes first, so that the two need not fit beside each other.
absl::Status BatchTensorRing::Grow(Slot* slot, int64_t bytes, std::chrono::nanoseconds timeout) {
  VICINITY_RETURN_IF_ERROR(
      At("the last readers of a tensor that has to grow", WaitForSlot(*slot, timeout)));
  bytes_ -= slot->memory.bytes();
  slot->memory = DeviceMemory();
  absl::StatusOr<DeviceMemory> larger = device_->Allocate(MemoryKind::kDevice, bytes + bytes / 4);
  if (!larger.ok()) return At(absl::StrCat("a batch tensor of ", bytes, " bytes"), larger.status());
  slot->memory = *std::move(larger);
  bytes_ += slot->memory.bytes();
  return absl::OkStatus();
}

bool BatchTensorRing::WaitForFree(std::chrono::nanoseconds timeout) {
  const auto start = std::chrono::steady_clock::now();
  MutexLock lock(&mu_);
  while (free_.empty()) {
    const std::chrono::nanoseconds left = timeout - (std::chrono::steady_clock::now() - start);
    if (left.count() <= 0) return false;
    given_back_.WaitFor(&mu_, std::min(left, kLongWait));
  }
  return true;
}

bool BatchTensorRing::NextIsIdle() {
  MutexLock lock(&mu_);
  if (free_.empty()) return false;
  const Slot& slot = slots_[free_.front()];
  for (size_t i = 0; i < slot.num_readers; ++i) {
    const absl::StatusOr<bool> reached = slot.done[i]->Reached();
    if (reached.ok() && !*reached) return false;  // an error is for Take to meet
  }
  return true;
}

bool BatchTensorRing::WaitForIdle(std::chrono::nanoseconds timeout) {
  const auto start = std::chrono::steady_clock::now();
  std::chrono::nanoseconds left = timeout;
  while (WaitForFree(left)) {
    if (NextIsIdle()) return true;
    left = timeout - (std::chrono::steady_clock::now() - start);
    if (left.count() <= 0) return false;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, kNap));
  }
  return false;
}

absl::StatusOr<int32_t> BatchTensorRing::TakeFree(std::chrono::nanoseconds timeout) {
  const auto start = std::chrono::steady_clock::now();
  while (WaitForFree(timeout - (std::chrono::steady_clock::now() - start))) {
    MutexLock lock(&mu_);
    if (free_.empty()) continue;  // another was quicker
    const int32_t index = free_.front();
    free_.pop_front();
    return index;
  }
  return absl::DeadlineExceededError(
      absl::StrCat("the trainer still has all ", slots_.size(), " batch tensors"));
}

void BatchTensorRing::GiveBack(int32_t index) {
  {
    MutexLock lock(&mu_);
    free_.push_back(index);
  }
  given_back_.NotifyAll();
}

}  // namespace vicinity
