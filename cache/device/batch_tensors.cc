#include "cache/device/batch_tensors.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
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

}  // namespace

BatchTensor::~BatchTensor() { tensors_->GiveBack(index_); }

Device* BatchTensor::device() const { return tensors_->device(); }

absl::Status BatchTensor::Finish(DeviceStream* producer) {
  return producer->Record(tensors_->slots_[index_].full.get());
}

absl::Status BatchTensor::WaitOn(DeviceStream* consumer) {
  return consumer->WaitFor(*tensors_->slots_[index_].full);
}

absl::Status BatchTensor::Done(DeviceStream* consumer) {
  BatchTensors::Slot& slot = tensors_->slots_[index_];
  if (slot.num_readers == slot.done.size()) {
    VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<DeviceEvent> event, tensors_->device_->NewEvent());
    slot.done.push_back(std::move(event));
  }
  return consumer->Record(slot.done[slot.num_readers++].get());
}

absl::StatusOr<std::unique_ptr<BatchTensors>> BatchTensors::Create(Device* device,
                                                                   int32_t num_tensors,
                                                                   int64_t tensor_bytes) {
  if (num_tensors < 1 || tensor_bytes < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(num_tensors, " tensors of ", tensor_bytes, " bytes"));
  }
  std::unique_ptr<BatchTensors> tensors(new BatchTensors(device, tensor_bytes));
  for (int32_t i = 0; i < num_tensors; ++i) {
    Slot slot;
    VICINITY_ASSIGN_OR_RETURN(slot.memory, device->Allocate(MemoryKind::kDevice, tensor_bytes));
    VICINITY_ASSIGN_OR_RETURN(slot.full, device->NewEvent());
    tensors->slots_.push_back(std::move(slot));
    tensors->GiveBack(i);
  }
  return tensors;
}

absl::StatusOr<std::unique_ptr<BatchTensor>> BatchTensors::Take(int64_t num_rows, int64_t row_bytes,
                                                                DeviceStream* producer,
                                                                std::chrono::nanoseconds timeout) {
  if (num_rows < 0 || row_bytes < 1 || num_rows > tensor_bytes_ / row_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(num_rows, " rows of ", row_bytes, " bytes in a tensor of ", tensor_bytes_));
  }
  VICINITY_ASSIGN_OR_RETURN(const int32_t index, TakeFree(timeout));
  Slot& slot = slots_[index];
  std::unique_ptr<BatchTensor> tensor(
      new BatchTensor(this, index, RowsAt(slot.memory.data(), num_rows, row_bytes)));
  VICINITY_RETURN_IF_ERROR(producer->WaitFor(*slot.full));
  for (size_t i = 0; i < slot.num_readers; ++i) {
    VICINITY_RETURN_IF_ERROR(producer->WaitFor(*slot.done[i]));
  }
  slot.num_readers = 0;
  return tensor;
}

absl::StatusOr<int32_t> BatchTensors::TakeFree(std::chrono::nanoseconds timeout) {
  const auto start = std::chrono::steady_clock::now();
  MutexLock lock(&mu_);
  while (free_.empty()) {
    const std::chrono::nanoseconds left = timeout - (std::chrono::steady_clock::now() - start);
    if (left.count() <= 0) {
      return absl::DeadlineExceededError(
          absl::StrCat("the trainer still has all ", slots_.size(), " batch tensors"));
    }
    given_back_.WaitFor(&mu_, std::min(left, kLongWait));
  }
  const int32_t index = free_.front();
  free_.pop_front();
  return index;
}

void BatchTensors::GiveBack(int32_t index) {
  {
    MutexLock lock(&mu_);
    free_.push_back(index);
  }
  given_back_.NotifyOne();
}

}  // namespace vicinity
