#include "cache/device/base/cuda_device.h"

#include <catch2/catch.hpp>

#include "absl/status/status.h"
#include "cache/device/base/device.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// What it does as a device, the tests that run on every device tell.
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

}  // namespace
}  // namespace vicinity
