#include "client/c_api/handles.h"

#include <utility>

namespace vicinity::c_api {
namespace {

std::map<int32_t, DeviceColumn> TakeDeviceColumns(MiniBatch* batch) {
  std::map<int32_t, DeviceColumn> taken;
  for (size_t i = 0; i < batch->columns.size(); ++i) {
    std::unique_ptr<DeviceTensor>& tensor = batch->columns[i].tensor;
    if (tensor == nullptr) continue;
    const DeviceKind kind = tensor->device_kind();
    const int32_t ordinal = tensor->device_ordinal();
    taken.emplace(static_cast<int32_t>(i), DeviceColumn{kind, ordinal, std::move(tensor)});
  }
  return taken;
}

}  // namespace

OpenBatch::OpenBatch(std::shared_ptr<const Schema> batch_schema, std::unique_ptr<MiniBatch> given)
    : schema(std::move(batch_schema)),
      on_device(TakeDeviceColumns(given.get())),
      batch(std::move(given)) {}

}  // namespace vicinity::c_api
