#include "client/types/device_tensor.h"

#include <dlpack/dlpack.h>

#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/base/device.h"
#include "cache/device/dlpack.h"
#include "client/types/device_tensor_impl.h"
#include "client/types/dlpack_type.h"
#include "client/types/error.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr std::chrono::seconds kHostWait(10);

absl::Status CopyOut(BatchTensor* tensor, char* out, std::chrono::nanoseconds timeout) {
  Device* const device = tensor->device();
  const int64_t bytes = tensor->num_rows() * tensor->row_bytes();
  VICINITY_ASSIGN_OR_RETURN(const DeviceMemory here, device->Allocate(MemoryKind::kPinned, bytes));
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<DeviceStream> stream, device->NewStream());
  VICINITY_RETURN_IF_ERROR(tensor->WaitOn(stream.get()));
  VICINITY_RETURN_IF_ERROR(stream->Copy(here.data(), tensor->data(), bytes));
  VICINITY_RETURN_IF_ERROR(tensor->Done(stream.get()));
  VICINITY_RETURN_IF_ERROR(FinishOnHost(device, stream.get(), timeout));
  if (bytes > 0) std::memcpy(out, here.data(), bytes);
  return absl::OkStatus();
}

}  // namespace

DeviceTensor::DeviceTensor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DeviceTensor::~DeviceTensor() = default;

void* DeviceTensor::data() const { return impl_->tensor->data(); }
int64_t DeviceTensor::num_rows() const { return impl_->tensor->num_rows(); }
int64_t DeviceTensor::row_bytes() const { return impl_->tensor->row_bytes(); }
DeviceKind DeviceTensor::device_kind() const {
  return impl_->tensor->device()->is_cuda() ? DeviceKind::kCuda : DeviceKind::kHost;
}
int32_t DeviceTensor::device_ordinal() const { return impl_->tensor->device()->ordinal(); }

Error DeviceTensor::WaitOn(void* stream) {
  BatchTensor* const tensor = impl_->tensor.get();
  if (!tensor->device()->is_cuda()) return ToError(tensor->WaitOnHost(kHostWait));
  const absl::StatusOr<std::unique_ptr<DeviceStream>> consumer =
      tensor->device()->WrapStream(stream);
  return ToError(consumer.ok() ? tensor->WaitOn(consumer->get()) : consumer.status());
}

Error DeviceTensor::Done(void* stream) {
  BatchTensor* const tensor = impl_->tensor.get();
  if (!tensor->device()->is_cuda()) return Error();
  const absl::StatusOr<std::unique_ptr<DeviceStream>> consumer =
      tensor->device()->WrapStream(stream);
  return ToError(consumer.ok() ? tensor->Done(consumer->get()) : consumer.status());
}

Error DeviceTensor::CopyToHost(void* out, std::chrono::milliseconds timeout) const {
  return ToError(CopyOut(impl_->tensor.get(), static_cast<char*>(out), timeout));
}

Result<DLManagedTensor*> DeviceTensor::HandOver(std::unique_ptr<DeviceTensor> tensor,
                                                int64_t consumer_stream) {
  Impl* const impl = tensor->impl_.get();
  const RowType row{DlpackType(impl->spec.dtype), impl->spec.shape};
  return ToResult(ToDlpack(std::move(impl->tensor), row, consumer_stream));
}

}  // namespace vicinity
