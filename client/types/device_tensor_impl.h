// What is behind a DeviceTensor.
#pragma once

#include <memory>
#include <utility>

#include "cache/device/batch_tensor_ring.h"
#include "client/types/device_tensor.h"
#include "partition/schema/schema.h"

namespace vicinity {

class DeviceTensor::Impl {
 public:
  // `tensor`, which keeps its ring and its device alive (BatchTensor::Keep), with rows of a column.
  static std::unique_ptr<DeviceTensor> Wrap(std::unique_ptr<BatchTensor> tensor,
                                            const ColumnSpec& spec) {
    auto impl = std::make_unique<Impl>();
    impl->tensor = std::move(tensor);
    impl->spec = spec;
    return std::unique_ptr<DeviceTensor>(new DeviceTensor(std::move(impl)));
  }

  std::unique_ptr<BatchTensor> tensor;
  ColumnSpec spec;
};

}  // namespace vicinity
