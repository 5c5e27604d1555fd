// Tensors in device memory for batches on their way to the trainer, used in turn.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/copy_rows.h"
#include "cache/device/device.h"
#include "proto/common/mutex.h"

namespace vicinity {

class BatchTensors;

// One of them, from when it is taken until it is destroyed. Its way: rows are put into it by work
// of one stream, which then is told to Finish; each stream that reads it waits for that, and is
// told to be Done. Nobody waits on the host.
//
// Threads:  one at a time. Lifetime: the tensors it is of outlive it.
class BatchTensor {
 public:
  ~BatchTensor();
  BatchTensor(const BatchTensor&) = delete;
  BatchTensor& operator=(const BatchTensor&) = delete;

  char* data() const { return rows_.near; }  // 256-byte aligned
  const RowPlaces& rows() const { return rows_; }
  int64_t num_rows() const { return rows_.num_rows; }
  int64_t row_bytes() const { return rows_.stride; }

  // What `producer` got so far fills the tensor.
  absl::Status Finish(DeviceStream* producer);
  // What `consumer` gets from now on finds it full.
  absl::Status WaitOn(DeviceStream* consumer);
  // What `consumer` got so far is the last there of what reads it. Without it, the tensor is used
  // again as soon as it is full.
  absl::Status Done(DeviceStream* consumer);

  Device* device() const;

 private:
  friend class BatchTensors;
  BatchTensor(BatchTensors* tensors, int32_t index, const RowPlaces& rows)
      : tensors_(tensors), index_(index), rows_(rows) {}

  BatchTensors* const tensors_;
  const int32_t index_;
  const RowPlaces rows_;
};

// Threads:  any number. Lifetime: the device outlives it.
// Memory:   num_tensors * tensor_bytes, taken once: what bounds how far ahead batches are
// assembled.
class BatchTensors {
 public:
  // One in training and the next are 2. InvalidArgument: none, or of no bytes; ResourceExhausted:
  // no device memory.
  static absl::StatusOr<std::unique_ptr<BatchTensors>> Create(Device* device, int32_t num_tensors,
                                                              int64_t tensor_bytes);

  // For num_rows rows; what `producer` gets from now on comes after the last readers of the memory.
  // Waits until one of the tensors is destroyed, which a trainer has to do for another batch:
  // DeadlineExceeded after `timeout`. InvalidArgument if rows do not fit.
  absl::StatusOr<std::unique_ptr<BatchTensor>> Take(int64_t num_rows, int64_t row_bytes,
                                                    DeviceStream* producer,
                                                    std::chrono::nanoseconds timeout);

  Device* device() const { return device_; }

 private:
  friend class BatchTensor;
  struct Slot {
    DeviceMemory memory;
    std::unique_ptr<DeviceEvent> full;
    std::vector<std::unique_ptr<DeviceEvent>> done;  // a reader each; kept for the next time
    size_t num_readers = 0;
  };

  BatchTensors(Device* device, int64_t tensor_bytes)
      : device_(device), tensor_bytes_(tensor_bytes) {}

  absl::StatusOr<int32_t> TakeFree(std::chrono::nanoseconds timeout);
  void GiveBack(int32_t index);

  Device* const device_;
  const int64_t tensor_bytes_;
  std::vector<Slot> slots_;  // the one who has the tensor works with its slot
  Mutex mu_;
  CondVar given_back_;
  std::deque<int32_t> free_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
