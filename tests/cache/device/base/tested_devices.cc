#include "tests/cache/device/base/tested_devices.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cache/device/base/cuda_device.h"
#include "cache/device/base/host_device.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {
namespace {

constexpr std::chrono::seconds kLong(60);

absl::Status WhyNoGpu() {
  static const absl::Status status = [] {
    const absl::Status opened = OpenCudaDevice(0).status();
    if (!opened.ok()) std::cerr << "SKIPPED on a GPU: " << opened << '\n';
    return opened;
  }();
  return status;
}

}  // namespace

std::vector<TestedDevice> TestedDevices() {
  std::vector<TestedDevice> devices = {TestedDevice::kHost, TestedDevice::kLateHost};
  // Where it is required and cannot be opened, that is for OpenTestedDevice to say: Catch2 does not
  // survive a failure inside GENERATE.
  if (WhyNoGpu().ok() || std::getenv("VICINITY_REQUIRE_GPU") != nullptr) {
    devices.push_back(TestedDevice::kCuda);
  }
  return devices;
}

std::unique_ptr<Device> OpenTestedDevice(TestedDevice kind) {
  switch (kind) {
    case TestedDevice::kHost:
      return std::make_unique<HostDevice>();
    case TestedDevice::kLateHost:
      return std::make_unique<HostDevice>(HostOrder::kLate, /*seed=*/20);
    case TestedDevice::kCuda:
      break;
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Device> device, OpenCudaDevice(0));
  return device;
}

DeviceMemory BytesToDevice(Device* device, const std::string& bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  VICINITY_ASSERT_OK_AND_ASSIGN(DeviceMemory there, device->Allocate(MemoryKind::kDevice, size));
  VICINITY_ASSERT_OK_AND_ASSIGN(const DeviceMemory here,
                                device->Allocate(MemoryKind::kPinned, size));
  if (size > 0) std::memcpy(here.data(), bytes.data(), bytes.size());
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DeviceStream> stream, device->NewStream());
  VICINITY_REQUIRE_OK(stream->Copy(there.data(), here.data(), size));
  VICINITY_REQUIRE_OK(FinishOnHost(device, stream.get(), kLong));
  return there;
}

std::string BytesFromDevice(Device* device, DeviceStream* stream, const void* from, int64_t bytes) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const DeviceMemory here,
                                device->Allocate(MemoryKind::kPinned, bytes));
  VICINITY_REQUIRE_OK(stream->Copy(here.data(), from, bytes));
  VICINITY_REQUIRE_OK(FinishOnHost(device, stream, kLong));
  return std::string(bytes == 0 ? "" : here.data(), bytes);
}

}  // namespace vicinity::testing
