#include "client/c_api/host_tensor.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace vicinity::c_api {
namespace {

TEST_CASE("a tensor is the memory that it was made of, and keeps it", "[host_tensor]") {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4, 5, 6});
  const std::weak_ptr<std::vector<float>> alive = owner;
  const float* const data = owner->data();
  DLManagedTensor* const tensor =
      HostTensor(std::move(owner), data, DlpackType(DType::kFloat32), {2, 3});
  CHECK(tensor->dl_tensor.data == data);
  CHECK(tensor->dl_tensor.device.device_type == kDLCPU);
  CHECK(tensor->dl_tensor.ndim == 2);
  CHECK(tensor->dl_tensor.shape[0] == 2);
  CHECK(tensor->dl_tensor.shape[1] == 3);
  CHECK(tensor->dl_tensor.strides == nullptr);
  CHECK(tensor->dl_tensor.byte_offset == 0);

  DLManagedTensor* const shared = ShareHostTensor(*tensor);
  REQUIRE(shared != nullptr);
  tensor->deleter(tensor);
  CHECK_FALSE(alive.expired());
  CHECK(shared->dl_tensor.data == data);
  CHECK(shared->dl_tensor.shape[1] == 3);
  std::thread([shared] { shared->deleter(shared); }).join();
  CHECK(alive.expired());
}

TEST_CASE("a tensor of another library's is not shared", "[host_tensor]") {
  DLManagedTensor foreign{};
  foreign.deleter = [](DLManagedTensor*) {};
  CHECK(ShareHostTensor(foreign) == nullptr);
}

TEST_CASE("a tensor may own its values", "[host_tensor]") {
  DLManagedTensor* const tensor = HostTensor(std::vector<int64_t>{7, 8}, DType::kInt64);
  CHECK(static_cast<const int64_t*>(tensor->dl_tensor.data)[1] == 8);
  tensor->deleter(tensor);
}

}  // namespace
}  // namespace vicinity::c_api
