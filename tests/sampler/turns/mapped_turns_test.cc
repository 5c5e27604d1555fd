#include "sampler/turns/mapped_turns.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/edge_finder.h"
#include "sampler/local_sampler.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/walk_sampler.h"
#include "sampler/walk_spec.h"
#include "tests/sampler/stored_graph.h"
#include "tests/testing/graphs/graph_overlay.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::MemoryGraph;
using testing::Placement;
using testing::Stored;

constexpr MinibatchDraw kDraw{7, 2, 5};

// By going through lists.
class ListFinder : public EdgeFinder {
 public:
  explicit ListFinder(const Dataset& dataset) : dataset_(dataset) {}

  absl::Status FindEdges(EdgeTypeId edge_type, absl::Span<const int64_t> sources,
                         absl::Span<const int64_t> targets, std::vector<bool>* joined) override {
    const Book& book = dataset_.book();
    joined->clear();
    for (size_t i = 0; i < sources.size(); ++i) {
      const GlobalNode target{targets[i]};
      const EdgeTable& edges =
          dataset_.shard(book.OwnerOf(NodeTypeId{0}, target))->edges(edge_type);
      const int64_t row = book.RowOf(NodeTypeId{0}, target).value;
      bool found = false;
      for (int64_t at = edges.begin(row); at < edges.begin(row) + edges.degree(row); ++at) {
        found = found || edges.sources[at] == sources[i];
      }
      joined->push_back(found);
    }
    return absl::OkStatus();
  }

 private:
  const Dataset& dataset_;
};

std::vector<const ShardReader*> Pointers(const std::vector<ShardReader>& readers) {
  std::vector<const ShardReader*> pointers;
  for (const ShardReader& reader : readers) pointers.push_back(&reader);
  return pointers;
}

std::vector<ShardReader> ReadersOf(const Dataset& dataset) {
  std::vector<ShardReader> readers;
  for (int32_t s = 0; s < dataset.book().num_shards(); ++s) {
    readers.emplace_back(*dataset.shard(ShardId{s}));
  }
  return readers;
}

absl::StatusOr<Walks> Walk(const MemoryGraph& graph, const Dataset& dataset, const WalkSpec& spec,
                           const std::vector<int64_t>& starts, TurnTaker* turns) {
  LocalNeighborSource source(dataset, kDraw);
  ListFinder finder(dataset);
  WalkSampler sampler(graph.schema, dataset.book(), kDraw, &source,
                      turns == nullptr ? &finder : nullptr, turns);
  return sampler.Walk(spec, starts, /*want_edge_ids=*/true);
}

// A graph in which some nodes have no in-edges, others many, some of these parallel, and in which
// a part of the edges lead both ways.
MemoryGraph Mixed() {
  testing::RandomGraphOptions options;
  options.num_nodes = 120;
  options.num_edges = 900;
  options.weights = true;
  options.seed = 8;
  MemoryGraph graph = testing::RandomGraph(options);
  testing::MemoryEdges& edges = graph.edges[0];
  for (size_t e = 0; e + 1 < edges.sources.size(); e += 3) {
    edges.sources[e + 1] = edges.targets[e];
    edges.targets[e + 1] = edges.sources[e];
  }
  for (size_t e = 0; e < edges.sources.size(); e += 5) edges.targets[e] = 17;
  for (int64_t& target : edges.targets) {
    if (target < 5) target = 60;
  }
  return graph;
}

TEST_CASE("walks at the lists themselves are those that go hop by hop", "[mapped_turns]") {
  const MemoryGraph graph = Mixed();
  const testing::TempDir dir;
  const int32_t num_shards = GENERATE(1, 2, 5);
  const Stored stored(graph, Shuffled(graph, num_shards, 3), dir.File("graph"));
  const std::vector<ShardReader> readers = ReadersOf(stored.dataset());
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < 3000; ++i) starts.push_back(i * 7 % graph.num_nodes({0}));
  for (const auto& [p, q] : std::vector<std::pair<double, double>>{
           {0.25, 4}, {4, 0.25}, {0.25, 0.25}, {1, 8}, {64, 1}, {1.0 / 64, 64}}) {
    for (const std::string weighted_by : {"", "weight"}) {
      WalkSpec spec;
      spec.metapath = {0};
      spec.length = 7;
      spec.p = p;
      spec.q = q;
      spec.weighted_by = weighted_by;
      spec.restart_prob = weighted_by.empty() ? 0.05 : 0;
      CAPTURE(num_shards, p, q, weighted_by);
      VICINITY_ASSERT_OK_AND_ASSIGN(const Walks expected,
                                    Walk(graph, stored.dataset(), spec, starts, nullptr));
      MappedTurns turns(graph.schema, stored.dataset().book(), kDraw, Pointers(readers),
                        [] { return false; });
      VICINITY_ASSERT_OK_AND_ASSIGN(const Walks found,
                                    Walk(graph, stored.dataset(), spec, starts, &turns));
      REQUIRE(found.nodes == expected.nodes);
      REQUIRE(found.edge_ids == expected.edge_ids);
      // All but the first steps.
      int64_t made = 0;
      for (int64_t walk = 0; walk < found.num_walks(); ++walk) {
        for (int64_t step = 2; step <= spec.length; ++step) {
          made += found.nodes[walk * (spec.length + 1) + step] >= 0 ? 1 : 0;
        }
      }
      CHECK(turns.num_made() == made);
    }
  }
}

TEST_CASE("a step from or to a node whose list has changed is left to others", "[mapped_turns]") {
  const MemoryGraph before = Mixed();
  MemoryGraph now = before;
  const int64_t changed = now.edges[0].targets[0];
  now.edges[0].sources[0] = (now.edges[0].sources[0] + 1) % now.num_nodes({0});
  const Placement placement = Shuffled(before, 2, 3);
  const testing::TempDir dir;
  const Stored stored(before, placement, dir.File("graph"));
  const testing::GraphOverlay first(before, now, placement, ShardId{0});
  const testing::GraphOverlay second(before, now, placement, ShardId{1});
  const std::vector<ShardReader> readers = {
      ShardReader(*stored.dataset().shard(ShardId{0}), &first),
      ShardReader(*stored.dataset().shard(ShardId{1}), &second)};
  MappedTurns turns(before.schema, stored.dataset().book(), kDraw, Pointers(readers),
                    [] { return false; });
  WalkSpec spec;
  spec.metapath = {0};
  spec.length = 3;
  spec.q = 2;
  const auto takes = [&](int64_t node, int64_t previous) {
    std::vector<Turn> taken;
    const absl::StatusOr<bool> done =
        turns.Take(spec, 1, {0}, stored.Ids(0, {node}), stored.Ids(0, {previous}), false, &taken);
    VICINITY_REQUIRE_OK(done.status());
    return *done;
  };
  REQUIRE(changed != 40);
  REQUIRE(changed != 41);
  CHECK(takes(40, 41));
  CHECK_FALSE(takes(changed, 41));
  CHECK_FALSE(takes(40, changed));
}

TEST_CASE("who is gone is walked for no further", "[mapped_turns]") {
  const MemoryGraph graph = Mixed();
  const testing::TempDir dir;
  const Stored stored(graph, Shuffled(graph, 2, 3), dir.File("graph"));
  const std::vector<ShardReader> readers = ReadersOf(stored.dataset());
  MappedTurns turns(graph.schema, stored.dataset().book(), kDraw, Pointers(readers),
                    [] { return true; });
  WalkSpec spec;
  spec.metapath = {0};
  spec.length = 3;
  spec.p = 2;
  VICINITY_CHECK_CODE(Walk(graph, stored.dataset(), spec, {17, 18}, &turns).status(),
                      absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace vicinity
