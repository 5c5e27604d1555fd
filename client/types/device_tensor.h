// A column of a batch in the memory of a device, which a trainer there reads without a copy.
//
//   for (vicinity::BatchColumn& column : batch->columns) {
//     column.tensor->WaitOn(stream);        // a cudaStream_t: no wait on the host
//     Train(column.tensor->data(), stream);
//     column.tensor->Done(stream);          // the memory is used again behind what `stream` has
//   }
//
// or, with PyTorch, CuPy, JAX: DeviceTensor::HandOver, which does both by the rules of DLPack.
//
// Public header: standard C++ and the project's own plain headers. Streams are void*, so that
// neither CUDA nor DLPack is needed to include it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "client/types/result.h"

struct DLManagedTensor;  // of <dlpack/dlpack.h>

namespace vicinity {

enum class DeviceKind : uint8_t {
  kCuda,  // an NVIDIA GPU
  kHost,  // its twin on the host, which takes the same way with host memory: what trainers are
          // tested with where there is no GPU
};

// Rows of one column, row after row, without gaps. Whoever has it owns the memory until it is
// destroyed; a loader has a few for each column (DeviceOptions::batches) and makes no batch more
// while all are out.
//
// Threads:  one at a time.
// Lifetime: as long as its owner likes: it may outlive its batch, the loader and the graph. Before
//           it is destroyed each stream that reads it is told to be Done.
class DeviceTensor {
 public:
  ~DeviceTensor();
  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;

  // On the device, 256-byte aligned; may be null if there are no bytes. The host may read it
  // for kHost alone, after WaitOn.
  void* data() const;
  int64_t num_rows() const;
  int64_t row_bytes() const;
  int64_t bytes() const { return num_rows() * row_bytes(); }
  DeviceKind device_kind() const;
  int32_t device_ordinal() const;  // among the devices of its kind

  // What `stream` gets from now on finds the rows there. A cudaStream_t of the tensor's device;
  // null is the legacy default stream. The host does not wait. The host twin has no streams and
  // takes no notice of `stream`: it waits for the rows, at most ten seconds (kDeadlineExceeded).
  Error WaitOn(void* stream);

  // What `stream` got so far is the last there of what reads the rows. Any number of streams may
  // be told, each once it has all its work. Without it the memory is used again at any time after
  // the tensor is destroyed. Does nothing on the host twin.
  Error Done(void* stream);

  // Copies the rows to `out`, bytes() of them, and waits until they are there: for tests, and for
  // a look at a batch. kDeadlineExceeded after `timeout`; `out` is not written to then.
  Error CopyToHost(void* out, std::chrono::milliseconds timeout = std::chrono::seconds(30)) const;

  // The tensor as DLPack: shape (rows, *ColumnSpec::shape), row-major, values of the column's
  // dtype, bool as uint8. `consumer_stream` as in __dlpack__(stream=...): 1 is the legacy
  // default stream, 2 the thread's own, -1 wants no waiting, 0 is refused (kInvalidArgument), any
  // other number is a cudaStream_t. WaitOn and Done of that stream are called for it: at once, and
  // when the deleter is called, which any thread may do, also after the loader is gone. The host
  // twin is a CPU tensor, full when it is handed over. On an error the tensor is gone too.
  static Result<DLManagedTensor*> HandOver(std::unique_ptr<DeviceTensor> tensor,
                                           int64_t consumer_stream);

  class Impl;  // loaders make them

 private:
  explicit DeviceTensor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace vicinity
