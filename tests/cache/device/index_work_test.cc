#include "cache/device/index_work.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "cache/device/base/cuda_device.h"
#include "cache/device/base/device.h"
#include "cache/device/base/kernel.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::FromDevice;
using testing::OpenTestedDevice;
using testing::TestedDevices;
using testing::ToDevice;

// What DeviceIndex makes of it through many changes, device_index_test.cc tells.
TEST_CASE("cells are written, ids found, and counts published", "[index_work]") {
  const auto kind = GENERATE_COPY(from_range(TestedDevices()));
  const std::unique_ptr<Device> device = OpenTestedDevice(kind);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DeviceStream> stream, device->NewStream());
  IndexTable table;
  table.shift = 60;
  const auto num_cells = static_cast<int64_t>(table.num_cells());
  const DeviceMemory ids = ToDevice(device.get(), std::vector<uint64_t>(num_cells, kNoId));
  const DeviceMemory slots = ToDevice(device.get(), std::vector<int32_t>(num_cells, -1));
  table.ids = ids.as<uint64_t>();
  table.slots = slots.as<int32_t>();

  // The second id stands behind the first, whose home is the last cell: the search goes round.
  uint64_t at_the_end = 0;
  while (table.Home(at_the_end) != table.num_cells() - 1) ++at_the_end;
  uint64_t behind = at_the_end + 1;
  while (table.Home(behind) != table.num_cells() - 1) ++behind;
  const std::vector<IndexCell> cells = {{table.num_cells() - 1, at_the_end, 5}, {0, behind, 6}};
  const DeviceMemory cells_there = ToDevice(device.get(), cells);
  WriteCells write;
  write.table = table;
  write.cells = cells_there.as<IndexCell>();
  write.num_cells = static_cast<int64_t>(cells.size());
  VICINITY_REQUIRE_OK(stream->Launch(KernelOf(write)));

  // -1 has the bits that mark empty cells.
  const std::vector<int64_t> asked = {static_cast<int64_t>(behind), 7, -1,
                                      static_cast<int64_t>(at_the_end)};
  const DeviceMemory asked_there = ToDevice(device.get(), asked);
  const DeviceMemory found = ToDevice(device.get(), std::vector<int32_t>(asked.size(), 99));
  const DeviceMemory counts = ToDevice(device.get(), std::vector<uint64_t>(2));
  LookUpIds look_up;
  look_up.table = table;
  look_up.ids = asked_there.as<int64_t>();
  look_up.num_ids = static_cast<int64_t>(asked.size());
  look_up.slots = found.as<int32_t>();
  look_up.counts = counts.as<uint64_t>();
  VICINITY_REQUIRE_OK(stream->Launch(KernelOf(look_up)));
  VICINITY_ASSERT_OK_AND_ASSIGN(const DeviceMemory published,
                                device->Allocate(MemoryKind::kPinned, 2 * sizeof(uint64_t)));
  PublishCounts publish;
  publish.from = counts.as<uint64_t>();
  publish.to = published.as<uint64_t>();
  publish.num_counts = 2;
  VICINITY_REQUIRE_OK(stream->Launch(KernelOf(publish)));
  CHECK(FromDevice<int32_t>(device.get(), stream.get(), found.data(), 4) ==
        std::vector<int32_t>{6, -1, -1, 5});
  CHECK(published.as<uint64_t>()[0] == 2);
  CHECK(published.as<uint64_t>()[1] == 2);
}

TEST_CASE("a build without CUDA launches no work of an index on it", "[index_work]") {
  if (OpenCudaDevice(0).status().code() != absl::StatusCode::kUnimplemented) return;
  CHECK(KernelOf(WriteCells()).launch_on_cuda(nullptr) == kNoCuda);
  CHECK(KernelOf(LookUpIds()).launch_on_cuda(nullptr) == kNoCuda);
  CHECK(KernelOf(PublishCounts()).launch_on_cuda(nullptr) == kNoCuda);
}

}  // namespace
}  // namespace vicinity
