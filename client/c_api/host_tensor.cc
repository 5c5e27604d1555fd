#include "client/c_api/host_tensor.h"

namespace vicinity::c_api {
namespace {

struct OwnedTensor {
  DLManagedTensor managed{};
  std::vector<int64_t> shape;
  std::shared_ptr<const void> owner;
};

void Delete(DLManagedTensor* managed) { delete static_cast<OwnedTensor*>(managed->manager_ctx); }

}  // namespace

DLManagedTensor* HostTensor(std::shared_ptr<const void> owner, const void* data, DLDataType type,
                            std::vector<int64_t> shape) {
  auto tensor = std::make_unique<OwnedTensor>();
  tensor->shape = std::move(shape);
  tensor->owner = std::move(owner);
  tensor->managed.dl_tensor.data = const_cast<void*>(data);  // DLPack 0.6 knows no const
  tensor->managed.dl_tensor.device = {kDLCPU, 0};
  tensor->managed.dl_tensor.ndim = static_cast<int32_t>(tensor->shape.size());
  tensor->managed.dl_tensor.dtype = type;
  tensor->managed.dl_tensor.shape = tensor->shape.data();
  tensor->managed.deleter = Delete;
  tensor->managed.manager_ctx = tensor.get();
  return &tensor.release()->managed;
}

DLManagedTensor* ShareHostTensor(const DLManagedTensor& tensor) {
  if (tensor.deleter != Delete) return nullptr;
  const auto& owned = *static_cast<const OwnedTensor*>(tensor.manager_ctx);
  return HostTensor(owned.owner, tensor.dl_tensor.data, tensor.dl_tensor.dtype, owned.shape);
}

}  // namespace vicinity::c_api
