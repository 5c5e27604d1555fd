#include "cache/device/copy_rows.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cache/device/base/cuda_device.h"
#include "cache/device/base/device.h"
#include "cache/device/base/kernel.h"
#include "proto/common/random.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::BytesFromDevice;
using testing::BytesToDevice;
using testing::OpenTestedDevice;
using testing::TestedDevices;
using testing::ToDevice;

std::string RandomBytes(int64_t size, uint64_t seed) {
  NodeDraws draws(seed, 0);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(draws.Below(256));
  return bytes;
}

TEST_CASE("words are as wide as every address and width allows", "[copy_rows]") {
  alignas(64) static char rows[256];
  const auto word_bytes = [](int64_t from, int64_t row_bytes) {
    CopyRows work;
    work.from = RowsAt(rows + from, 1, row_bytes);
    work.to = RowsAt(rows + 128, 1, row_bytes);
    work.num_rows = 1;
    work.row_bytes = row_bytes;
    return ShapeOf(work).word_bytes;
  };
  CHECK(word_bytes(0, 64) == 16);
  CHECK(word_bytes(8, 64) == 8);
  CHECK(word_bytes(4, 64) == 4);
  CHECK(word_bytes(0, 40) == 8);
  CHECK(word_bytes(0, 100) == 4);
  CHECK(word_bytes(0, 6) == 2);
  CHECK(word_bytes(1, 64) == 1);
  CHECK(word_bytes(0, 3) == 1);
}

TEST_CASE("rows of any width are gathered out of two memories", "[copy_rows]") {
  const auto kind = GENERATE_COPY(from_range(TestedDevices()));
  const int64_t row_bytes = GENERATE(1, 3, 4, 8, 12, 16, 100, 128, 200, 512, 1000, 2048);
  const std::unique_ptr<Device> device = OpenTestedDevice(kind);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DeviceStream> stream, device->NewStream());
  constexpr int64_t kNear = 37;
  constexpr int64_t kFar = 20;
  const std::string near = RandomBytes(kNear * row_bytes, 1);
  const std::string far = RandomBytes(kFar * row_bytes, 2);
  const DeviceMemory near_memory = BytesToDevice(device.get(), near);
  VICINITY_ASSERT_OK_AND_ASSIGN(const DeviceMemory far_memory,
                                device->Allocate(MemoryKind::kPinned, kFar * row_bytes));
  far.copy(far_memory.data(), far.size());

  // Row 0 of the output is nobody's; index -1 is left out.
  std::vector<int32_t> from_rows = {40, 0, 36, 37, 56, 5, -1, 5, 20};
  std::vector<int32_t> to_rows(from_rows.size());
  std::iota(to_rows.rbegin(), to_rows.rend(), 1);
  std::string expected(static_cast<int64_t>(from_rows.size() + 1) * row_bytes, 'x');
  for (size_t i = 0; i < from_rows.size(); ++i) {
    if (from_rows[i] < 0) continue;
    const std::string all = near + far;
    all.copy(&expected[to_rows[i] * row_bytes], row_bytes, from_rows[i] * row_bytes);
  }
  const DeviceMemory from_list = ToDevice(device.get(), from_rows);
  const DeviceMemory to_list = ToDevice(device.get(), to_rows);
  const DeviceMemory out = BytesToDevice(device.get(), std::string(expected.size(), 'x'));

  CopyRows work;
  work.from = RowsAt(near_memory.data(), kNear + kFar, row_bytes);
  work.from.far = far_memory.data();
  work.from.split = kNear;
  work.to = RowsAt(out.data(), static_cast<int64_t>(from_rows.size()) + 1, row_bytes);
  work.from_rows = from_list.as<int32_t>();
  work.to_rows = to_list.as<int32_t>();
  work.num_rows = static_cast<int64_t>(from_rows.size());
  work.row_bytes = row_bytes;
  VICINITY_REQUIRE_OK(stream->Launch(KernelOf(work)));
  CHECK(BytesFromDevice(device.get(), stream.get(), out.data(), out.bytes()) == expected);
}

TEST_CASE("rows are scattered, and rows between them stay", "[copy_rows]") {
  const auto kind = GENERATE_COPY(from_range(TestedDevices()));
  const int64_t row_bytes = GENERATE(4, 60, 512);
  const int64_t num_rows = GENERATE(0, 1, 4, 5, 3000);
  const std::unique_ptr<Device> device = OpenTestedDevice(kind);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DeviceStream> stream, device->NewStream());
  const std::string rows = RandomBytes(num_rows * row_bytes, 3);
  const DeviceMemory from = BytesToDevice(device.get(), rows);
  std::vector<int32_t> to_rows(num_rows);  // all different: 6001 is a prime
  for (int64_t i = 0; i < num_rows; ++i) to_rows[i] = static_cast<int32_t>(i * 7 % 6001);
  std::string expected(6001 * row_bytes, 'x');
  for (int64_t i = 0; i < num_rows; ++i) {
    rows.copy(&expected[to_rows[i] * row_bytes], row_bytes, i * row_bytes);
  }
  const DeviceMemory to_list = ToDevice(device.get(), to_rows);
  const DeviceMemory out = BytesToDevice(device.get(), std::string(expected.size(), 'x'));
  CopyRows work;
  work.from = RowsAt(from.data(), num_rows, row_bytes);
  work.to = RowsAt(out.data(), 6001, row_bytes);
  work.to_rows = to_list.as<int32_t>();
  work.num_rows = num_rows;
  work.row_bytes = row_bytes;
  VICINITY_REQUIRE_OK(stream->Launch(KernelOf(work)));
  CHECK(BytesFromDevice(device.get(), stream.get(), out.data(), out.bytes()) == expected);
}

TEST_CASE("a build without CUDA launches no copy of rows on it", "[copy_rows]") {
  if (OpenCudaDevice(0).status().code() != absl::StatusCode::kUnimplemented) return;
  CHECK(KernelOf(CopyRows()).launch_on_cuda(nullptr) == kNoCuda);
}

}  // namespace
}  // namespace vicinity
