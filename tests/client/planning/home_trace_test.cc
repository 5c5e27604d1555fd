#include "client/planning/home_trace.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "client/loading/ahead_limits.h"
#include "client/planning/home_plan.h"
#include "client/planning/seed_batches.h"
#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr int32_t kHome = 2;  // of four shards, one that has nodes

// Batches that take every neighbour, so that nothing is left to chance.
class Fixture {
 public:
  Fixture() : order_(testing::Shuffled(graph_, 4, 3)) {
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, order_, folder_.File("d")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("d")));
    assignment_ = AssignmentOf(dataset_->book());
    VipRequest flags;
    flags.fanouts = {-1};
    flags.batch_size = 5;
    flags.seeds = "all";
    VICINITY_ASSERT_OK_AND_ASSIGN(plan_, PlanHomes(*dataset_, assignment_, flags));
  }
  std::unique_ptr<SeedBatches> Seeds() const {
    VICINITY_ASSERT_OK_AND_ASSIGN(auto seeds, BatchesOf(*dataset_, plan_, kHome, 1, 7));
    return seeds;
  }
  HomeTrace Trace(const std::vector<WantedRows>& wanted) const {
    return {*dataset_, plan_, assignment_, wanted, kHome, Seeds()};
  }
  // Nodes of other shards among the seeds and what their lists hold.
  std::set<int64_t> RemoteOf(const std::vector<int64_t>& seeds) const {
    std::vector<int64_t> id_of(order_.order[0].size());
    for (size_t id = 0; id < id_of.size(); ++id) id_of[order_.order[0][id]] = id;
    std::set<int64_t> nodes(seeds.begin(), seeds.end());
    for (const int64_t seed : seeds) {
      for (const testing::InEdge& edge : graph_.InEdges({0}, order_.order[0][seed])) {
        nodes.insert(id_of[edge.source]);
      }
    }
    std::set<int64_t> remote;
    for (const int64_t node : nodes) {
      if (assignment_.shard_of[0][node] != kHome) remote.insert(node);
    }
    return remote;
  }

 private:
  const testing::MemoryGraph graph_ = testing::RandomGraph({});
  const testing::Placement order_;
  const testing::TempDir folder_;
  std::unique_ptr<Dataset> dataset_;
  Assignment assignment_;
  HomePlan plan_;
};

TEST_CASE("a trace holds what each batch needs from other shards, once", "[cli]") {
  const Fixture fixture;
  const std::vector<WantedRows> wanted = {{40, 2}};
  HomeTrace trace = fixture.Trace(wanted);
  VICINITY_REQUIRE_OK(trace.Extend(1));
  VICINITY_REQUIRE_OK(trace.Extend(20));  // in several pieces
  const std::unique_ptr<SeedBatches> seeds = fixture.Seeds();
  CHECK(trace.steps() == seeds->steps());
  REQUIRE(trace.batches().size() == 21);
  int64_t num_remote = 0;
  for (const TracedBatch& batch : trace.batches()) {
    const std::vector<int64_t>& remote = batch.remote[0];
    CHECK(std::set<int64_t>(remote.begin(), remote.end()) ==
          fixture.RemoteOf(seeds->Next().seeds[0].ids));
    CHECK(batch.num_remote == static_cast<int64_t>(remote.size()));
    CHECK(batch.window_bytes > 2 * 40 * batch.num_remote);
    CHECK(batch.announced_bytes > 2 * kAnnouncedIdBytes * batch.num_remote);
    num_remote += batch.num_remote;
  }
  CHECK(trace.mean_remote() == Approx(static_cast<double>(num_remote) / 21));
}

TEST_CASE("of types that nobody wants there is nothing to fetch", "[cli]") {
  const Fixture fixture;
  const std::vector<WantedRows> wanted = {{0, 1}};
  HomeTrace trace = fixture.Trace(wanted);
  VICINITY_REQUIRE_OK(trace.Extend(3));
  for (const TracedBatch& batch : trace.batches()) {
    CHECK(batch.num_remote == 0);
    CHECK(batch.window_bytes == batch.announced_bytes);
  }
  CHECK(trace.mean_remote() == 1);
}

}  // namespace
}  // namespace vicinity
