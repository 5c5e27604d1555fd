#include "cache/device/device_index.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cache/device/base/device.h"
#include "cache/device/row_mover.h"
#include "proto/common/random.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::FromDevice;
using testing::OpenTestedDevice;
using testing::TestedDevice;
using testing::TestedDevices;
using testing::ToDevice;

std::unique_ptr<RowMover> SmallMover(Device* device) {
  StagingRing::Options ring;
  ring.chunk_bytes = 512;
  ring.num_chunks = 2;
  auto mover = RowMover::Create(device, ring);
  VICINITY_REQUIRE_OK(mover);
  return *std::move(mover);
}

TEST_CASE("a device index agrees with a map through random changes", "[device_index]") {
  const auto kind = GENERATE_COPY(from_range(TestedDevices()));
  const uint64_t seed = GENERATE(1, 2);
  constexpr int64_t kMaxRows = 60;
  constexpr int64_t kNumIds = 100;
  const std::unique_ptr<Device> device = OpenTestedDevice(kind);
  const std::unique_ptr<RowMover> mover = SmallMover(device.get());
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DeviceIndex> index,
                                DeviceIndex::Create(mover.get(), kMaxRows));
  // Ids that share homes in a small table, and very large ones.
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < kNumIds; ++i) ids.push_back(i % 2 == 0 ? i : (int64_t{1} << 62) - i);
  const DeviceMemory ids_there = ToDevice(device.get(), ids);
  const DeviceMemory slots_there = ToDevice(device.get(), std::vector<int32_t>(kNumIds));
  std::unordered_map<int64_t, int32_t> expected;
  NodeDraws draws(seed, 0);
  int64_t found = 0;
  constexpr int kNumSteps = 60;
  for (int step = 0; step < kNumSteps; ++step) {
    std::vector<SlotOfId> set, erased;
    for (uint64_t i = draws.Below(30); i > 0; --i) {
      const int64_t id = ids[draws.Below(kNumIds)];
      const auto slot = static_cast<int32_t>(draws.Below(3));
      if (expected.size() == kMaxRows && expected.count(id) == 0) continue;
      set.push_back({id, slot});
      expected[id] = slot;
    }
    VICINITY_REQUIRE_OK(index->Set(set));
    for (uint64_t i = draws.Below(60); i > 0; --i) {
      const int64_t id = ids[draws.Below(kNumIds)];
      const auto slot = static_cast<int32_t>(draws.Below(3));
      erased.push_back({id, slot});
      if (const auto at = expected.find(id); at != expected.end() && at->second == slot) {
        expected.erase(at);
      }
    }
    VICINITY_REQUIRE_OK(index->Erase(erased));
    VICINITY_REQUIRE_OK(index->LookUp(ids_there.as<int64_t>(), kNumIds, slots_there.as<int32_t>()));
    std::vector<int32_t> wanted;
    for (const int64_t id : ids) {
      const auto at = expected.find(id);
      wanted.push_back(at == expected.end() ? -1 : at->second);
      found += at == expected.end() ? 0 : 1;
    }
    REQUIRE(FromDevice<int32_t>(device.get(), mover->stream(), slots_there.data(), kNumIds) ==
            wanted);
  }
  CHECK(index->counts().found == found);
  CHECK(index->counts().absent == kNumSteps * kNumIds - found);
}

TEST_CASE("more rows than an index was made for are refused", "[device_index]") {
  const std::unique_ptr<Device> device = OpenTestedDevice(TestedDevice::kHost);
  const std::unique_ptr<RowMover> mover = SmallMover(device.get());
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DeviceIndex> index,
                                DeviceIndex::Create(mover.get(), 2));
  VICINITY_CHECK_OK(index->Set({{5, 0}, {6, 1}, {5, 3}}));
  VICINITY_CHECK_CODE(index->Set({{7, 0}}), absl::StatusCode::kResourceExhausted);
  VICINITY_CHECK_OK(index->Erase({{5, 3}}));
  VICINITY_CHECK_OK(index->Set({{7, 0}}));
}

}  // namespace
}  // namespace vicinity
