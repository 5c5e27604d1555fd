#include "cache/device/dlpack.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// How long the host waits where it is the device.
constexpr std::chrono::nanoseconds kHostWait = std::chrono::seconds(10);

// What the tensor that was handed over stands on.
struct HandedOver {
  DLManagedTensor managed;
  std::vector<int64_t> shape;
  std::unique_ptr<BatchTensor> tensor;
  std::unique_ptr<DeviceStream> consumer;  // null: none to wait for
};

void Delete(DLManagedTensor* managed) {
  const std::unique_ptr<HandedOver> handed_over(static_cast<HandedOver*>(managed->manager_ctx));
  // A failure is one of the device's, which its next user is told.
  if (handed_over->consumer != nullptr) {
    handed_over->tensor->Done(handed_over->consumer.get()).IgnoreError();
  }
}

absl::Status CheckRowType(const BatchTensor& tensor, const RowType& row) {
  int64_t bits = int64_t{row.type.bits} * row.type.lanes;
  for (const int64_t width : row.shape) bits *= width;
  if (bits == 8 * tensor.row_bytes()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("values of ", bits, " bits in a row of ", tensor.row_bytes(), " bytes"));
}

// CUDA's own handle of the legacy default stream is 1 as well. A thread's own default stream (2) is
// another one in the thread that deletes; the legacy stream comes before and behind them all.
absl::StatusOr<std::unique_ptr<DeviceStream>> OpenStream(Device* device, int64_t stream) {
  if (stream == kDlpackNoStream || !device->is_cuda()) return nullptr;
  if (stream <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("stream ", stream, "; 1 is the default stream, -1 none"));
  }
  const int64_t known = stream == kDlpackThreadStream ? kDlpackDefaultStream : stream;
  return device->WrapStream(reinterpret_cast<void*>(static_cast<intptr_t>(known)));
}

}  // namespace

absl::StatusOr<DLManagedTensor*> ToDlpack(std::unique_ptr<BatchTensor> tensor, const RowType& row,
                                          int64_t consumer_stream) {
  VICINITY_RETURN_IF_ERROR(CheckRowType(*tensor, row));
  Device* const device = tensor->device();
  auto handed_over = std::make_unique<HandedOver>();
  VICINITY_ASSIGN_OR_RETURN(handed_over->consumer, OpenStream(device, consumer_stream));
  if (handed_over->consumer != nullptr) {
    VICINITY_RETURN_IF_ERROR(tensor->WaitOn(handed_over->consumer.get()));
  }
  if (!device->is_cuda()) VICINITY_RETURN_IF_ERROR(tensor->WaitOnHost(kHostWait));
  handed_over->shape = row.shape;
  handed_over->shape.insert(handed_over->shape.begin(), tensor->num_rows());
  DLTensor& view = handed_over->managed.dl_tensor;
  view.data = tensor->data();
  view.device = {device->is_cuda() ? kDLCUDA : kDLCPU, device->ordinal()};
  view.ndim = static_cast<int>(handed_over->shape.size());
  view.dtype = row.type;
  view.shape = handed_over->shape.data();
  view.strides = nullptr;
  view.byte_offset = 0;
  handed_over->managed.deleter = Delete;
  handed_over->managed.manager_ctx = handed_over.get();
  handed_over->tensor = std::move(tensor);
  return &handed_over.release()->managed;
}

}  // namespace vicinity
