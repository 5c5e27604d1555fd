#include "partition/ingest/csc_builder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/ingest/edge_spool.h"
#include "partition/schema/schema.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr ShardId kShard = {0};
constexpr NodeTypeId kNodes = {0};
constexpr EdgeTypeId kLinks = {0};

struct Listed {
  uint64_t key;
  int64_t id;
  int64_t source;
  friend bool operator<(const Listed& a, const Listed& b) {
    return std::tie(a.key, a.id) < std::tie(b.key, b.id);
  }
  friend bool operator==(const Listed& a, const Listed& b) {
    return a.key == b.key && a.id == b.id && a.source == b.source;
  }
};
using Lists = std::vector<std::vector<Listed>>;

// What must be stored, in the plainest way.
struct Expected {
  Lists lists;
  CscResult counts;
  std::set<int64_t> with_edge;
};

Expected Expect(const std::vector<Edge>& edges, const std::vector<uint64_t>& keys,
                const CscSpec& spec) {
  Expected expected;
  expected.lists.resize(keys.size());
  const auto add = [&](int64_t source, int64_t target, int64_t id) {
    expected.lists[static_cast<size_t>(target)].push_back(
        {keys[static_cast<size_t>(source)], id, source});
    expected.with_edge.insert(source);
    expected.with_edge.insert(target);
  };
  const int64_t num_edges = static_cast<int64_t>(edges.size());
  for (int64_t e = 0; e < num_edges; ++e) {
    Edge edge = edges[static_cast<size_t>(e)];
    if (spec.reversed) std::swap(edge.source, edge.target);
    if (spec.drop_self_loops && edge.source == edge.target) {
      ++expected.counts.self_loops_dropped;
      continue;
    }
    add(edge.source, edge.target, e);
    if (spec.add_reverse && edge.source != edge.target) {
      add(edge.target, edge.source, num_edges + e);
      ++expected.counts.reversed;
    }
  }
  for (std::vector<Listed>& list : expected.lists) {
    std::sort(list.begin(), list.end());
    if (spec.dedup) {
      const size_t before = list.size();
      const auto same = [](const Listed& a, const Listed& b) { return a.source == b.source; };
      list.erase(std::unique(list.begin(), list.end(), same), list.end());
      expected.counts.duplicates_dropped += static_cast<int64_t>(before - list.size());
    }
    if (spec.time_of) {
      std::stable_sort(list.begin(), list.end(), [&](const Listed& a, const Listed& b) {
        const auto time_of = [&](const Listed& edge) {
          return spec.time_of(static_cast<uint64_t>(edge.source), static_cast<uint64_t>(edge.id));
        };
        return time_of(a) < time_of(b);
      });
    }
    expected.counts.stored += static_cast<int64_t>(list.size());
    expected.counts.max_degree =
        std::max(expected.counts.max_degree, static_cast<int64_t>(list.size()));
  }
  return expected;
}

Schema OneType() {
  Schema schema;
  schema.node_types.emplace_back();
  schema.node_types[0].name = "node";
  schema.node_types[0].id_kind = IdKind::kInt64;
  EdgeTypeSpec links;
  links.relation = "link";
  schema.edge_types.push_back(links);
  return schema;
}

// Builds into dir/out and compares every list.
void CheckBuild(const std::vector<Edge>& edges, const std::vector<uint64_t>& keys, CscSpec spec) {
  const testing::TempDir dir;
  const auto num_nodes = static_cast<int64_t>(keys.size());
  VICINITY_ASSERT_OK_AND_ASSIGN(Book book, Book::Create({{0, num_nodes}}));
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const auto writer,
      DatasetWriter::Create(dir.File("out"), "test", OneType(), std::move(book)));
  VICINITY_ASSERT_OK_AND_ASSIGN(const OutputArray written, writer->Keys(kShard, kNodes));
  std::copy(keys.begin(), keys.end(), written.as<uint64_t>().begin());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto spool, EdgeSpool::Create(dir.path(), num_nodes));
  VICINITY_REQUIRE_OK(spool->Append(edges));
  VICINITY_ASSERT_OK_AND_ASSIGN(const EdgeList list, spool->Finish());
  std::vector<bool> has_edge(keys.size());
  spec.type = kLinks;
  spec.spool_directory = dir.path();
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const CscResult result,
      BuildCsc(list, spec, KeyOrder::Of(keys), writer.get(), &has_edge, &has_edge, NoProgress()));
  VICINITY_REQUIRE_OK(writer->Finish(nullptr, "test"));

  const Expected expected = Expect(edges, keys, spec);
  CHECK(result.reversed == expected.counts.reversed);
  CHECK(result.self_loops_dropped == expected.counts.self_loops_dropped);
  CHECK(result.duplicates_dropped == expected.counts.duplicates_dropped);
  CHECK(result.stored == expected.counts.stored);
  CHECK(result.max_degree == expected.counts.max_degree);
  for (int64_t node = 0; node < num_nodes; ++node) {
    CHECK(has_edge[static_cast<size_t>(node)] == (expected.with_edge.count(node) > 0));
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(dir.File("out")));
  const EdgeTable& table = dataset->shard(kShard)->edges(kLinks);
  for (int64_t node = 0; node < num_nodes; ++node) {
    std::vector<Listed> found;
    for (int64_t i = table.begin(node); i < table.begin(node) + table.degree(node); ++i) {
      const int64_t source = table.sources[i];
      found.push_back({keys[static_cast<size_t>(source)], table.edge_ids[i], source});
    }
    CHECK((found == expected.lists[static_cast<size_t>(node)]));
  }
}

std::vector<Edge> RandomEdges(int64_t num_nodes, int64_t num_edges, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Edge> edges;
  for (int64_t e = 0; e < num_edges; ++e) {
    // Low numbers are likelier, so that there are hubs, loops and duplicates.
    const auto draw = [&] {
      return static_cast<int64_t>(random() % (1 + random() % static_cast<uint64_t>(num_nodes)));
    };
    edges.push_back({draw(), draw()});
  }
  return edges;
}

// Of few values, so that many are the same; some are below 0, and as far off as can be.
int64_t TimeOf(uint64_t source, uint64_t edge_id) {
  const auto time = static_cast<int64_t>((source * 5 + edge_id * 3) % 13) - 6;
  if (time == 6) return std::numeric_limits<int64_t>::max();
  return time == 5 ? std::numeric_limits<int64_t>::min() : time;
}

TEST_CASE("edges come out in lists by target, sorted by source key and edge id, as asked for",
          "[csc]") {
  CscSpec spec;
  spec.reversed = GENERATE(false, true);
  spec.add_reverse = GENERATE(false, true);
  spec.drop_self_loops = GENERATE(false, true);
  spec.dedup = GENERATE(false, true);
  const bool by_time = GENERATE(false, true);
  if (by_time) spec.time_of = TimeOf;
  CAPTURE(spec.reversed, spec.add_reverse, spec.drop_self_loops, spec.dedup, by_time);
  std::vector<uint64_t> keys(200);
  std::mt19937_64 random(3);
  for (uint64_t& key : keys) key = random();
  CheckBuild(RandomEdges(200, 5000, 1), keys, spec);
}

TEST_CASE("more edges than one sorting takes", "[csc]") {
  std::vector<uint64_t> keys(5000);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  CscSpec spec;
  spec.dedup = true;
  spec.add_reverse = true;
  CheckBuild(RandomEdges(5000, 700000, 2), keys, spec);
}

TEST_CASE("many edges of one target at a few times", "[csc]") {
  std::vector<uint64_t> keys(50);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = 1000 - i;
  std::vector<Edge> edges;
  for (int64_t e = 0; e < 100'000; ++e) edges.push_back({e * 7 % 50, 3});
  CscSpec spec;
  spec.time_of = TimeOf;
  CheckBuild(edges, keys, spec);
}

TEST_CASE("no edges, no nodes, one node: ordinary", "[csc]") {
  CscSpec spec;
  spec.dedup = GENERATE(false, true);
  CheckBuild({}, {}, spec);
  CheckBuild({}, {1, 2, 3}, spec);
  CheckBuild({{0, 0}, {0, 0}}, {7}, spec);
}

TEST_CASE("the order of keys is the identity where they rise", "[csc]") {
  CHECK(KeyOrder::Of({}).rank.empty());
  CHECK(KeyOrder::Of({1, 5, 9}).rank.empty());
  const KeyOrder order = KeyOrder::Of({50, 10, 90});
  CHECK(order.rank == std::vector<int64_t>{1, 0, 2});
  CHECK(order.node == std::vector<int64_t>{1, 0, 2});
}

}  // namespace
}  // namespace vicinity
