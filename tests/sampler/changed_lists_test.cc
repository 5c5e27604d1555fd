// Draws from lists that have changed, long and short ones beside those of the files, are those from
// files that were written anew.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "sampler/local_sampler.h"
#include "sampler/one_hop.h"
#include "tests/testing/graphs/graph_overlay.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr EdgeTypeId kLinks{0};
constexpr int64_t kNodes = 60;

// Nodes 0 to 3 have some 1,000 in-edges, the others some 30.
testing::MemoryGraph Hubs() {
  testing::RandomGraphOptions options;
  options.num_nodes = kNodes;
  options.num_edges = 6'000;
  options.weights = true;
  testing::MemoryGraph graph = testing::RandomGraph(options);
  std::vector<int64_t>& targets = graph.edges[0].targets;
  for (size_t i = 0; i < targets.size(); ++i) {
    targets[i] = i % 3 == 0 ? targets[i] : static_cast<int64_t>(i % 4);
  }
  return graph;
}

// New edges to hubs and others, and some that now end at a hub.
testing::MemoryGraph Changed(testing::MemoryGraph graph) {
  testing::MemoryEdges& edges = graph.edges[0];
  for (int64_t i = 0; i < 40; ++i) {
    edges.sources.push_back(i);
    edges.targets.push_back(i % 2 == 0 ? i % 3 : i);
    const auto weight = static_cast<float>(i % 5);
    edges.columns[0].append(reinterpret_cast<const char*>(&weight), sizeof(weight));
  }
  return graph;
}

TEST_CASE("long and short changed lists are drawn from as if the files had been written anew",
          "[changed_lists]") {
  const testing::MemoryGraph before = Hubs();
  const testing::MemoryGraph now = Changed(before);
  const testing::Placement placement = testing::InUserOrder(before);
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(testing::WriteGraph(before, placement, folder.File("before")));
  VICINITY_REQUIRE_OK(testing::WriteGraph(now, placement, folder.File("now")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto old_files, Dataset::Open(folder.File("before")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto new_files, Dataset::Open(folder.File("now")));
  const testing::GraphOverlay overlay(before, now, placement, ShardId{0});
  const ShardReader changed(*old_files->shards()[0], &overlay);
  const ShardReader anew(*new_files->shards()[0]);

  std::vector<uint64_t> rows(kNodes);
  std::iota(rows.begin(), rows.end(), 0);
  rows.insert(rows.end(), {2, 0, 5});  // some twice
  std::vector<uint32_t> trees(rows.size());
  std::iota(trees.begin(), trees.end(), 0);
  for (const bool weighted : {false, true}) {
    for (const bool replace : {false, true}) {
      for (const int64_t fanout : {int64_t{4}, kAllNeighbors}) {
        if (replace && fanout == kAllNeighbors) continue;
        for (const bool with_trees : {false, true}) {
          CAPTURE(weighted, replace, fanout, with_trees);
          OneHopOptions options;
          options.fanout = fanout;
          options.replace = replace;
          options.weighted = weighted;
          options.want_edge_ids = true;
          options.want_edge_positions = true;
          options.stream = 5;
          if (with_trees) options.trees = trees;
          Neighbors found;
          Neighbors wanted;
          const NodeTypeId node{0};
          VICINITY_REQUIRE_OK(SampleLists(changed, kLinks, node, rows, options, &found));
          VICINITY_REQUIRE_OK(SampleLists(anew, kLinks, node, rows, options, &wanted));
          CHECK(found.counts == wanted.counts);
          CHECK(found.sources == wanted.sources);
          REQUIRE(found.edge_ids == wanted.edge_ids);
          // Positions are where the edges' weights are.
          const auto weights_at = [&](const ShardReader& reader, const Neighbors& neighbors) {
            std::string weights;
            const std::vector<uint64_t> places(neighbors.edge_positions.begin(),
                                               neighbors.edge_positions.end());
            VICINITY_CHECK_OK(reader.ReadRows(
                reader.EdgeColumn(kLinks, 0), places, [] {},
                [&](size_t, const char* row) { weights.append(row, sizeof(float)); }));
            return weights;
          };
          CHECK(weights_at(changed, found) == weights_at(anew, wanted));
        }
      }
    }
  }
}

}  // namespace
}  // namespace vicinity
