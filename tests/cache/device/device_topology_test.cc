#include "cache/device/device_topology.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "cache/device/device.h"
#include "cache/device/row_mover.h"
#include "cache/device/sample_work.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "tests/cache/device/tested_devices.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::FromDevice;
using testing::OpenTestedDevice;
using testing::TestedDevices;

std::unique_ptr<RowMover> SmallMover(Device* device) {
  StagingRing::Options ring;
  ring.chunk_bytes = 100;  // arrays go in pieces
  auto mover = RowMover::Create(device, ring);
  VICINITY_REQUIRE_OK(mover);
  return *std::move(mover);
}

TEST_CASE("the lists of every shard are on the device", "[device_topology]") {
  const std::unique_ptr<Device> device =
      OpenTestedDevice(GENERATE_COPY(from_range(TestedDevices())));
  const MemoryKind kind = GENERATE(MemoryKind::kDevice, MemoryKind::kPinned);
  const testing::MemoryGraph graph = testing::RandomGraph({});
  const testing::TempDir dir;
  const std::string path = dir.File("dataset");
  VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 3, 1), path));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(path, Dataset::Options()));
  const std::unique_ptr<RowMover> mover = SmallMover(device.get());
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DeviceTopology> topology,
                                DeviceTopology::Create(mover.get(), *dataset, kind));
  CHECK(topology->num_nodes({0}) == 100);
  REQUIRE(topology->num_parts() == 3);
  DeviceStream* const stream = mover->stream();
  const auto parts = FromDevice<TopologyPart>(device.get(), stream, topology->parts({0}), 3);
  for (int32_t shard = 0; shard < 3; ++shard) {
    const EdgeTable& edges = dataset->shard({shard})->edges({0});
    const TopologyPart& part = parts[shard];
    CHECK(part.first_target == dataset->book().First({0}, {shard}).value);
    REQUIRE(part.num_targets == edges.num_targets());
    REQUIRE(part.num_edges == edges.num_edges());
    const auto offsets =
        FromDevice<uint64_t>(device.get(), stream, part.offsets, part.num_targets + 1);
    const auto keys = FromDevice<uint64_t>(device.get(), stream, part.keys, part.num_targets);
    const auto sources = FromDevice<uint32_t>(device.get(), stream, part.narrow, part.num_edges);
    CHECK(part.wide == nullptr);
    CHECK(absl::MakeConstSpan(offsets) == edges.offsets);
    CHECK(absl::MakeConstSpan(keys) == dataset->shard({shard})->nodes({0}).keys);
    for (int64_t i = 0; i < part.num_edges; ++i) REQUIRE(sources[i] == edges.sources[i]);
  }
}

TEST_CASE("a shard that is not here is named", "[device_topology]") {
  const std::unique_ptr<Device> device = OpenTestedDevice(testing::TestedDevice::kHost);
  const testing::MemoryGraph graph = testing::RandomGraph({});
  const testing::TempDir dir;
  const std::string path = dir.File("dataset");
  VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 3, 1), path));
  Dataset::Options options;
  options.shards = {{1}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(path, options));
  const std::unique_ptr<RowMover> mover = SmallMover(device.get());
  VICINITY_CHECK_CODE(DeviceTopology::Create(mover.get(), *dataset, MemoryKind::kDevice).status(),
                      absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace vicinity
