#include "partition/fold/consistent_cut.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/book.h"
#include "partition/overlay/live_shard.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/live_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/graphs/written_history.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

using testing::LiveGraph;
using testing::MemoryGraph;
using testing::Placement;
using testing::WrittenHistory;

std::vector<std::shared_ptr<LiveShard>> ShardsOf(LiveGraph* live) {
  std::vector<std::shared_ptr<LiveShard>> shards;
  for (int32_t s = 0; s < live->dataset().book().num_shards(); ++s) {
    auto shard = live->live().Find({s});
    VICINITY_REQUIRE_OK(shard.status());
    shards.push_back(*std::move(shard));
  }
  return shards;
}

TEST_CASE("any versions are raised to the least ones that fit", "[consistent_cut]") {
  const int num_seeds = testing::SizeFromEnvironment("VICINITY_CUT_SEEDS", 12);
  int num_raised = 0;
  for (int seed = 1; seed <= num_seeds; ++seed) {
    CAPTURE(seed);
    const testing::TempDir folder;
    const MemoryGraph graph = testing::TypedGraph(12, 9, 5, seed);
    const Placement placement = testing::Shuffled(graph, 1 + seed % 4, seed);
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph, placement, folder.File("data")));
    WrittenHistory history(graph, placement, folder.File("data"), folder.File("changes"), seed);
    for (int step = 0; step < 60; ++step) history.Step();
    const auto shards = ShardsOf(&history.live());
    for (int i = 0; i < 20; ++i) {
      const std::vector<uint64_t> versions = history.AnyVersions();
      VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<uint64_t> cut,
                                    ConsistentCut(history.live().dataset(), shards, versions));
      CHECK(cut == history.FittingVersions(versions));
      if (cut != versions) ++num_raised;
    }
  }
  CHECK(num_raised > 0);
}

// Two shards, of which one knows a node that the other adds in its second version.
class ConsistentCutTest {
 public:
  ConsistentCutTest()
      : graph_(testing::RandomGraph({})),
        placement_(testing::Shuffled(graph_, 2, 1)),
        live_(Write(), placement_, folder_.File("data"), folder_.File("changes"), 1) {}

  int64_t num_nodes() const { return live_.dataset().book().num_nodes({0}); }
  // New nodes in shard 0.
  void AddNodes(int count) {
    proto::WriteBatch batch;
    live_.batches(0).AddNewNodes(0, count, batch.add_new_nodes());
    VICINITY_REQUIRE_OK(live_.Apply(0, batch).status());
  }
  // An edge to shard 1.
  void AddEdge(int64_t source) {
    proto::WriteBatch batch;
    live_.batches(1).AddNewEdges(0, 1, batch.add_new_edges());
    batch.mutable_new_edges(0)->set_sources(0, static_cast<uint64_t>(source));
    VICINITY_REQUIRE_OK(live_.Apply(1, batch).status());
  }
  absl::StatusOr<std::vector<uint64_t>> Cut(std::vector<uint64_t> versions) {
    return ConsistentCut(live_.dataset(), ShardsOf(&live_), std::move(versions));
  }

 private:
  const MemoryGraph& Write() {
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, placement_, folder_.File("data")));
    return graph_;
  }

  const testing::TempDir folder_;
  const MemoryGraph graph_;
  const Placement placement_;
  LiveGraph live_;
};

TEST_CASE_METHOD(ConsistentCutTest, "a shard is raised to the first version with a named node",
                 "[consistent_cut]") {
  for (int i = 0; i < 5; ++i) AddNodes(3);  // ids in steps of two
  AddEdge(num_nodes() + 2 * 7);             // the eighth
  CHECK(*Cut({0, 0}) == std::vector<uint64_t>{0, 0});
  CHECK(*Cut({0, 1}) == std::vector<uint64_t>{3, 1});
  CHECK(*Cut({4, 1}) == std::vector<uint64_t>{4, 1});
}

TEST_CASE_METHOD(ConsistentCutTest, "a node that there never was holds nothing up",
                 "[consistent_cut]") {
  AddNodes(1);
  AddNodes(1);
  AddEdge(num_nodes() + 2 * 1000);
  CHECK(*Cut({0, 1}) == std::vector<uint64_t>{0, 1});
  AddEdge(num_nodes());
  CHECK(*Cut({0, 2}) == std::vector<uint64_t>{1, 2});
}

TEST_CASE_METHOD(ConsistentCutTest, "a version that has not been is refused", "[consistent_cut]") {
  AddNodes(1);
  CHECK(Cut({2, 0}).status().code() == absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace vicinity
