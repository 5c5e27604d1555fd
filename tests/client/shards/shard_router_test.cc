#include "client/shards/shard_router.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "client/shards/cancellation.h"
#include "sampler/local_sampler.h"
#include "sampler/minibatch_sampler.h"
#include "tests/client/routed_graph.h"
#include "tests/sampler/sampled_graphs.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::DescribeInKeys;
using testing::RoutedGraph;

constexpr NodeTypeId kUser{0};
constexpr NodeTypeId kItem{1};

SamplingSpec Spec(const Schema& schema, Expansion expansion, bool replace) {
  SamplingSpec spec = SamplingSpec::Uniform(schema, {4, 3, kAllNeighbors});
  spec.expansion = expansion;
  spec.replace = replace;
  return spec;
}

TEST_CASE("a routed minibatch is that of one process that maps everything", "[shard_router]") {
  const RoutedGraph whole(testing::TypedGraph(300, 200, 40, 2), 1);
  const MinibatchDraw draw{7, 1, 5};
  const auto seeds_in = [&](const RoutedGraph& graph) {
    const std::vector<int64_t> ids = graph.GlobalIds(kUser);
    return std::vector<int64_t>{ids[0], ids[17], ids[200], ids[17], ids[5]};
  };
  std::vector<SamplingSpec> specs;
  std::vector<std::string> expected;
  for (const Expansion expansion : {Expansion::kAllNodes, Expansion::kNewNodes}) {
    for (const bool replace : {false, true}) {
      specs.push_back(Spec(whole.dataset().schema(), expansion, replace));
      VICINITY_ASSERT_OK_AND_ASSIGN(
          const SampledGraph sampled,
          SampleLocal(whole.dataset(), kUser, seeds_in(whole), specs.back(), draw, true));
      expected.push_back(DescribeInKeys(whole.dataset(), sampled));
    }
  }
  for (const int32_t num_shards : {1, 2, 4, 8}) {
    const std::vector<std::vector<int32_t>> far_sets = {{}, {0}, {0, 1, 2, 3, 4, 5, 6, 7}};
    for (const std::vector<int32_t>& far : far_sets) {
      const RoutedGraph cut(testing::TypedGraph(300, 200, 40, 2), num_shards, far);
      MinibatchSampler sampler(cut.router().schema(), cut.router().book());
      for (size_t i = 0; i < specs.size(); ++i) {
        RoutedSource source(cut.router(), draw, nullptr);
        VICINITY_ASSERT_OK_AND_ASSIGN(
            const SampledGraph sampled,
            sampler.Sample(specs[i], kUser, seeds_in(cut), true, &source));
        REQUIRE(DescribeInKeys(cut.dataset(), sampled) == expected[i]);
      }
    }
  }
}

TEST_CASE("a hop is one call a shard, and a fetch one a shard and column", "[shard_router]") {
  RoutedGraph graph(testing::TypedGraph(300, 200, 40, 2), 4, {0, 1, 2, 3});
  const SamplingSpec spec = Spec(graph.dataset().schema(), Expansion::kAllNodes, false);
  RoutedSource source(graph.router(), {7, 1, 5}, nullptr);
  MinibatchSampler sampler(graph.router().schema(), graph.router().book());
  VICINITY_CHECK_OK(sampler.Sample(spec, kUser, graph.GlobalIds(kUser), false, &source));
  CHECK(graph.faults()->calls == 3 * 4);

  graph.faults()->calls = 0;
  const std::vector<int64_t> users = graph.GlobalIds(kUser);
  const std::vector<int64_t> items = graph.GlobalIds(kItem);
  std::string user_rows(users.size() * graph.router().RowBytes(kUser, 0), '?');
  std::string item_rows(items.size() * graph.router().RowBytes(kItem, 0), '?');
  VICINITY_CHECK_OK(graph.router().FetchRows(
      {{kUser, 0, users, {}, user_rows.data()}, {kItem, 0, items, {}, item_rows.data()}}, nullptr));
  int64_t owners = 0;  // small types may leave a shard empty
  for (int32_t s = 0; s < 4; ++s) {
    owners += graph.router().book().num_nodes(kUser, {s}) > 0 ? 1 : 0;
    owners += graph.router().book().num_nodes(kItem, {s}) > 0 ? 1 : 0;
  }
  CHECK(graph.faults()->calls == owners);
  CHECK(user_rows == graph.graph().nodes[0].columns[0]);
  CHECK(item_rows == graph.graph().nodes[1].columns[0]);
}

TEST_CASE("rows go to their positions, repeats and far shards included", "[shard_router]") {
  const RoutedGraph graph(testing::TypedGraph(300, 200, 40, 2), 3, {1});
  const std::vector<int64_t> ids = graph.GlobalIds(kUser);
  const int64_t row_bytes = graph.router().RowBytes(kUser, 0);
  std::vector<int64_t> nodes;
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < 500; ++i) {
    nodes.push_back(ids[i * 7 % 300]);
    positions.push_back(499 - i);
  }
  std::string out(500 * row_bytes, '?');
  VICINITY_CHECK_OK(graph.router().FetchRows({{kUser, 0, nodes, positions, out.data()}}, nullptr));
  for (int64_t i = 0; i < 500; ++i) {
    REQUIRE(out.substr(positions[i] * row_bytes, row_bytes) ==
            graph.graph().row(kUser, 0, i * 7 % 300));
  }
}

TEST_CASE("an error of one shard is the outcome, after all have ended", "[shard_router]") {
  RoutedGraph graph(testing::TypedGraph(300, 200, 40, 2), 4, {1});
  graph.faults()->fail_after = 0;
  RoutedSource source(graph.router(), {7, 1, 5}, nullptr);
  MinibatchSampler sampler(graph.router().schema(), graph.router().book());
  const SamplingSpec spec = Spec(graph.dataset().schema(), Expansion::kAllNodes, false);
  VICINITY_CHECK_CODE(sampler.Sample(spec, kUser, graph.GlobalIds(kUser), false, &source).status(),
                      absl::StatusCode::kUnavailable);
}

TEST_CASE("a cancelled minibatch asks nobody any more", "[shard_router]") {
  RoutedGraph graph(testing::TypedGraph(300, 200, 40, 2), 2, {0, 1});
  Cancellation cancel;
  cancel.Cancel();
  RoutedSource source(graph.router(), {7, 1, 5}, &cancel);
  MinibatchSampler sampler(graph.router().schema(), graph.router().book());
  const SamplingSpec spec = Spec(graph.dataset().schema(), Expansion::kAllNodes, false);
  VICINITY_CHECK_CODE(sampler.Sample(spec, kUser, graph.GlobalIds(kUser), false, &source).status(),
                      absl::StatusCode::kCancelled);
  CHECK(graph.faults()->calls == 0);
}

}  // namespace
}  // namespace vicinity
