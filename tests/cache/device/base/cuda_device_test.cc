#include "cache/device/base/cuda_device.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cache/device/base/device.h"
#include "cache/device/base/kernel.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/contract/device_contract.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::TestedDevice;

TEST_CASE("a GPU is opened, or it is said why not", "[cuda_device]") {
  const auto device = OpenCudaDevice(0);
  if (device.ok()) {
    CHECK((*device)->is_cuda());
    CHECK_FALSE((*device)->name().empty());
    VICINITY_CHECK_CODE(OpenCudaDevice(-1), absl::StatusCode::kInvalidArgument);
    VICINITY_CHECK_CODE(OpenCudaDevice(10000), absl::StatusCode::kInvalidArgument);
    return;
  }
  const absl::StatusCode code = device.status().code();
  CHECK(
      (code == absl::StatusCode::kUnimplemented || code == absl::StatusCode::kFailedPrecondition));
}

// Null where there is none, which standard error says; a failure where one is required.
std::unique_ptr<Device> OpenGpu() {
  const std::vector<TestedDevice> kinds = testing::TestedDevices();
  if (std::count(kinds.begin(), kinds.end(), TestedDevice::kCuda) == 0) return nullptr;
  return testing::OpenTestedDevice(TestedDevice::kCuda);
}

TEST_CASE("a GPU keeps the contract of devices", "[cuda_device]") {
  const std::unique_ptr<Device> gpu = OpenGpu();
  if (gpu != nullptr) testing::CheckDevice(gpu.get());
}

TEST_CASE("a kernel that cannot be launched is named, and the next one can be", "[cuda_device]") {
  const std::unique_ptr<Device> gpu = OpenGpu();
  if (gpu == nullptr) return;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto stream, gpu->NewStream());
  Kernel kernel;
  kernel.name = "none";
  kernel.num_threads = 1;
  kernel.launch_on_cuda = [](void*) { return 1; };  // cudaErrorInvalidValue
  const absl::Status refused = stream->Launch(kernel);
  VICINITY_CHECK_CODE(refused, absl::StatusCode::kInvalidArgument);
  CHECK(refused.message().find("\"none\"") != std::string::npos);
  kernel.launch_on_cuda = [](void*) { return 0; };
  VICINITY_CHECK_OK(stream->Launch(kernel));
}

}  // namespace
}  // namespace vicinity
