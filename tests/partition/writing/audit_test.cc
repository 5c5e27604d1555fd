#include "partition/writing/audit.h"

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>

#include "partition/dataset/manifest.h"
#include "proto/common/checksum.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::MemoryEdges;
using testing::MemoryGraph;
using testing::MemoryNodes;
using testing::Placement;
using testing::TempDir;
using Random = std::mt19937_64;

proto::Audit AuditOf(const MemoryGraph& graph, const Placement& placement) {
  TempDir dir;
  VICINITY_REQUIRE_OK(WriteGraph(graph, placement, dir.File("set")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("set")));
  VICINITY_ASSERT_OK_AND_ASSIGN(proto::Audit audit, ComputeAudit(*dataset, NoProgress()));
  CHECK(audit.SerializeAsString() == dataset->manifest().audit().SerializeAsString());
  return audit;
}

uint64_t HashWords(std::initializer_list<uint64_t> words, uint64_t seed) {
  return Checksum({reinterpret_cast<const char*>(words.begin()), 8 * words.size()}, seed);
}

// docs/formats.md in a second form: what is hashed, from the graph in memory.
proto::Audit Expected(const MemoryGraph& graph) {
  proto::Audit audit;
  for (size_t t = 0; t < graph.nodes.size(); ++t) {
    const MemoryNodes& nodes = graph.nodes[t];
    proto::Audit::Nodes* sums = audit.add_node_types();
    sums->mutable_columns()->Resize(static_cast<int>(nodes.columns.size()), 0);
    sums->mutable_ragged_columns()->Resize(static_cast<int>(nodes.ragged.size()), 0);
    for (size_t i = 0; i < nodes.keys.size(); ++i) {
      const uint64_t node = HashWords({nodes.keys[i]}, t);
      const uint64_t id = nodes.names.empty() ? node : Checksum(nodes.names[i], node);
      sums->set_count(sums->count() + 1);
      sums->set_ids(sums->ids() + id);
      for (int c = 0; c < sums->columns_size(); ++c) {
        sums->set_columns(
            c, sums->columns(c) + Checksum(graph.row({static_cast<int32_t>(t)}, c, i), node));
      }
      for (int c = 0; c < sums->ragged_columns_size(); ++c) {
        sums->set_ragged_columns(c, sums->ragged_columns(c) + Checksum(nodes.ragged[c][i], node));
      }
    }
  }
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    const EdgeTypeSpec& spec = graph.schema.edge_types[e];
    const MemoryEdges& edges = graph.edges[e];
    proto::Audit::Edges* sums = audit.add_edge_types();
    sums->mutable_columns()->Resize(static_cast<int>(edges.columns.size()), 0);
    for (size_t i = 0; i < edges.sources.size(); ++i) {
      const uint64_t edge = HashWords({graph.nodes[spec.source_type].keys[edges.sources[i]],
                                       graph.nodes[spec.target_type].keys[edges.targets[i]], i},
                                      (uint64_t{1} << 32) + e);
      sums->set_count(sums->count() + 1);
      sums->set_ends(sums->ends() + edge);
      for (int c = 0; c < sums->columns_size(); ++c) {
        sums->set_columns(
            c, sums->columns(c) + Checksum(graph.edge_row({static_cast<int32_t>(e)}, c, i), edge));
      }
    }
  }
  return audit;
}

TEST_CASE("an audit is what the formats say, for any cut and order", "[partition]") {
  const MemoryGraph graph = testing::TypedGraph(60, 40, 9, 3);
  const std::string expected = Expected(graph).DebugString();
  CHECK(AuditOf(graph, InUserOrder(graph)).DebugString() == expected);
  CHECK(AuditOf(graph, Shuffled(graph, 1, 5)).DebugString() == expected);
  CHECK(AuditOf(graph, Shuffled(graph, 4, 6)).DebugString() == expected);
  VICINITY_CHECK_OK(CompareAudits(graph.schema, Expected(graph), Expected(graph)));
}

// Swaps two rows of `row_bytes`. False if they were the same.
bool SwapRows(std::string* rows, int64_t row_bytes, int64_t a, int64_t b) {
  const std::string first = rows->substr(a * row_bytes, row_bytes);
  const std::string second = rows->substr(b * row_bytes, row_bytes);
  rows->replace(a * row_bytes, row_bytes, second);
  rows->replace(b * row_bytes, row_bytes, first);
  return first != second;
}

void DropEdge(MemoryEdges* edges, int64_t i, int64_t row_bytes) {
  edges->sources.erase(edges->sources.begin() + i);
  edges->targets.erase(edges->targets.begin() + i);
  for (std::string& column : edges->columns) column.erase(i * row_bytes, row_bytes);
}

// One random change of content. False if it came out the same.
bool Mutate(Random* random, MemoryGraph* graph) {
  MemoryEdges& buys = graph->edges[0];  // with a weight of 4 bytes
  MemoryNodes& users = graph->nodes[0];
  const int64_t num_edges = static_cast<int64_t>(buys.sources.size());
  const int64_t edge = static_cast<int64_t>((*random)() % num_edges);
  const int64_t other = static_cast<int64_t>((*random)() % num_edges);
  const int64_t user = static_cast<int64_t>((*random)() % users.keys.size());
  const int64_t friend_ = static_cast<int64_t>((*random)() % users.keys.size());
  switch ((*random)() % 9) {
    case 0:  // an edge less
      DropEdge(&buys, edge, 4);
      return true;
    case 1:  // the last one doubled in the place of another
      buys.sources[edge] = buys.sources[other];
      buys.targets[edge] = buys.targets[other];
      return edge != other;
    case 2:  // two edges' targets swapped
      std::swap(buys.targets[edge], buys.targets[other]);
      return buys.targets[edge] != buys.targets[other] && buys.sources[edge] != buys.sources[other];
    case 3:  // one bit of a weight
      buys.columns[0][4 * edge + 1] ^= 16;
      return true;
    case 4:
      return SwapRows(&buys.columns[0], 4, edge, other);
    case 5:  // one bit of a feature row
      users.columns[0][20 * user + 7] ^= 1;
      return true;
    case 6:
      return SwapRows(&users.columns[0], 20, user, friend_);
    case 7:
      std::swap(users.keys[user], users.keys[friend_]);
      return user != friend_;
    default:  // a user's id changes
      users.keys[user] ^= uint64_t{1} << 63;
      return true;
  }
}

TEST_CASE("verify finds any change of content that has right checksums and order", "[partition]") {
  const MemoryGraph graph = testing::TypedGraph(30, 20, 5, 8);
  const proto::Audit imported = Expected(graph);
  Random random(13);
  int mutations = 0;
  while (mutations < 100) {
    MemoryGraph mutated = graph;
    if (!Mutate(&random, &mutated)) continue;
    ++mutations;
    TempDir dir;
    VICINITY_REQUIRE_OK(WriteGraph(mutated, dir.File("set")));
    VICINITY_REQUIRE_OK(VerifyDataset(dir.File("set"), NoProgress()));
    VICINITY_ASSERT_OK_AND_ASSIGN(proto::Manifest manifest, ReadManifest(dir.File("set")));
    *manifest.mutable_audit() = imported;
    VICINITY_REQUIRE_OK(WriteManifest(dir.File("set"), manifest));
    VICINITY_CHECK_CODE(VerifyDataset(dir.File("set"), NoProgress()), absl::StatusCode::kDataLoss);
  }
}

TEST_CASE("verify finds a flipped bit in any file", "[partition]") {
  TempDir dir;
  const MemoryGraph graph = testing::TypedGraph(30, 20, 5, 8);
  VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 2, 4), dir.File("set")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Manifest manifest, ReadManifest(dir.File("set")));
  for (const proto::ShardEntry& shard : manifest.shards()) {
    for (const proto::FileEntry& file : shard.files()) {
      const std::string path = dir.File("set/" + file.path());
      testing::FlipBit(path, static_cast<int64_t>(file.size()) - 1, 3);
      const absl::Status status = VerifyDataset(dir.File("set"), NoProgress());
      VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
      CHECK_THAT(std::string(status.message()), Catch::Contains(path));
      testing::FlipBit(path, static_cast<int64_t>(file.size()) - 1, 3);
    }
  }
  VICINITY_CHECK_OK(VerifyDataset(dir.File("set"), NoProgress()));
}

TEST_CASE("a difference between audits names type and column", "[partition]") {
  const MemoryGraph graph = testing::TypedGraph(6, 5, 4, 3);
  const proto::Audit good = Expected(graph);
  const auto compared = [&](const proto::Audit& found) {
    const absl::Status status = CompareAudits(graph.schema, good, found);
    VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
    return std::string(status.message());
  };
  proto::Audit bad = good;
  bad.mutable_node_types(1)->set_columns(1, 5);
  CHECK_THAT(compared(bad), Catch::Contains("item") && Catch::Contains("price"));
  bad = good;
  bad.mutable_node_types(2)->set_ids(5);
  CHECK_THAT(compared(bad), Catch::Contains("tag"));
  bad = good;
  bad.mutable_edge_types(0)->set_columns(0, 5);
  CHECK_THAT(compared(bad), Catch::Contains("user:buys:item") && Catch::Contains("weight"));
  bad = good;
  bad.mutable_edge_types(3)->set_count(5);
  CHECK_THAT(compared(bad), Catch::Contains("user:knows:user"));
  bad = good;
  bad.mutable_edge_types(3)->set_ends(5);
  CHECK_THAT(compared(bad), Catch::Contains("user:knows:user"));
  for (int part = 0; part < 4; ++part) {
    bad = good;
    if (part == 0) bad.mutable_node_types()->RemoveLast();
    if (part == 1) bad.mutable_edge_types()->RemoveLast();
    if (part == 2) bad.mutable_node_types(0)->mutable_columns()->RemoveLast();
    if (part == 3) bad.Clear();
    compared(bad);
    VICINITY_CHECK_CODE(CompareAudits(graph.schema, bad, bad).ok()
                            ? CompareAudits(graph.schema, bad, good)
                            : absl::DataLossError(""),
                        absl::StatusCode::kDataLoss);
  }
}

TEST_CASE("a part of a dataset has no audit", "[partition]") {
  TempDir dir;
  const MemoryGraph graph = testing::RandomGraph({});
  VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 2, 1), dir.File("set")));
  Dataset::Options options;
  options.shards = {{1}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("set"), options));
  VICINITY_CHECK_CODE(ComputeAudit(*dataset, NoProgress()), absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("an audit of damaged lists says so instead of reading outside", "[partition]") {
  TempDir dir;
  const MemoryGraph graph = testing::RandomGraph({});
  VICINITY_REQUIRE_OK(WriteGraph(graph, dir.File("set")));
  const std::string prefix = dir.File("set/shard-00000/edges.node.links.node.");
  const bool offsets = GENERATE(false, true);
  if (offsets) {
    testing::OverwriteValue(prefix + "offsets", 72, UINT64_MAX);
  } else {
    testing::OverwriteValue(prefix + "sources", 64, UINT32_MAX);
  }
  Dataset::Options options;
  options.check_bytes = 0;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("set"), options));
  VICINITY_CHECK_CODE(ComputeAudit(*dataset, NoProgress()), absl::StatusCode::kDataLoss);
}

TEST_CASE("what is no dataset cannot be verified", "[partition]") {
  TempDir dir;
  VICINITY_CHECK_CODE(VerifyDataset(dir.path(), NoProgress()), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace vicinity
