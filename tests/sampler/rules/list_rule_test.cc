#include "sampler/rules/list_rule.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/edge_conditions.h"
#include "proto/common/ids.h"
#include "sampler/rules/draw_spec.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::InEdge;

constexpr EdgeTypeId kLinks{0};

testing::MemoryGraph TimedGraph() {
  testing::RandomGraphOptions options;
  options.num_nodes = 20;
  options.num_edges = 400;
  options.weights = true;
  options.times = true;
  return testing::RandomGraph(options);
}

TEST_CASE("a rule allows the edges that it says, of whole lists and of parts", "[list_rule]") {
  const testing::MemoryGraph graph = TimedGraph();
  const testing::TempDir dir;
  VICINITY_REQUIRE_OK(WriteGraph(graph, dir.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("graph")));
  const ShardReader reader(*dataset->shard({0}));
  DrawSpec spec;
  const bool by_time = GENERATE(false, true);
  const bool by_condition = GENERATE(false, true);
  if (by_time) spec.time_column = 1;
  if (by_condition) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto where,
                                  ResolveByEdgeType(graph.schema, "weight > 0.5 or time = -3"));
    spec.where = where[0];
  }
  CHECK(Filters(spec) == (by_time || by_condition));
  ListRule rule(spec);
  CHECK(rule.columns().size() == (by_time ? 1 : 0) + (by_condition ? 2 : 0));
  TimeBounds within;
  within.until = 2;
  within.from = GENERATE(std::numeric_limits<int64_t>::min(), int64_t{-1});
  int64_t num_allowed = 0;
  for (int64_t target = 0; target < 20; ++target) {
    const std::vector<InEdge> list = graph.InEdges(kLinks, target);
    const int64_t first = GENERATE(0, 3);
    VICINITY_REQUIRE_OK(reader.ReadList(
        kLinks, static_cast<uint64_t>(target), first, std::numeric_limits<int64_t>::max(),
        [&](const ListPart& part) {
          VICINITY_ASSERT_OK_AND_ASSIGN(const AllowedEdges allowed,
                                        rule.ReadAndJudge(reader, kLinks, part, within));
          for (int64_t i = 0; i < part.size(); ++i) {
            float weight = 0;
            int64_t time = 0;
            const int64_t edge = list[first + i].edge_id;
            std::memcpy(&weight, graph.edge_row(kLinks, 0, edge).data(), sizeof(weight));
            std::memcpy(&time, graph.edge_row(kLinks, 1, edge).data(), sizeof(time));
            const bool meets = weight > 0.5F || time == -3;
            const bool expected =
                (!by_time || (within.from <= time && time <= 2)) && (!by_condition || meets);
            CHECK(allowed.Has(i) == expected);
            num_allowed += expected ? 1 : 0;
          }
        }));
  }
  CHECK(num_allowed > 20);
}

TEST_CASE("of edges that are all within the bounds in their order, only the condition is asked",
          "[list_rule]") {
  const testing::MemoryGraph graph = TimedGraph();
  DrawSpec spec;
  spec.time_column = 1;
  const bool by_condition = GENERATE(false, true);
  if (by_condition) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto where, ResolveByEdgeType(graph.schema, "time = 3"));
    spec.where = where[0];
  }
  ListRule rule(spec);
  const std::vector<int64_t> times = {std::numeric_limits<int64_t>::min(), -1, 3, 3, 8};
  const std::vector<const char*> values(rule.columns().size(),
                                        reinterpret_cast<const char*>(times.data()));
  const AllowedEdges allowed = rule.JudgeWithin(values, static_cast<int64_t>(times.size()));
  CHECK(allowed.all() == !by_condition);
  CHECK(allowed.times == absl::MakeConstSpan(times));
  for (int64_t i = 0; i < 5; ++i) CHECK(allowed.Has(i) == (!by_condition || times[i] == 3));
  CHECK(rule.JudgeWithin(values, 0).times.empty());
}

TEST_CASE("the edges that are listed are those that may be drawn", "[list_rule]") {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> times = {0, kLeast, kMost, kLeast + 1, kMost - 1, -1, 1};
  std::vector<uint8_t> meets;
  for (int64_t i = 0; i < 100; ++i) times.push_back(i * 37 % 21 - 10);
  for (size_t i = 0; i < times.size(); ++i) meets.push_back(i % 3 == 0 ? 0 : 1);
  const auto count = static_cast<int64_t>(times.size());
  for (const TimeBounds& within : std::vector<TimeBounds>{{kLeast, kMost},
                                                          {kLeast, 0},
                                                          {0, kMost},
                                                          {-3, 4},
                                                          {kLeast, kLeast},
                                                          {kMost, kMost},
                                                          {kLeast + 1, kMost - 1},
                                                          {2, 2},
                                                          {3, -3},
                                                          {kMost, kLeast}}) {
    for (const bool by_time : {false, true}) {
      for (const bool by_condition : {false, true}) {
        AllowedEdges allowed;
        if (by_time) allowed.times = times;
        allowed.within = within;
        if (by_condition) allowed.meets = meets;
        std::vector<int64_t> expected;
        for (int64_t i = 0; i < count; ++i) {
          if (allowed.Has(i)) expected.push_back(i);
        }
        std::vector<int64_t> listed(count);
        listed.resize(allowed.List(count, listed.data()));
        CHECK(listed == expected);
        CHECK(allowed.List(0, listed.data()) == 0);
      }
    }
  }
}

}  // namespace
}  // namespace vicinity
