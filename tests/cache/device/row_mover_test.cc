#include "cache/device/row_mover.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cache/device/base/device.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::BytesFromDevice;
using testing::OpenTestedDevice;
using testing::TestedDevice;
using testing::TestedDevices;

std::unique_ptr<RowMover> MoverOf(Device* device, int64_t chunk_bytes) {
  StagingRing::Options ring;
  ring.chunk_bytes = chunk_bytes;
  ring.num_chunks = 2;
  auto mover = RowMover::Create(device, ring);
  VICINITY_REQUIRE_OK(mover);
  return *std::move(mover);
}

TEST_CASE("rows go to the device and from place to place in the order of the calls",
          "[row_mover]") {
  const auto kind = GENERATE_COPY(from_range(TestedDevices()));
  const int64_t chunk_bytes = GENERATE(40, 64, 4096);
  const std::unique_ptr<Device> device = OpenTestedDevice(kind);
  const std::unique_ptr<RowMover> mover = MoverOf(device.get(), chunk_bytes);
  constexpr int64_t kRows = 26;
  VICINITY_ASSERT_OK_AND_ASSIGN(const DeviceMemory a,
                                device->Allocate(MemoryKind::kDevice, kRows * 4));
  VICINITY_ASSERT_OK_AND_ASSIGN(const DeviceMemory b,
                                device->Allocate(MemoryKind::kDevice, kRows * 4));
  const RowPlaces in_a = RowsAt(a.data(), kRows, 4);
  const RowPlaces in_b = RowsAt(b.data(), kRows, 4);
  std::vector<int32_t> backwards;
  std::vector<int64_t> forwards;
  std::string rows;
  for (int i = 0; i < kRows; ++i) {
    rows += std::string(4, static_cast<char>('a' + i));
    backwards.push_back(kRows - 1 - i);
    forwards.push_back(i);
  }
  const auto stage = [&](int64_t first, int64_t n, char* out) {
    std::memcpy(out, rows.data() + 4 * first, 4 * n);
  };
  VICINITY_REQUIRE_OK(mover->Send(4, stage, in_a, backwards));
  VICINITY_REQUIRE_OK(mover->Gather(in_a, backwards, in_b, forwards, 4));
  rows = std::string(rows.size(), '?');  // is no longer needed, nor are these
  VICINITY_REQUIRE_OK(mover->Send(4, stage, in_a, backwards));
  const std::string moved = BytesFromDevice(device.get(), mover->stream(), b.data(), b.bytes());
  for (int i = 0; i < kRows; ++i) CHECK(moved.substr(4 * i, 4) == std::string(4, 'a' + i));
}

TEST_CASE("wrong rows are refused before anything is moved", "[row_mover]") {
  const std::unique_ptr<Device> device = OpenTestedDevice(TestedDevice::kHost);
  const std::unique_ptr<RowMover> mover = MoverOf(device.get(), 64);
  char memory[16] = {};
  const RowPlaces rows = RowsAt(memory, 4, 4);
  const auto stage = [](int64_t, int64_t, char*) {};
  VICINITY_CHECK_CODE(mover->Gather(rows, {0, 4}, rows, {1, 2}, 4),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(mover->Gather(rows, {0, 1}, rows, {1, -1}, 4),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(mover->Gather(rows, {0, 1}, rows, {1}, 4),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(mover->Send(4, stage, rows, {-1}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(mover->Send(61, stage, RowsAt(memory, 1, 61), {0}),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("each number is a row or is named with its place", "[row_mover]") {
  constexpr int32_t kMost = INT32_MAX;
  constexpr int64_t kMost64 = INT64_MAX;
  for (const int64_t num_rows :
       {int64_t{0}, int64_t{1}, int64_t{100}, int64_t{kMost}, int64_t{kMost} + 1, kMost64}) {
    CAPTURE(num_rows);
    const RowPlaces places = RowsAt(nullptr, num_rows, 1);
    VICINITY_CHECK_OK(CheckRows(absl::Span<const int32_t>(), places));
    for (const int64_t row :
         {-kMost64 - 1, int64_t{-kMost} - 1, int64_t{-1}, int64_t{0}, int64_t{99}, int64_t{100},
          int64_t{kMost} - 1, int64_t{kMost}, int64_t{kMost} + 1, kMost64 - 1, kMost64}) {
      CAPTURE(row);
      const absl::StatusCode said =
          row >= 0 && row < num_rows ? absl::StatusCode::kOk : absl::StatusCode::kInvalidArgument;
      VICINITY_CHECK_CODE(CheckRows(absl::Span<const int64_t>({row}), places), said);
      if (row != static_cast<int32_t>(row)) continue;
      VICINITY_CHECK_CODE(CheckRows(absl::Span<const int32_t>({static_cast<int32_t>(row)}), places),
                          said);
    }
  }
  const absl::Status refused =
      CheckRows(std::vector<int32_t>{0, 3, 4, 0, -1}, RowsAt(nullptr, 4, 1));
  CHECK(refused.message() == "row 4 (the 2-th) of 4 rows");
}

}  // namespace
}  // namespace vicinity
