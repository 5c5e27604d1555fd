#include "client/changes.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/graph.h"
#include "client/types/change_values.h"
#include "client/types/result.h"
#include "client/types/write_values.h"
#include "client/writer.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity {
namespace {

using testing::SmallCluster;

template <typename T>
T Value(Result<T> result) {
  INFO(result.error().message());
  REQUIRE(result.ok());
  return *std::move(result);
}

std::unique_ptr<Graph> OpenCluster(const SmallCluster& cluster) {
  GraphOptions options;
  options.cluster_file = cluster.cluster_file();
  return Value(Graph::Open(options));
}

TEST_CASE("what was written is told by shard, version, kind and column", "[live]") {
  const SmallCluster cluster(testing::TypedGraph(30, 20, 10, 2), 3, 2, SmallCluster::Kind::kLive);
  const std::unique_ptr<Graph> graph = OpenCluster(cluster);
  const std::unique_ptr<Writer> writer = Value(Writer::Create(graph.get()));
  const std::vector<ShardState> before = Value(ReadShardStates(*graph));
  REQUIRE(before.size() == 3);
  int64_t users = 0;
  for (const ShardState& shard : before) {
    CHECK(shard.version == 0);
    users += shard.num_nodes[0];
    CHECK(Value(ReadChanges(*graph, shard.shard, 0, 10)).empty());
  }
  CHECK(users == 30);

  GraphChanges changes;
  changes.new_nodes = {{"tag", {50, 51, 52, 53}}};
  changes.new_edges = {{"knows", {1, 2, 3}, {4, 5, 6}}};
  const std::vector<char> split = {1, 2};
  changes.node_values = {{"user", {7, 8}, {{"split", DType::kUint8, split}}}};
  changes.removed_nodes = {{"tag", {1, 2}}};
  const Written written = Value(writer->Write(changes));
  REQUIRE(written.refused.empty());

  std::map<std::pair<ChangeKind, std::string>, int64_t> counts;
  std::map<ChangeKind, std::set<int64_t>> nodes;
  std::set<std::array<int64_t, 3>> edges;  // source, target, id
  std::map<int32_t, uint64_t> versions;
  for (const ShardState& shard : Value(ReadShardStates(*graph))) {
    for (const ShardChange& change : Value(ReadChanges(*graph, shard.shard, 0, 10))) {
      CHECK(change.shard == shard.shard);
      CHECK(change.version == ++versions[shard.shard]);
      CHECK(change.session.size() == 16);
      CHECK(change.unix_micros > 0);
      for (const ChangeCount& count : change.counts) {
        counts[{count.kind, count.column}] += count.count;
        nodes[count.kind].insert(count.nodes.begin(), count.nodes.end());
        for (size_t e = 0; e < count.sources.size(); ++e) {
          edges.insert({count.sources[e], count.nodes[e], count.edge_ids[e]});
        }
      }
    }
    CHECK(versions[shard.shard] == shard.version);
  }
  CHECK(counts[{ChangeKind::kNewNodes, ""}] == 4);
  CHECK(counts[{ChangeKind::kNewEdges, ""}] == 3);
  CHECK(counts[{ChangeKind::kNodeValues, "split"}] == 2);
  // Those whose key is listed elsewhere count there, too.
  CHECK(counts[{ChangeKind::kRemovedNodes, ""}] >= 2);
  CHECK(counts[{ChangeKind::kRemovedNodes, ""}] <= 4);
  // With the ids that the writer was told.
  const std::vector<int64_t>& tags = written.node_ids[0];
  CHECK(nodes[ChangeKind::kNewNodes] == std::set<int64_t>(tags.begin(), tags.end()));
  CHECK(nodes[ChangeKind::kNodeValues] == std::set<int64_t>{7, 8});
  CHECK(nodes[ChangeKind::kRemovedNodes] == std::set<int64_t>{1, 2});
  const std::vector<int64_t>& ids = written.edge_ids[0];
  CHECK(edges == std::set<std::array<int64_t, 3>>{{1, 4, ids[0]}, {2, 5, ids[1]}, {3, 6, ids[2]}});

  CHECK(ReadChanges(*graph, 3, 0, 1).error().code() == ErrorCode::kInvalidArgument);
  CHECK(ReadChanges(*graph, 0, 0, 0).error().code() == ErrorCode::kInvalidArgument);
  CHECK(ReadChanges(*graph, 0, 0, 65'537).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("in a graph that is read-only nothing changes", "[live]") {
  const SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  const std::unique_ptr<Graph> graph = OpenCluster(cluster);
  CHECK(ReadShardStates(*graph).error().code() == ErrorCode::kFailedPrecondition);
  CHECK(ReadChanges(*graph, 0, 0, 1).error().code() == ErrorCode::kFailedPrecondition);
}

}  // namespace
}  // namespace vicinity
