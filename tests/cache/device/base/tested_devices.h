// The devices that a test runs on, the same test on each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/device/base/device.h"

namespace vicinity::testing {

enum class TestedDevice { kHost, kLateHost, kCuda };

// What there is here, for GENERATE_COPY(from_range(TestedDevices())). A GPU is there in builds with
// --config=cuda on machines that have one; where it is not, standard error says once that its part
// of the tests is left out, and why. With VICINITY_REQUIRE_GPU in the environment that fails.
std::vector<TestedDevice> TestedDevices();

std::unique_ptr<Device> OpenTestedDevice(TestedDevice kind);

// Copies that wait until they are done.
DeviceMemory BytesToDevice(Device* device, const std::string& bytes);
std::string BytesFromDevice(Device* device, DeviceStream* stream, const void* from, int64_t bytes);

template <typename T>
DeviceMemory ToDevice(Device* device, const std::vector<T>& values) {
  return BytesToDevice(
      device, std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
}

// Once `stream` is through with what it has.
template <typename T>
std::vector<T> FromDevice(Device* device, DeviceStream* stream, const void* from, int64_t n) {
  const std::string bytes =
      BytesFromDevice(device, stream, from, n * static_cast<int64_t>(sizeof(T)));
  std::vector<T> values(n);
  bytes.copy(reinterpret_cast<char*>(values.data()), bytes.size());
  return values;
}

}  // namespace vicinity::testing
