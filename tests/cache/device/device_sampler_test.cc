#include "cache/device/device_sampler.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/device.h"
#include "cache/device/device_topology.h"
#include "cache/device/row_mover.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/sampling_spec.h"
#include "proto/common/random.h"
#include "sampler/local_sampler.h"
#include "sampler/sampled_graph.h"
#include "tests/cache/device/tested_devices.h"
#include "tests/sampler/sampled_graphs.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::MemoryGraph;
using testing::OpenTestedDevice;
using testing::TempDir;
using testing::TestedDevice;
using testing::TestedDevices;

constexpr std::chrono::seconds kLong(60);

// The words of sampler/sampled_graph.h for the same things.
SampledGraph AsGraph(const SampledBatch& batch, NodeTypeId seed_type) {
  SampledGraph graph;
  graph.seed_type = seed_type.value;
  graph.seed_positions = batch.seed_positions;
  for (size_t type = 0; type < batch.ids.size(); ++type) {
    graph.nodes.push_back({batch.ids[type], batch.hop_ends[type], {}});
  }
  for (const auto& hop : batch.hops) {
    graph.hops.emplace_back();
    for (const SampledBatch::Block& block : hop) {
      graph.hops.back().push_back(
          {block.edge_type, block.first_target, block.offsets, block.sources, {}, {}});
    }
  }
  return graph;
}

struct TestedSampler {
  TestedSampler(TestedDevice kind, const Dataset& dataset, const DeviceSampler::Options& options,
                MemoryKind memory = MemoryKind::kDevice)
      : device(OpenTestedDevice(kind)) {
    StagingRing::Options ring;
    ring.chunk_bytes = 1 << 16;
    auto made_mover = RowMover::Create(device.get(), ring);
    VICINITY_REQUIRE_OK(made_mover);
    mover = *std::move(made_mover);
    auto made_topology = DeviceTopology::Create(mover.get(), dataset, memory);
    VICINITY_REQUIRE_OK(made_topology);
    topology = *std::move(made_topology);
    auto made_sampler = DeviceSampler::Create(mover.get(), topology.get(), options);
    VICINITY_REQUIRE_OK(made_sampler);
    sampler = *std::move(made_sampler);
  }

  std::unique_ptr<Device> device;
  std::unique_ptr<RowMover> mover;
  std::unique_ptr<DeviceTopology> topology;
  std::unique_ptr<DeviceSampler> sampler;
};

std::unique_ptr<Dataset> WriteAndOpen(const TempDir& dir, const MemoryGraph& graph,
                                      int32_t num_shards) {
  const std::string path = dir.path() + "/dataset";
  VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, num_shards, 3), path));
  auto dataset = Dataset::Open(path, Dataset::Options());
  VICINITY_REQUIRE_OK(dataset);
  return *std::move(dataset);
}

// Several batches, of the same seeds and others.
void CheckAgainstCpu(TestedSampler* tested, const Dataset& dataset,
                     const DeviceSampler::Options& options) {
  NodeDraws draws(77, 1);
  const int64_t num_nodes = dataset.book().num_nodes(options.seed_type);
  for (uint64_t batch = 0; batch < 4; ++batch) {
    std::vector<int64_t> seeds(batch == 3 ? 0 : 1 + draws.Below(options.max_seeds));
    for (int64_t& seed : seeds) seed = static_cast<int64_t>(draws.Below(num_nodes));
    VICINITY_REQUIRE_OK(tested->sampler->Start(seeds, 5, 2, batch));
    VICINITY_ASSERT_OK_AND_ASSIGN(const SampledBatch sampled, tested->sampler->Finish(kLong));
    VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph expected,
                                  SampleLocal(dataset, options.seed_type, seeds, options.spec,
                                              {.run_seed = 5, .epoch = 2, .batch = batch}));
    REQUIRE(testing::Describe(AsGraph(sampled, options.seed_type)) == testing::Describe(expected));
  }
}

// Written once: to write is far slower than to sample. Degrees are on either side of the fanouts.
const Dataset& RandomDataset(int32_t num_shards) {
  static const TempDir dirs[2];
  static std::unique_ptr<Dataset> datasets[2];
  const int i = num_shards == 1 ? 0 : 1;
  if (datasets[i] == nullptr) {
    testing::RandomGraphOptions random;
    random.num_nodes = 300;
    random.num_edges = 6000;
    datasets[i] = WriteAndOpen(dirs[i], testing::RandomGraph(random), num_shards);
  }
  return *datasets[i];
}

TEST_CASE("a device samples what the CPU does, number by number", "[device_sampler]") {
  const auto kind = GENERATE_COPY(from_range(TestedDevices()));
  const Dataset* const dataset = &RandomDataset(GENERATE(1, 3));
  DeviceSampler::Options options;
  const auto fanouts = GENERATE(std::vector<int64_t>{3}, std::vector<int64_t>{16, 4, 2},
                                std::vector<int64_t>{15, kAllNeighbors}, std::vector<int64_t>{17});
  options.spec = SamplingSpec::Uniform(dataset->schema(), fanouts);
  options.spec.replace = GENERATE(false, true);
  options.spec.expansion = GENERATE(Expansion::kAllNodes, Expansion::kNewNodes);
  options.max_seeds = 20;
  TestedSampler tested(kind, *dataset, options,
                       fanouts.size() == 1 ? MemoryKind::kPinned : MemoryKind::kDevice);
  CheckAgainstCpu(&tested, *dataset, options);
}

TEST_CASE("a device samples typed graphs as the CPU does", "[device_sampler]") {
  const auto kind = GENERATE_COPY(from_range(TestedDevices()));
  const MemoryGraph graph = testing::TypedGraph(60, 40, 10, 8);
  const TempDir dir;
  const auto dataset = WriteAndOpen(dir, graph, 3);
  DeviceSampler::Options options;
  options.spec = SamplingSpec::Uniform(dataset->schema(), {4, 3, 2});
  options.spec.fanouts[1][0] = 0;  // not followed in this hop
  options.spec.fanouts[1][1] = kAllNeighbors;
  options.spec.expansion = GENERATE(Expansion::kAllNodes, Expansion::kNewNodes);
  options.seed_type = {GENERATE(0, 1)};
  options.max_seeds = 12;
  TestedSampler tested(kind, *dataset, options);
  CheckAgainstCpu(&tested, *dataset, options);
}

TEST_CASE("a batch that is larger than there is room for is an answer", "[device_sampler]") {
  const auto kind = GENERATE_COPY(from_range(TestedDevices()));
  const Dataset* const dataset = &RandomDataset(1);
  DeviceSampler::Options options;
  options.spec = SamplingSpec::Uniform(dataset->schema(), {kAllNeighbors, 2});
  options.max_seeds = 20;
  SECTION("edges") { options.max_edges = 40; }
  SECTION("nodes") { options.max_nodes = 30; }
  TestedSampler tested(kind, *dataset, options);
  std::vector<int64_t> seeds = {1, 2, 3, 4, 5, 6, 7, 8};
  VICINITY_REQUIRE_OK(tested.sampler->Start(seeds, 1, 1, 1));
  VICINITY_CHECK_CODE(tested.sampler->Finish(kLong), absl::StatusCode::kResourceExhausted);
  // The next batch is none the worse for it.
  VICINITY_REQUIRE_OK(tested.sampler->Start({}, 1, 1, 1));
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledBatch empty, tested.sampler->Finish(kLong));
  CHECK(empty.ids[0].empty());
}

TEST_CASE("lists and ids that cannot be are an answer", "[device_sampler]") {
  const auto kind = GENERATE_COPY(from_range(TestedDevices()));
  const MemoryGraph graph = testing::RandomGraph({});
  const TempDir dir;
  const std::string path = dir.path() + "/dataset";
  VICINITY_REQUIRE_OK(WriteGraph(graph, path));
  const std::string edges = path + "/shard-00000/edges.node.links.node.";
  SECTION("an offset behind the file's end") {
    testing::OverwriteValue(edges + "offsets", 64 + 8 * 5, int64_t{1} << 40);
  }
  SECTION("a neighbour that is no node") {
    for (int64_t i = 0; i < 500; ++i) {
      testing::OverwriteValue(edges + "sources", 64 + 4 * i, uint32_t{100});
    }
  }
  VICINITY_REQUIRE_OK(testing::Reseal(path));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset, Dataset::Open(path, {}));
  DeviceSampler::Options options;
  options.spec = SamplingSpec::Uniform(dataset->schema(), {3, 3});
  TestedSampler tested(kind, *dataset, options);
  std::vector<int64_t> seeds(100);
  std::iota(seeds.begin(), seeds.end(), int64_t{0});
  VICINITY_REQUIRE_OK(tested.sampler->Start(seeds, 1, 1, 1));
  VICINITY_CHECK_CODE(tested.sampler->Finish(kLong), absl::StatusCode::kDataLoss);
}

TEST_CASE("what a device cannot sample is refused", "[device_sampler]") {
  const TempDir dir;
  const auto dataset = WriteAndOpen(dir, testing::RandomGraph({}), 1);
  DeviceSampler::Options good;
  good.spec = SamplingSpec::Uniform(dataset->schema(), {3});
  good.max_seeds = 10;
  TestedSampler tested(TestedDevice::kHost, *dataset, good);
  const auto refused = [&](const DeviceSampler::Options& options) {
    VICINITY_CHECK_CODE(
        DeviceSampler::Create(tested.mover.get(), tested.topology.get(), options).status(),
        absl::StatusCode::kInvalidArgument);
  };
  DeviceSampler::Options wrong = good;
  wrong.spec.fanouts.clear();
  refused(wrong);
  wrong = good;
  wrong.spec.fanouts[0][0] = DeviceSampler::kMaxFanout + 1;
  refused(wrong);
  wrong = good;
  wrong.max_seeds = 1 << 20;
  refused(wrong);
  wrong = good;
  wrong.max_edges = int64_t{1} << 31;
  refused(wrong);
  VICINITY_CHECK_CODE(tested.sampler->Start({100}, 0, 0, 0), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(tested.sampler->Start({-1}, 0, 0, 0), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(tested.sampler->Start(std::vector<int64_t>(11, 1), 0, 0, 0),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
