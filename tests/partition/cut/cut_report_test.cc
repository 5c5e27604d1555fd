#include "partition/cut/cut_report.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "partition/cut/assigner.h"
#include "partition/cut/hash_assigner.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

const CutReport::Load* Find(const CutReport& report, const std::string& what) {
  for (const CutReport::Load& load : report.loads) {
    if (load.what == what) return &load;
  }
  return nullptr;
}

TEST_CASE("cut, halo and loads are those counted one by one", "[partition]") {
  const testing::TempDir folder;
  const testing::MemoryGraph graph = testing::TypedGraph(80, 50, 10, 4);
  const testing::Placement placement = testing::Shuffled(graph, GENERATE(1, 3), 9);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, placement, folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  const int32_t num_shards = GENERATE(1, 2, 5);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Assignment assignment,
                                HashAssigner().Assign(*dataset, num_shards, NoProgress()));
  const CutReport report = ReportCut(*dataset, assignment);

  // shard[type][position]
  std::vector<std::vector<int32_t>> shard;
  std::vector<int64_t> nodes(num_shards);
  std::vector<int64_t> users(num_shards);
  std::vector<int64_t> train(num_shards);
  const NodeTypeSpec& user = graph.schema.node_types[0];
  for (int32_t t = 0; t < 3; ++t) {
    shard.emplace_back(assignment.shard_of[t].size());
    for (size_t node = 0; node < shard[t].size(); ++node) {
      const int32_t owner = assignment.shard_of[t][node];
      const int64_t position =
          placement.PositionOf(NodeTypeId{t}, GlobalNode{static_cast<int64_t>(node)});
      shard[t][position] = owner;
      ++nodes[owner];
      if (t != 0) continue;
      ++users[owner];
      const int column = user.FindColumn(user.split_column);
      const auto split = static_cast<Split>(graph.row(NodeTypeId{0}, column, position)[0]);
      if (split == Split::kTrain) ++train[owner];
    }
  }
  int64_t num_edges = 0;
  int64_t cut = 0;
  std::vector<int64_t> in_edges(num_shards);
  std::vector<std::set<std::pair<int32_t, int64_t>>> halo(num_shards);
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    const EdgeTypeSpec& type = graph.schema.edge_types[e];
    for (size_t i = 0; i < graph.edges[e].sources.size(); ++i) {
      const int64_t source = graph.edges[e].sources[i];
      const int32_t from = shard[type.source_type][source];
      const int32_t to = shard[type.target_type][graph.edges[e].targets[i]];
      ++num_edges;
      ++in_edges[to];
      if (from == to) continue;
      ++cut;
      halo[to].insert({type.source_type, source});
    }
  }
  CHECK(report.num_edges == num_edges);
  CHECK(report.cut_edges == cut);
  REQUIRE(report.halo_nodes.size() == static_cast<size_t>(num_shards));
  for (int32_t s = 0; s < num_shards; ++s) {
    CHECK(report.halo_nodes[s] == static_cast<int64_t>(halo[s].size()));
  }
  for (const auto& [what, expected] :
       std::vector<std::pair<std::string, std::vector<int64_t>>>{{"nodes", nodes},
                                                                 {"nodes of type user", users},
                                                                 {"train nodes", train},
                                                                 {"in-edges", in_edges}}) {
    CAPTURE(what);
    const CutReport::Load* const load = Find(report, what);
    REQUIRE(load != nullptr);
    CHECK(load->by_shard == expected);
    const double total =
        static_cast<double>(std::accumulate(expected.begin(), expected.end(), int64_t{0}));
    const double most = static_cast<double>(*std::max_element(expected.begin(), expected.end()));
    CHECK(load->imbalance == Approx(most * num_shards / total));
  }
}

TEST_CASE("loads that nobody has are left out", "[partition]") {
  const testing::TempDir folder;
  testing::RandomGraphOptions options;
  options.num_edges = 0;
  options.splits = false;
  options.feature_width = 0;
  options.num_classes = 0;
  VICINITY_REQUIRE_OK(testing::WriteGraph(testing::RandomGraph(options), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  const CutReport report = ReportCut(*dataset, MakeAssignment(*dataset, 2));
  CHECK(report.num_edges == 0);
  CHECK(report.cut_edges == 0);
  CHECK(report.halo_nodes == std::vector<int64_t>{0, 0});
  REQUIRE(report.loads.size() == 2);
  CHECK(report.loads[0].what == "nodes");
  CHECK(report.loads[0].by_shard == std::vector<int64_t>{100, 0});
  CHECK(report.loads[0].imbalance == 2);
  CHECK(report.loads[1].what == "other nodes");
}

}  // namespace
}  // namespace vicinity
