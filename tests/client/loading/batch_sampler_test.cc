#include "client/loading/batch_sampler.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/sampling_spec.h"
#include "proto/common/ids.h"
#include "sampler/local_sampler.h"
#include "sampler/sampled_graph.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

TEST_CASE("a batch is that of its seeds and draw, wherever its shards are", "[batch_sampler]") {
  const RoutedGraph graph(testing::TypedGraph(200, 60, 10, 3), 4, {1, 3});
  const SamplingSpec sampling = SamplingSpec::Uniform(graph.router().schema(), {4, 2});
  const EdgeDetail detail(true, false);
  RoutedBatchSampler sampler(graph.router(), sampling, detail);
  const std::vector<int64_t> seeds = {5, 190, 5};
  for (const uint64_t batch : {0, 1, 0}) {
    const MinibatchDraw draw{7, 2, batch};
    VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph routed,
                                  sampler.Sample({{NodeTypeId{0}, seeds}}, draw, nullptr));
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const SampledGraph local,
        SampleLocal(graph.dataset(), NodeTypeId{0}, seeds, sampling, draw, detail));
    REQUIRE(routed.hops.size() == local.hops.size());
    for (size_t hop = 0; hop < local.hops.size(); ++hop) {
      REQUIRE(routed.hops[hop].size() == local.hops[hop].size());
      for (size_t b = 0; b < local.hops[hop].size(); ++b) {
        CHECK(routed.hops[hop][b].sources == local.hops[hop][b].sources);
        CHECK(routed.hops[hop][b].edge_ids == local.hops[hop][b].edge_ids);
      }
    }
    for (size_t type = 0; type < local.nodes.size(); ++type) {
      CHECK(routed.nodes[type].ids == local.nodes[type].ids);
    }
  }
}

TEST_CASE("a cancelled loader draws no more", "[batch_sampler]") {
  const RoutedGraph graph(testing::TypedGraph(200, 60, 10, 3), 4, {1, 3});
  RoutedBatchSampler sampler(graph.router(), SamplingSpec::Uniform(graph.router().schema(), {4}),
                             EdgeDetail());
  Cancellation cancel;
  cancel.Cancel();
  VICINITY_CHECK_CODE(sampler.Sample({{NodeTypeId{0}, {1}}}, {}, &cancel).status(),
                      absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace vicinity
