#include "client/planning/batch_nodes.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "client/query/query_text.h"
#include "proto/common/ids.h"
#include "sampler/local_sampler.h"
#include "sampler/minibatch_sampler.h"
#include "tests/client/query/run_query.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

SeedBatch Batch(std::vector<int64_t> seeds, uint64_t number) {
  SeedBatch batch;
  batch.seeds.push_back({NodeTypeId{0}, std::move(seeds)});
  batch.draw = testing::Draw(number);
  return batch;
}

TEST_CASE("without a query batches are minibatches, induced ones without their edges",
          "[planning]") {
  const testing::RoutedGraph graph(testing::RandomGraph({}), 3);
  SamplingSpec spec = SamplingSpec::Uniform(graph.router().schema(), {3, 2});
  spec.subgraph = GENERATE(Subgraph::kDirectional, Subgraph::kInduced);
  spec.disjoint = GENERATE(false, true);
  const std::unique_ptr<BatchNodes> nodes = NewBatchNodes(graph.dataset(), spec, nullptr);
  MinibatchSampler sampler(graph.router().schema(), graph.router().book());
  for (uint64_t number = 0; number < 3; ++number) {
    const SeedBatch batch = Batch({5, 60, 99}, number);
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<SampledNodes> found, nodes->Of(batch));
    LocalNeighborSource source(graph.dataset(), batch.draw);
    VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph sampled,
                                  sampler.Sample(spec, batch.seeds, false, &source));
    REQUIRE(found.size() == 1);
    CHECK(found[0].ids == sampled.nodes[0].ids);
    CHECK(found[0].trees == sampled.nodes[0].trees);
  }
}

TEST_CASE("with a query batches are its answers", "[planning]") {
  const testing::RoutedGraph graph(testing::RandomGraph({}), 3);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Query query,
                                ParseQuery("src = nodes(node, $seeds); w = walk(src, links, 3)"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<QueryBatches> batches,
                                QueryBatches::Create(graph.dataset(), query));
  const std::unique_ptr<BatchNodes> nodes =
      NewBatchNodes(graph.dataset(), SamplingSpec(), batches.get());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto expected,
                                batches->NodesOf({5, 60, 99}, testing::Draw(2)));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<SampledNodes> found,
                                nodes->Of(Batch({5, 60, 99}, 2)));
  REQUIRE(found.size() == 1);
  CHECK(found[0].ids == expected[0]);
  CHECK(found[0].trees.empty());
  VICINITY_CHECK_CODE(nodes->Of(Batch({100}, 0)).status(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
