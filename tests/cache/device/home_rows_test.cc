#include "cache/device/home_rows.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cache/device/base/device.h"
#include "cache/device/row_mover.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/contract/row_pool_contract.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::OpenTestedDevice;
using testing::TestedDevices;
using testing::TrueRow;

constexpr int64_t kRowBytes = 24;
constexpr int64_t kNumRows = 50;

TEST_CASE("home rows come from either memory, read in either way", "[home_rows]") {
  const auto kind = GENERATE_COPY(from_range(TestedDevices()));
  const int64_t device_rows = GENERATE(0, 20, 50, 99);
  const FarRead far = GENERATE(FarRead::kDirect, FarRead::kStaged);
  const std::unique_ptr<Device> device = OpenTestedDevice(kind);
  StagingRing::Options ring;
  ring.chunk_bytes = 256;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<RowMover> mover,
                                RowMover::Create(device.get(), ring));
  std::string column;
  for (int64_t row = 0; row < kNumRows; ++row) column += TrueRow(row, kRowBytes);
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<HomeRows> home,
      HomeRows::Create(mover.get(), {column.data(), kNumRows, kRowBytes}, device_rows, far));
  if (far == FarRead::kDirect) column = std::string(column.size(), '?');  // is no longer needed
  CHECK(home->num_rows() == kNumRows);
  CHECK(home->device_rows() == std::min(device_rows, kNumRows));

  std::vector<int32_t> rows;
  std::vector<int64_t> to_rows;
  std::string expected(60 * kRowBytes, 'x');
  for (int64_t i = 0; i < 59; ++i) {
    rows.push_back(static_cast<int32_t>(i * 17 % kNumRows));
    to_rows.push_back(59 - i);
    TrueRow(rows.back(), kRowBytes).copy(&expected[to_rows.back() * kRowBytes], kRowBytes);
  }
  const DeviceMemory out = testing::BytesToDevice(device.get(), std::string(expected.size(), 'x'));
  const RowPlaces to = RowsAt(out.data(), 60, kRowBytes);
  VICINITY_REQUIRE_OK(home->Gather(rows, to, to_rows));
  CHECK(testing::BytesFromDevice(device.get(), mover->stream(), out.data(), out.bytes()) ==
        expected);
  for (const int32_t wrong : {-1, static_cast<int32_t>(kNumRows)}) {
    VICINITY_CHECK_CODE(home->Gather({wrong}, to, {0}), absl::StatusCode::kInvalidArgument);
  }
  VICINITY_CHECK_CODE(home->Gather({1}, to, {60}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(home->Gather({1, 2}, to, {0}), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a shard with more rows than a device's lists can name is refused", "[home_rows]") {
  const std::unique_ptr<Device> device = OpenTestedDevice(testing::TestedDevice::kHost);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<RowMover> mover,
                                RowMover::Create(device.get(), StagingRing::Options()));
  const char row[4] = {};
  const auto create = [&](int64_t num_rows, int64_t device_rows) {
    const HostRows column{row, num_rows, 4};
    return HomeRows::Create(mover.get(), column, device_rows, FarRead::kDirect).status();
  };
  VICINITY_CHECK_CODE(create(int64_t{1} << 31, 0), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(create(1, -1), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
