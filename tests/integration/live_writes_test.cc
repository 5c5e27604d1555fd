// A writer of the library against real servers: a graph that is streamed into them is the one that
// is written at once.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "client/graph.h"
#include "client/types/result.h"
#include "client/types/write_values.h"
#include "client/writer.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "sampler/sampled_graph.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::MemoryEdges;
using testing::MemoryGraph;
using testing::MemoryNodes;
using testing::SmallCluster;

constexpr int32_t kNumShards = 3;

template <typename T>
T Value(Result<T> result) {
  INFO(result.error().message());
  REQUIRE(result.ok());
  return *std::move(result);
}

// The first half of each type's nodes, and a tenth of the edges among them.
MemoryGraph BaseOf(const MemoryGraph& whole) {
  MemoryGraph base;
  base.schema = whole.schema;
  for (size_t t = 0; t < whole.nodes.size(); ++t) {
    const MemoryNodes& from = whole.nodes[t];
    MemoryNodes& to = base.nodes.emplace_back();
    const size_t count = from.keys.size() / 2;
    to.keys.assign(from.keys.begin(), from.keys.begin() + count);
    if (!from.names.empty()) to.names.assign(from.names.begin(), from.names.begin() + count);
    for (size_t c = 0; c < from.columns.size(); ++c) {
      const int64_t width = whole.schema.node_types[t].columns[c].row_bytes();
      to.columns.push_back(from.columns[c].substr(0, count * width));
    }
    for (const auto& rows : from.ragged) to.ragged.emplace_back(rows.begin(), rows.begin() + count);
  }
  return base;
}

bool IsInBase(const MemoryGraph& whole, int32_t type, int64_t edge) {
  const EdgeTypeSpec& spec = whole.schema.edge_types[type];
  const auto is_old = [&](int32_t node_type, int64_t position) {
    return position < static_cast<int64_t>(whole.nodes[node_type].keys.size() / 2);
  };
  return edge % 10 == 0 && is_old(spec.source_type, whole.edges[type].sources[edge]) &&
         is_old(spec.target_type, whole.edges[type].targets[edge]);
}

void AddBaseEdges(const MemoryGraph& whole, MemoryGraph* base) {
  for (size_t t = 0; t < whole.edges.size(); ++t) {
    const MemoryEdges& from = whole.edges[t];
    MemoryEdges& to = base->edges.emplace_back();
    to.columns.resize(from.columns.size());
    for (size_t e = 0; e < from.sources.size(); ++e) {
      if (!IsInBase(whole, static_cast<int32_t>(t), static_cast<int64_t>(e))) continue;
      to.sources.push_back(from.sources[e]);
      to.targets.push_back(from.targets[e]);
      for (size_t c = 0; c < from.columns.size(); ++c) {
        to.columns[c] +=
            whole.edge_row({static_cast<int32_t>(t)}, static_cast<int>(c), static_cast<int64_t>(e));
      }
    }
  }
}

std::vector<char> Bytes(std::string_view text) { return {text.begin(), text.end()}; }

// Servers of the base, a graph of them, and which node is where.
class LiveWritesTest {
 public:
  LiveWritesTest() : whole_(testing::TypedGraph(60, 40, 20, 5)), base_(BaseOf(whole_)) {
    AddBaseEdges(whole_, &base_);
    cluster_ = std::make_unique<SmallCluster>(base_, kNumShards, 2, SmallCluster::Kind::kLive);
    GraphOptions options;
    options.cluster_file = cluster_->cluster_file();
    graph_ = Value(Graph::Open(options));
    writer_ = Value(Writer::Create(graph_.get()));
    for (size_t t = 0; t < base_.nodes.size(); ++t) {
      ids_.push_back(cluster_->GlobalIds({static_cast<int32_t>(t)}));
    }
  }

 protected:
  const NodeTypeSpec& Type(int32_t type) const { return whole_.schema.node_types[type]; }
  int64_t Half(int32_t type) const {
    return static_cast<int64_t>(whole_.nodes[type].keys.size() / 2);
  }

  // Nodes at positions [begin, end) of the whole graph.
  NewNodes NodesOf(int32_t type, int64_t begin, int64_t end) const {
    const MemoryNodes& from = whole_.nodes[type];
    NewNodes nodes;
    nodes.node_type = Type(type).name;
    for (int64_t i = begin; i < end; ++i) {
      if (Type(type).id_kind == IdKind::kString) {
        nodes.names.push_back(from.names[i]);
      } else {
        nodes.ids.push_back(static_cast<int64_t>(from.keys[i]));
      }
    }
    for (size_t c = 0; c < from.columns.size(); ++c) {
      const ColumnSpec& spec = Type(type).columns[c];
      const int64_t width = spec.row_bytes();
      nodes.columns.push_back(
          {spec.name, spec.dtype,
           Bytes(std::string_view(from.columns[c]).substr(begin * width, (end - begin) * width))});
    }
    for (size_t c = 0; c < from.ragged.size(); ++c) {
      const RaggedSpec& spec = Type(type).ragged[c];
      GivenRagged column{spec.name, spec.dtype};
      int64_t at = 0;
      for (int64_t i = begin; i < end; ++i) {
        const std::string& row = from.ragged[c][i];
        const auto count = static_cast<int64_t>(row.size()) / spec.item_bytes();
        const char* values = row.data();
        if (spec.is_sparse()) {
          const size_t before = column.indices.size();
          column.indices.resize(before + count);
          std::memcpy(column.indices.data() + before, values, count * sizeof(int32_t));
          values += count * sizeof(int32_t);
        }
        column.values.insert(column.values.end(), values, values + count * DTypeBytes(spec.dtype));
        column.row_ends.push_back(at += count);
      }
      nodes.ragged.push_back(std::move(column));
    }
    return nodes;
  }

  // Edges of the whole graph, whose ends are there.
  NewEdges EdgesOf(int32_t type, const std::vector<int64_t>& edges) const {
    const EdgeTypeSpec& spec = whole_.schema.edge_types[type];
    const MemoryEdges& from = whole_.edges[type];
    NewEdges out;
    out.edge_type = whole_.schema.EdgeTypeName(type);
    for (const int64_t e : edges) {
      out.sources.push_back(ids_[spec.source_type][from.sources[e]]);
      out.targets.push_back(ids_[spec.target_type][from.targets[e]]);
    }
    for (size_t c = 0; c < from.columns.size(); ++c) {
      GivenColumn column{spec.columns[c].name, spec.columns[c].dtype};
      for (const int64_t e : edges) {
        const std::string_view row = whole_.edge_row({type}, static_cast<int>(c), e);
        column.bytes.insert(column.bytes.end(), row.begin(), row.end());
      }
      out.columns.push_back(std::move(column));
    }
    return out;
  }

  Written Write(const GraphChanges& changes) { return Value(writer_->Write(changes)); }

  void AddAllNodes() {
    GraphChanges changes;
    for (size_t t = 0; t < whole_.nodes.size(); ++t) {
      const auto type = static_cast<int32_t>(t);
      const auto count = static_cast<int64_t>(whole_.nodes[t].keys.size());
      changes.new_nodes.push_back(NodesOf(type, Half(type), count));
    }
    const Written written = Write(changes);
    REQUIRE(written.refused.empty());
    for (size_t t = 0; t < whole_.nodes.size(); ++t) {
      ids_[t].insert(ids_[t].end(), written.node_ids[t].begin(), written.node_ids[t].end());
    }
  }

  // Those that the base has not, by type.
  std::vector<std::pair<int32_t, int64_t>> EdgesToAdd() const {
    std::vector<std::pair<int32_t, int64_t>> edges;
    for (size_t t = 0; t < whole_.edges.size(); ++t) {
      for (size_t e = 0; e < whole_.edges[t].sources.size(); ++e) {
        const auto type = static_cast<int32_t>(t);
        if (!IsInBase(whole_, type, static_cast<int64_t>(e))) edges.emplace_back(type, e);
      }
    }
    return edges;
  }

  // What anybody reads is what the whole graph holds: ids, rows, ragged rows, and of each node the
  // edges that lead to it with their columns.
  void CheckIsWhole() const {
    for (size_t t = 0; t < whole_.nodes.size(); ++t) CheckNodes(static_cast<int32_t>(t));
    for (size_t t = 0; t < whole_.edges.size(); ++t) CheckLists(static_cast<int32_t>(t));
  }

  void CheckNodes(int32_t type) const {
    const MemoryNodes& nodes = whole_.nodes[type];
    if (Type(type).id_kind == IdKind::kString) {
      CHECK(Value(graph_->Resolve(type, nodes.names)) == ids_[type]);
      CHECK(Value(graph_->UserNames(type, ids_[type])) == nodes.names);
    } else {
      const std::vector<int64_t> user_ids(nodes.keys.begin(), nodes.keys.end());
      CHECK(Value(graph_->Resolve(type, user_ids)) == ids_[type]);
    }
    for (size_t c = 0; c < nodes.columns.size(); ++c) {
      const Rows rows = Value(graph_->Fetch(type, Type(type).columns[c].name, ids_[type]));
      CHECK(std::string(rows.bytes.begin(), rows.bytes.end()) == nodes.columns[c]);
    }
    const auto num_nodes = static_cast<int64_t>(nodes.keys.size());
    for (const GivenRagged& column : NodesOf(type, 0, num_nodes).ragged) {
      const RaggedRows rows = Value(graph_->FetchRagged(type, column.name, ids_[type]));
      CHECK(rows.row_ends == column.row_ends);
      CHECK(rows.indices == column.indices);
      CHECK(std::vector<char>(rows.values.begin(), rows.values.end()) == column.values);
    }
  }

  // An edge by its target, source (positions) and columns.
  using Edge = std::tuple<int64_t, int64_t, std::string>;

  void CheckLists(int32_t type) const {
    const EdgeTypeSpec& spec = whole_.schema.edge_types[type];
    std::vector<Edge> expected;
    for (size_t e = 0; e < whole_.edges[type].sources.size(); ++e) {
      Edge edge{whole_.edges[type].targets[e], whole_.edges[type].sources[e], ""};
      for (size_t c = 0; c < spec.columns.size(); ++c) {
        std::get<2>(edge) += whole_.edge_row({type}, static_cast<int>(c), static_cast<int64_t>(e));
      }
      expected.push_back(std::move(edge));
    }
    std::sort(expected.begin(), expected.end());
    CHECK(ReadEdges(type) == expected);
  }

  std::vector<Edge> ReadEdges(int32_t type) const {
    const EdgeTypeSpec& spec = whole_.schema.edge_types[type];
    std::map<int64_t, int64_t> position;
    for (size_t i = 0; i < ids_[spec.source_type].size(); ++i) {
      position[ids_[spec.source_type][i]] = static_cast<int64_t>(i);
    }
    SamplingSpec all;
    all.fanouts.emplace_back(whole_.schema.edge_types.size(), 0);
    all.fanouts[0][type] = kAllNeighbors;
    EdgeDetail detail;
    detail.ids = true;
    detail.positions = true;
    const SampledGraph sampled =
        Value(graph_->Sample(spec.target_type, ids_[spec.target_type], all, DrawId(), detail));
    std::vector<Edge> edges;
    for (const Block& block : sampled.hops[0]) {
      if (block.edge_type != type) continue;
      for (int64_t target = 0; target < block.num_targets(); ++target) {
        for (int64_t i = block.offsets[target]; i < block.offsets[target + 1]; ++i) {
          const int64_t source = sampled.nodes[spec.source_type].ids[block.sources[i]];
          edges.emplace_back(target, position.at(source), "");
        }
      }
    }
    for (const ColumnSpec& column : spec.columns) {
      for (const EdgeRows& rows : Value(graph_->FetchEdges(sampled, type, column.name))) {
        const int64_t width = column.row_bytes();
        for (int64_t i = 0; i < rows.num_rows; ++i) {
          std::get<2>(edges[i]).append(rows.bytes.data() + i * width, width);
        }
      }
    }
    std::sort(edges.begin(), edges.end());
    return edges;
  }

  const MemoryGraph whole_;
  MemoryGraph base_;
  std::unique_ptr<SmallCluster> cluster_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Writer> writer_;
  std::vector<std::vector<int64_t>> ids_;  // global, of each type, by position
};

TEST_CASE_METHOD(LiveWritesTest, "a graph that is streamed edge by edge is the one written at once",
                 "[live]") {
  AddAllNodes();
  for (const auto& [type, edge] : EdgesToAdd()) {
    GraphChanges changes;
    changes.new_edges = {EdgesOf(type, {edge})};
    const Written written = Write(changes);
    REQUIRE(written.num_applied == 1);
    REQUIRE(written.edge_ids[0][0] >= static_cast<int64_t>(base_.edges[type].sources.size()));
  }
  CheckIsWhole();
}

TEST_CASE_METHOD(LiveWritesTest, "and so is one that many threads write", "[live]") {
  AddAllNodes();
  const auto edges = EdgesToAdd();
  constexpr size_t kThreads = 4;
  std::atomic<int64_t> applied{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (size_t begin = t * 7; begin < edges.size(); begin += kThreads * 7) {
        std::map<int32_t, std::vector<int64_t>> by_type;
        for (size_t i = begin; i < std::min(begin + 7, edges.size()); ++i) {
          by_type[edges[i].first].push_back(edges[i].second);
        }
        GraphChanges changes;
        for (const auto& [type, list] : by_type) changes.new_edges.push_back(EdgesOf(type, list));
        const Result<Written> written = writer_->Write(changes);
        if (written.ok()) applied += written->num_applied;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(applied == static_cast<int64_t>(edges.size()));
  CheckIsWhole();
}

TEST_CASE_METHOD(LiveWritesTest, "other values are read, and a row that is wrong takes no other",
                 "[live]") {
  AddAllNodes();
  const int32_t user = whole_.schema.FindNodeType("user");
  const int32_t buys = whole_.schema.FindEdgeType("buys");
  GraphChanges changes;
  // Half of them are there already.
  changes.new_nodes = {NodesOf(user, Half(user) - 5, Half(user) + 5)};
  const std::vector<int64_t> labels = {2, 3, 1};
  std::vector<int32_t> values(labels.begin(), labels.end());
  changes.node_values = {{"user",
                          {ids_[user][1], ids_[user][40], int64_t{1} << 30},
                          {GivenColumn::Of("label", values)}}};
  const Written written = Write(changes);
  CHECK(written.refused.size() == 11);
  CHECK(written.num_applied == 2);
  for (size_t i = 0; i < 10; ++i) {
    CHECK(written.refused[i].what.row == static_cast<int64_t>(i));
    CHECK(written.refused[i].why.code() == ErrorCode::kAlreadyExists);
  }
  CHECK(written.refused[10].what.kind == ChangeKind::kNodeValues);
  CHECK(written.refused[10].why.code() == ErrorCode::kNotFound);
  const Rows rows = Value(graph_->Fetch(user, "label", {ids_[user][40], ids_[user][1]}));
  CHECK(std::vector<char>(rows.bytes.begin(), rows.bytes.end()) ==
        internal::BytesOf(std::vector<int32_t>{3, 2}));
  CHECK(written.versions.size() <= kNumShards);

  // A source that is nowhere, which its target's shard cannot tell.
  GraphChanges stray;
  stray.new_edges = {EdgesOf(buys, {0, 1})};
  stray.new_edges[0].sources[1] = int64_t{1} << 30;
  CHECK(Write(stray).refused.size() == 1);

  // Weights, which draws go by.
  GraphChanges weights;
  weights.new_edges = {EdgesOf(buys, {0, 1})};
  const std::vector<int64_t> ids = Write(weights).edge_ids[0];
  weights = {};
  weights.edge_values = {{"buys",
                          EdgesOf(buys, {0, 1}).targets,
                          ids,
                          {GivenColumn::Of("weight", std::vector<float>{5, -1})}}};
  const Written weighed = Write(weights);
  REQUIRE(weighed.refused.size() == 1);
  CHECK(weighed.refused[0].what.row == 1);
}

TEST_CASE_METHOD(LiveWritesTest, "edges and nodes go, in whichever shards they are", "[live]") {
  AddAllNodes();
  const int32_t user = whole_.schema.FindNodeType("user");
  const int32_t knows = whole_.schema.FindEdgeType("knows");
  std::vector<int64_t> all(whole_.edges[knows].sources.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<int64_t> added;
  for (const int64_t edge : all) {
    if (!IsInBase(whole_, knows, edge)) added.push_back(edge);
  }
  GraphChanges changes;
  changes.new_edges = {EdgesOf(knows, added)};
  const Written edges = Write(changes);
  CheckLists(knows);

  const NewEdges named = EdgesOf(knows, added);
  changes = {};
  changes.removed_edges = {{"knows", named.targets, edges.edge_ids[0]}};
  CHECK(Write(changes).num_applied == static_cast<int64_t>(added.size()));
  CHECK(ReadEdges(knows).size() == all.size() - added.size());
  CHECK(Write(changes).refused.size() == added.size());

  changes = {};
  for (int64_t i = 0; i < 60; i += 4) {
    changes.removed_nodes.push_back({"user", {ids_[user][i]}});
  }
  CHECK(Write(changes).num_applied == 15);
  const Written again = Write(changes);
  CHECK(again.refused.size() == 15);
  CHECK(again.refused[0].why.code() == ErrorCode::kNotFound);
  std::vector<int64_t> user_ids;
  for (int64_t i = 0; i < 60; ++i) {
    user_ids.push_back(static_cast<int64_t>(whole_.nodes[user].keys[i]));
  }
  const std::vector<int64_t> resolved = Value(graph_->Resolve(user, user_ids));
  for (int64_t i = 0; i < 60; ++i) CHECK(resolved[i] == (i % 4 == 0 ? -1 : ids_[user][i]));
  for (const Edge& edge : ReadEdges(knows)) CHECK(std::get<0>(edge) % 4 != 0);

  // Their ids are free for others.
  changes = {};
  changes.new_nodes = {NodesOf(user, 0, 1)};
  CHECK(Write(changes).num_applied == 1);
}

TEST_CASE_METHOD(LiveWritesTest, "a graph at its versions is not written to", "[live]") {
  const std::unique_ptr<Graph> pinned = Value(graph_->At(Value(graph_->Versions())));
  CHECK(Writer::Create(pinned.get()).error().code() == ErrorCode::kFailedPrecondition);
}

}  // namespace
}  // namespace vicinity
