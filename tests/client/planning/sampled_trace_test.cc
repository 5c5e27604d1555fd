#include "client/planning/sampled_trace.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "cache/policies/access_trace.h"
#include "cache/policies/trainer_view.h"
#include "cache/vip/vip.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/cache/policies/policy_oracles.h"
#include "tests/client/planning/timed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

TEST_CASE("a trace has every batch of every epoch, remote nodes alone and once", "[trace]") {
  const auto trainer = testing::MakeSmallTrainer(GENERATE(false, true));
  const TrainerView& view = *trainer->view;
  const AccessTrace& trace = *trainer->trace;
  const auto num_seeds = static_cast<int64_t>(view.seeds().nodes.size());
  CHECK(trace.num_epochs() == 3);
  CHECK(trace.num_batches() == 3 * ((num_seeds + 2) / 3));  // of three seeds each
  CHECK(trace.num_uses() > 0);
  // What two hops of any edge type reach.
  std::set<int64_t> in_reach;
  for (const int64_t seed : view.seeds().nodes) {
    in_reach.insert(view.first(view.seeds().type) + seed);
  }
  for (int hop = 0; hop < 2; ++hop) {
    const std::set<int64_t> before = in_reach;
    for (const auto& edge : testing::AllEdges(view)) {
      if (before.count(edge.target) > 0) in_reach.insert(edge.source);
    }
  }
  for (int64_t b = 0; b < trace.num_batches(); ++b) {
    const std::set<int64_t> nodes(trace.batch(b).begin(), trace.batch(b).end());
    REQUIRE(nodes.size() == trace.batch(b).size());
    for (const int64_t node : nodes) {
      REQUIRE(view.is_remote(node));
      REQUIRE(in_reach.count(node) > 0);
    }
  }
}

TEST_CASE("the same epochs are sampled alike, others otherwise", "[trace]") {
  const auto trainer = testing::MakeSmallTrainer(false);
  const auto sample = [&](uint64_t run_seed, int64_t first_epoch) {
    TraceOptions options;
    options.run_seed = run_seed;
    options.first_epoch = first_epoch;
    VICINITY_ASSERT_OK_AND_ASSIGN(const AccessTrace trace,
                                  SampleTrace(*trainer->view, options, NoProgress()));
    return std::vector<int64_t>(trace.uses().begin(), trace.uses().end());
  };
  const auto uses = trainer->trace->uses();
  const std::vector<int64_t> epoch = sample(0, 0);
  CHECK(std::equal(epoch.begin(), epoch.end(), uses.begin()));
  CHECK(sample(0, 1) != epoch);
  CHECK(sample(1, 0) != epoch);
  const std::vector<int64_t> last = sample(0, 2);
  CHECK(std::equal(last.begin(), last.end(), uses.end() - last.size()));
}

TEST_CASE("a node that several trees need is fetched once, and none that is too late for its seed",
          "[trace]") {
  const testing::MemoryGraph graph = testing::TimedGraph(60, 900, 1);
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 3, 8), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  VipOptions options;
  options.sampling = SamplingSpec::Uniform(graph.schema, {kAllNeighbors});
  options.sampling.disjoint = true;
  options.batch_size = 60;  // all in one
  HomeSeeds seeds{NodeTypeId{0}, {}};
  for (int64_t node = 0; node < 60; ++node) seeds.nodes.push_back(node);
  const std::vector<int64_t> late(60, 99), never(60, -1);
  const auto trace = [&](const std::vector<int64_t>& node_times) {
    options.sampling.time_column = node_times.empty() ? "" : "time";
    VICINITY_ASSERT_OK_AND_ASSIGN(const TrainerView view,
                                  TrainerView::Create(dataset.get(), {1}, seeds, options));
    TraceOptions of_trace;
    of_trace.node_times = node_times;
    VICINITY_ASSERT_OK_AND_ASSIGN(const AccessTrace all, SampleTrace(view, of_trace, NoProgress()));
    REQUIRE(all.num_batches() == 1);
    return std::vector<int64_t>(all.uses().begin(), all.uses().end());
  };
  const std::vector<int64_t> untimed = trace({});
  CHECK(std::set<int64_t>(untimed.begin(), untimed.end()).size() == untimed.size());
  CHECK(trace(late) == untimed);
  // The seeds themselves are needed at any time.
  CHECK(trace(never).size() == untimed.size());
  for (int64_t node = 30; node < 60; ++node) seeds.nodes.pop_back();
  CHECK(trace(late).size() > trace(never).size());
}

}  // namespace
}  // namespace vicinity
