#include "client/device/device_side.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "cache/device/base/cuda_device.h"
#include "cache/device/base/staging_ring.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("the device that options name is opened, or it is said what to do", "[device_side]") {
  DeviceOptions options;
  options.kind = DeviceKind::kHost;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<Device> host, OpenLoaderDevice(options));
  CHECK_FALSE(host->is_cuda());
  options.ordinal = 1;
  VICINITY_CHECK_CODE(OpenLoaderDevice(options).status(), absl::StatusCode::kInvalidArgument);

  options.kind = DeviceKind::kCuda;
  options.ordinal = 0;
  if (OpenCudaDevice(0).ok()) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<Device> gpu, OpenLoaderDevice(options));
    CHECK(gpu->is_cuda());
    options.ordinal = 1000;
    VICINITY_CHECK_CODE(OpenLoaderDevice(options).status(), absl::StatusCode::kInvalidArgument);
  } else {
    const absl::Status absent = OpenLoaderDevice(options).status();
    VICINITY_CHECK_CODE(absent, absl::StatusCode::kFailedPrecondition);
    CHECK_THAT(std::string(absent.message()), Catch::Contains("Placement::kHost"));
  }
}

TEST_CASE("the ring takes sixteen of the widest rows, however small it was to be",
          "[device_side]") {
  const auto kind = GENERATE_COPY(from_range(testing::TestedDevices()));
  const auto [staging_bytes, row_bytes] =
      GENERATE(std::pair(int64_t{1}, int64_t{10'000}), std::pair(int64_t{1} << 20, int64_t{4}),
               std::pair(int64_t{1}, int64_t{0}));
  const std::shared_ptr<Device> device = testing::OpenTestedDevice(kind);
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const std::shared_ptr<DeviceSide> side,
      DeviceSide::Create(device, staging_bytes, row_bytes, std::chrono::seconds(10)));
  CHECK(side->staging_bytes() >= staging_bytes);
  CHECK(side->mover()->ring()->chunk_bytes() >= 16 * row_bytes);
  VICINITY_CHECK_OK(side->Finish());
}

TEST_CASE("a ring that does not fit names the option", "[device_side]") {
  const absl::Status full =
      DeviceSide::Create(testing::OpenTestedDevice(testing::TestedDevice::kHost), int64_t{1} << 50,
                         4, std::chrono::seconds(10))
          .status();
  VICINITY_CHECK_CODE(full, absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(full.message()), Catch::Contains("device.staging_bytes"));
}

}  // namespace
}  // namespace vicinity
