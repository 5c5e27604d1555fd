// A batch tensor as DLPack, the form in which PyTorch, NumPy, CuPy and JAX take tensors without a
// copy (https://dmlc.github.io/dlpack).
#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/device/batch_tensor_ring.h"

namespace vicinity {

// As the consumer says it in __dlpack__(stream=...). On CUDA: 1 is the legacy default stream (also
// what None means), 2 the thread's own default stream, -1 wants no waiting, 0 is ambiguous and
// refused, and any other value is a cudaStream_t. The host has no streams: whatever is said, a
// tensor there is full when it is handed over, DeadlineExceeded if that takes ten seconds.
inline constexpr int64_t kDlpackDefaultStream = 1;
inline constexpr int64_t kDlpackThreadStream = 2;
inline constexpr int64_t kDlpackNoStream = -1;

// What a row is: `shape` values of `type`, say {DLDataType{kDLFloat, 32, 1}, {100}}.
struct RowType {
  DLDataType type{kDLFloat, 32, 1};
  std::vector<int64_t> shape;
};

// Hands the tensor over: what the consumer's stream gets from now on finds it full, and its memory
// is used again behind what that stream got until the deleter was called, which any thread may do.
// So a stream must be there until then; who wants no waiting is through with the device first.
// Shape (num_rows, *row.shape), row-major. InvalidArgument if rows of that type are not of the
// tensor's row bytes, and for a stream of 0; the tensor is gone then too.
//
// Lifetime: the BatchTensorRing must outlive all consumers. The capsule's name is its maker's
// business: "dltensor", freed by it only while it is called so.
absl::StatusOr<DLManagedTensor*> ToDlpack(std::unique_ptr<BatchTensor> tensor, const RowType& row,
                                          int64_t consumer_stream);

}  // namespace vicinity
