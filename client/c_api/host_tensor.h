// Host memory of somebody's as a DLPack tensor, without a copy.
#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "client/types/dlpack_type.h"
#include "partition/schema/schema.h"

namespace vicinity::c_api {

// A row-major tensor at `data`, which `owner` keeps there until the deleter is called, on any
// thread. `data` may be null if the shape has a 0.
DLManagedTensor* HostTensor(std::shared_ptr<const void> owner, const void* data, DLDataType type,
                            std::vector<int64_t> shape);

// Another tensor of the same memory; null if `tensor` is not of HostTensor.
DLManagedTensor* ShareHostTensor(const DLManagedTensor& tensor);

// One that owns its values.
template <typename Value>
DLManagedTensor* HostTensor(std::vector<Value> values, DType dtype) {
  const auto owned = std::make_shared<const std::vector<Value>>(std::move(values));
  return HostTensor(owned, owned->data(), DlpackType(dtype), {static_cast<int64_t>(owned->size())});
}

}  // namespace vicinity::c_api
