#include "cache/device/base/staging_ring.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "cache/device/base/device.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::BytesFromDevice;
using testing::OpenTestedDevice;
using testing::TestedDevice;
using testing::TestedDevices;

TEST_CASE("a chunk is not written again before its work is done", "[staging_ring]") {
  const auto kind = GENERATE_COPY(from_range(TestedDevices()));
  const std::unique_ptr<Device> device = OpenTestedDevice(kind);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DeviceStream> worker, device->NewStream());
  StagingRing::Options options;
  options.chunk_bytes = 4;
  options.num_chunks = 2;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<StagingRing> ring,
                                StagingRing::Create(device.get(), options));
  VICINITY_ASSERT_OK_AND_ASSIGN(const DeviceMemory out, device->Allocate(MemoryKind::kDevice, 400));
  std::string expected;
  for (int i = 0; i < 100; ++i) {
    VICINITY_ASSERT_OK_AND_ASSIGN(StagingRing::Lease lease, ring->Take());
    const std::string bytes = std::to_string(1000 + i);
    std::memcpy(lease.host(), bytes.data(), 4);
    VICINITY_REQUIRE_OK(lease.Send(4, worker.get()));
    VICINITY_REQUIRE_OK(worker->Copy(out.data() + 4 * i, lease.device(), 4));
    VICINITY_REQUIRE_OK(lease.Done(worker.get()));
    expected += bytes;
  }
  CHECK(BytesFromDevice(device.get(), worker.get(), out.data(), 400) == expected);
}

TEST_CASE("who finds no free chunk in time is told", "[staging_ring]") {
  const std::unique_ptr<Device> device = OpenTestedDevice(TestedDevice::kHost);
  StagingRing::Options options;
  options.chunk_bytes = 4;
  options.num_chunks = 1;
  options.timeout = std::chrono::milliseconds(1);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<StagingRing> ring,
                                StagingRing::Create(device.get(), options));
  {
    VICINITY_ASSERT_OK_AND_ASSIGN(const StagingRing::Lease lease, ring->Take());
    VICINITY_CHECK_CODE(ring->Take(), absl::StatusCode::kDeadlineExceeded);
  }
  VICINITY_CHECK_OK(ring->Take());
  options.num_chunks = 0;
  VICINITY_CHECK_CODE(StagingRing::Create(device.get(), options),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
