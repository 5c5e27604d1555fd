// Tensors in device memory for batches on their way to the trainer, used in turn.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/base/device.h"
#include "cache/device/copy_rows.h"
#include "proto/common/mutex.h"

namespace vicinity {

class BatchTensorRing;

// One of them, from when it is taken until it is destroyed. Its way: rows are put into it by work
// of one stream, which then is told to Finish; each stream that reads it waits for that, and is
// told to be Done. Nobody waits on the host.
//
// Threads:  one at a time. Lifetime: the ring outlives it, which Keep can see to.
class BatchTensor {
 public:
  ~BatchTensor();
  BatchTensor(const BatchTensor&) = delete;
  BatchTensor& operator=(const BatchTensor&) = delete;

  char* data() const { return rows_.near; }  // 256-byte aligned; may be null if there are no bytes
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
  // Makes the host wait until it is full. DeadlineExceeded after `timeout`.
  absl::Status WaitOnHost(std::chrono::nanoseconds timeout);

  // `owner` lives at least as long as the tensor: say, who owns ring and device.
  void Keep(std::shared_ptr<const void> owner) { owner_ = std::move(owner); }

  Device* device() const;

 private:
  friend class BatchTensorRing;
  BatchTensor(BatchTensorRing* ring, int32_t index, const RowPlaces& rows)
      : ring_(ring), index_(index), rows_(rows) {}

  std::shared_ptr<const void> owner_;  // goes last
  BatchTensorRing* const ring_;
  const int32_t index_;
  const RowPlaces rows_;
};

// Threads:  any number. Lifetime: the device outlives it.
// Memory:   num_tensors as large as the largest batch so far and a quarter more: what bounds how
//           far ahead batches are assembled. A tensor grows when it is taken for more rows than it
//           holds; the host then waits for its last readers. That stops when batches have shown
//           how large they are. Before memory goes, with the ring too, the host waits for its
//           readers.
class BatchTensorRing {
 public:
  // One in training and the next are 2; each of `tensor_bytes` at first. InvalidArgument: none, or
  // of less than no bytes; ResourceExhausted: no device memory.
  static absl::StatusOr<std::unique_ptr<BatchTensorRing>> Create(Device* device,
                                                                 int32_t num_tensors,
                                                                 int64_t tensor_bytes);
  ~BatchTensorRing();
  BatchTensorRing(const BatchTensorRing&) = delete;
  BatchTensorRing& operator=(const BatchTensorRing&) = delete;

  // For num_rows rows; what `producer` gets from now on comes after the last readers of the memory.
  // Waits until one of the tensors is destroyed, which a trainer has to do for another batch, and
  // for the readers of one that has to grow: DeadlineExceeded after `timeout`. InvalidArgument for
  // fewer than no rows or bytes; ResourceExhausted: no device memory to grow.
  absl::StatusOr<std::unique_ptr<BatchTensor>> Take(int64_t num_rows, int64_t row_bytes,
                                                    DeviceStream* producer,
                                                    std::chrono::nanoseconds timeout);

  // Waits, no longer than `timeout`, until Take would find one at once whose last readers are
  // through; whether it would. A producer that takes one earlier has its stream stand behind those
  // readers, and all that comes after in that stream.
  bool WaitForIdle(std::chrono::nanoseconds timeout);

  int64_t bytes() const { return bytes_; }  // of device memory
  Device* device() const { return device_; }

 private:
  friend class BatchTensor;
  struct Slot {
    DeviceMemory memory;
    std::unique_ptr<DeviceEvent> full;
    std::vector<std::unique_ptr<DeviceEvent>> done;  // a reader each; kept for the next time
    size_t num_readers = 0;
  };

  explicit BatchTensorRing(Device* device) : device_(device) {}

  bool WaitForFree(std::chrono::nanoseconds timeout);
  absl::StatusOr<int32_t> TakeFree(std::chrono::nanoseconds timeout);
  // Whether the tensor that is taken next is free and has no readers any more.
  bool NextIsIdle();
  // Waits for whoever fills or reads the slot.
  static absl::Status WaitForSlot(const Slot& slot, std::chrono::nanoseconds timeout);
  absl::Status Grow(Slot* slot, int64_t bytes, std::chrono::nanoseconds timeout);
  void GiveBack(int32_t index);

  Device* const device_;
  std::vector<Slot> slots_;  // the one who has the tensor works with its slot
  std::atomic<int64_t> bytes_{0};
  Mutex mu_;
  CondVar given_back_;
  std::deque<int32_t> free_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
