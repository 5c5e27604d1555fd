#include "sampler/relations/listed_targets.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "partition/dataset/shard_reader.h"
#include "partition/schema/edge_conditions.h"
#include "sampler/local_sampler.h"
#include "tests/sampler/relations/many_relations.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/graph_overlay.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::ManyRelations;

constexpr NodeTypeId kNodes = ManyRelations::kNodes;
constexpr int kNumRelations = 30;
constexpr int64_t kNumNodes = 200;

// Makes the cache know, which takes milliseconds.
void Teach(const Shard& shard, NonemptyCache* cache) {
  for (int i = 0; i < 2000 && cache->Find(shard, kNodes, 1'000'000) == nullptr; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  REQUIRE(cache->Find(shard, kNodes, 0) != nullptr);
}

std::vector<uint64_t> SomeRows() {
  std::vector<uint64_t> rows;
  for (int64_t i = 0; i < 150; ++i) rows.push_back(i * 37 % kNumNodes);
  rows.push_back(rows.front());
  return rows;
}

// What one way of drawing is given beside its options.
struct Way {
  OneHopOptions options;
  std::vector<uint32_t> trees;
  std::vector<TimeBounds> times;
  std::vector<ExcludedEdge> excluded;
};

std::vector<Way> Ways(const ManyRelations& stored, size_t num_rows) {
  const Schema& schema = stored.schema();
  Way plain;
  plain.options.fanout = 2;
  plain.options.stream = 5;
  plain.options.want_edge_ids = true;
  plain.options.want_edge_positions = true;
  std::vector<Way> ways(8, plain);
  ways[1].options.replace = true;
  ways[2].options.fanout = kAllNeighbors;
  ways[3].options.weighted = true;
  ways[4].options.labor = true;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto conditions, ResolveByEdgeType(schema, "weight > 0.3"));
  ways[5].options.where = conditions[0];
  ways[6].options.time_column = schema.edge_types[0].FindColumn("time");
  ways[6].options.want_edge_times = true;
  for (uint32_t i = 0; i < num_rows; ++i) {
    ways[6].times.push_back({-3, static_cast<int64_t>(i) % 7 - 3});
    ways[6].trees.push_back(i % 11);
    ways[7].trees.push_back(i);
    for (int64_t source = 0; source < kNumNodes; source += 3) {
      ways[7].excluded.push_back({i, source});
    }
  }
  for (Way& way : ways) {
    way.options.trees = way.trees;
    way.options.times = way.times;
    way.options.excluded = way.excluded;
  }
  return ways;
}

bool AreSame(const Neighbors& a, const Neighbors& b) {
  return a.counts == b.counts && a.sources == b.sources && a.edge_ids == b.edge_ids &&
         a.edge_positions == b.edge_positions && a.edge_times == b.edge_times;
}

// Along all relations, twice, one behind the other.
Neighbors Sample(const ManyRelations& stored, const ShardReader& reader,
                 const OneHopOptions& options, NonemptyCache* cache) {
  const std::vector<uint64_t> rows = SomeRows();
  ListedTargets targets(stored.schema(), reader, cache);
  Neighbors out;
  for (const EdgeTypeId type : stored.types()) {
    for (int time = 0; time < 2; ++time) {
      VICINITY_REQUIRE_OK(
          SampleListed(reader, type, kNodes, rows, targets.Of(type, rows), options, &out));
    }
  }
  return out;
}

Neighbors SampleAll(const ManyRelations& stored, const ShardReader& reader,
                    const OneHopOptions& options) {
  Neighbors out;
  for (const EdgeTypeId type : stored.types()) {
    for (int time = 0; time < 2; ++time) {
      VICINITY_REQUIRE_OK(SampleLists(reader, type, kNodes, SomeRows(), options, &out));
    }
  }
  return out;
}

TEST_CASE("what is drawn does not show whether it was known which lists are empty",
          "[listed_targets]") {
  const ManyRelations stored(kNumRelations);
  const ShardReader reader(stored.shard());
  NonemptyCache cache(stored.schema(), kDefaultNonemptyBytes);
  NonemptyCache knows_nothing(stored.schema(), 0);
  Teach(stored.shard(), &cache);
  for (const Way& way : Ways(stored, SomeRows().size())) {
    const Neighbors expected = SampleAll(stored, reader, way.options);
    CHECK(!expected.sources.empty());
    CHECK(AreSame(Sample(stored, reader, way.options, &cache), expected));
    CHECK(AreSame(Sample(stored, reader, way.options, &knows_nothing), expected));
    CHECK(AreSame(Sample(stored, reader, way.options, nullptr), expected));
  }
}

TEST_CASE("the targets that are listed along a relation are those with edges there",
          "[listed_targets]") {
  const ManyRelations stored(kNumRelations);
  const ShardReader reader(stored.shard());
  NonemptyCache cache(stored.schema(), kDefaultNonemptyBytes);
  Teach(stored.shard(), &cache);
  ListedTargets targets(stored.schema(), reader, &cache);
  const std::vector<uint64_t> rows = SomeRows();
  const std::vector<uint64_t> few = {7, 3};
  for (const EdgeTypeId type : stored.types()) {
    const std::vector<int64_t> degrees = stored.Degrees(type);
    for (const std::vector<uint64_t>& some : {rows, few, std::vector<uint64_t>()}) {
      std::vector<uint32_t> expected;
      for (uint32_t i = 0; i < some.size(); ++i) {
        if (degrees[some[i]] > 0) expected.push_back(i);
      }
      const auto listed = targets.Of(type, some);
      if (some.empty()) continue;
      REQUIRE(listed.has_value());
      CHECK(*listed == absl::MakeConstSpan(expected));
    }
  }
}

TEST_CASE("a list that was empty in the files and has changed is drawn from", "[listed_targets]") {
  const ManyRelations stored(kNumRelations);
  testing::MemoryGraph now = stored.graph();
  constexpr int kRelation = 20;
  testing::MemoryEdges& edges = now.edges[kRelation];
  const std::vector<int64_t> degrees = stored.Degrees({kRelation});
  for (const uint64_t row : SomeRows()) {
    if (degrees[row] > 0) continue;
    edges.sources.push_back(9);
    edges.targets.push_back(static_cast<int64_t>(row));
    for (size_t column = 0; column < edges.columns.size(); ++column) {
      edges.columns[column] += stored.graph().edge_row({0}, static_cast<int>(column), 0);
    }
  }
  const testing::GraphOverlay overlay(stored.graph(), now, InUserOrder(now), {0});
  REQUIRE(overlay.num_lists() > 0);
  const ShardReader reader(stored.shard(), &overlay);
  NonemptyCache cache(stored.schema(), kDefaultNonemptyBytes);
  Teach(stored.shard(), &cache);
  for (const Way& way : Ways(stored, SomeRows().size())) {
    CHECK(AreSame(Sample(stored, reader, way.options, &cache),
                  SampleAll(stored, reader, way.options)));
  }
}

TEST_CASE("rows that there are not, and trees or times for others, are refused as ever",
          "[listed_targets]") {
  const ManyRelations stored(kNumRelations);
  const ShardReader reader(stored.shard());
  NonemptyCache cache(stored.schema(), kDefaultNonemptyBytes);
  Teach(stored.shard(), &cache);
  ListedTargets targets(stored.schema(), reader, &cache);
  OneHopOptions options;
  options.fanout = 2;
  Neighbors out;
  const auto sample = [&](const std::vector<uint64_t>& rows) {
    return SampleListed(reader, {29}, kNodes, rows, targets.Of({29}, rows), options, &out);
  };
  VICINITY_CHECK_CODE(sample({3, kNumNodes}), absl::StatusCode::kInvalidArgument);
  const std::vector<uint32_t> trees = {1, 2, 3};
  options.trees = trees;
  VICINITY_CHECK_CODE(sample({3, 4}), absl::StatusCode::kInvalidArgument);
  options.trees = {};
  options.time_column = stored.schema().edge_types[0].FindColumn("time");
  VICINITY_CHECK_CODE(sample({3, 4}), absl::StatusCode::kInvalidArgument);
  const std::vector<TimeBounds> times(3);
  options.times = times;
  VICINITY_CHECK_CODE(sample({3, 4}), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("damaged offsets are noticed by who draws along them, and by nobody else",
          "[listed_targets]") {
  const ManyRelations stored(kNumRelations);
  const ShardReader reader(stored.shard());
  testing::FlipBit(stored.OffsetsOf(3), 200);
  NonemptyCache cache(stored.schema(), kDefaultNonemptyBytes);
  OneHopOptions options;
  options.fanout = 2;
  const std::vector<uint64_t> rows = SomeRows();
  for (int time = 0; time < 20; ++time) {
    ListedTargets targets(stored.schema(), reader, &cache);
    for (const EdgeTypeId type : stored.types()) {
      Neighbors out;
      const absl::Status status =
          SampleListed(reader, type, kNodes, rows, targets.Of(type, rows), options, &out);
      CHECK(status.code() ==
            (type.value == 3 ? absl::StatusCode::kDataLoss : absl::StatusCode::kOk));
    }
  }
}

}  // namespace
}  // namespace vicinity
