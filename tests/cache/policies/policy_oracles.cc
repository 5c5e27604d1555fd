#include "tests/cache/policies/policy_oracles.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "cache/policies/static_order.h"
#include "cache/vip/vip.h"
#include "client/planning/sampled_trace.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {
namespace {

MemoryGraph SmallGraph(bool typed) {
  if (typed) return TypedGraph(60, 50, 20, 4);
  RandomGraphOptions options;
  options.num_nodes = 120;
  options.num_edges = 500;
  options.feature_width = 0;
  return RandomGraph(options);
}

SamplingSpec SmallSpec(const Schema& schema, bool typed) {
  SamplingSpec spec = SamplingSpec::Uniform(schema, {4, 3});
  if (typed) spec.fanouts[1][schema.FindEdgeType("has")] = 0;
  return spec;
}

}  // namespace

std::unique_ptr<SmallTrainer> MakeSmallTrainer(bool typed) {
  constexpr int32_t kHome = 1;
  auto trainer = std::make_unique<SmallTrainer>();
  const MemoryGraph graph = SmallGraph(typed);
  const std::string directory = trainer->dir.path() + "/graph";
  VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 3, 8), directory));
  VICINITY_ASSERT_OK_AND_ASSIGN(trainer->dataset, Dataset::Open(directory));
  HomeSeeds seeds;
  seeds.type = NodeTypeId{0};
  const Book& book = trainer->dataset->book();
  const int64_t begin = book.First(seeds.type, ShardId{kHome}).value;
  const int64_t end = begin + book.num_nodes(seeds.type, ShardId{kHome});
  for (int64_t node = begin; node < end; node += 2) seeds.nodes.push_back(node);
  VipOptions options;
  options.sampling = SmallSpec(trainer->dataset->schema(), typed);
  options.batch_size = 3;
  auto view = TrainerView::Create(trainer->dataset.get(), {kHome}, seeds, options);
  VICINITY_REQUIRE_OK(view);
  trainer->view = std::make_unique<TrainerView>(*std::move(view));
  TraceOptions trace_options;
  trace_options.num_epochs = 3;
  auto trace = SampleTrace(*trainer->view, trace_options, NoProgress());
  VICINITY_REQUIRE_OK(trace);
  trainer->trace = std::make_unique<AccessTrace>(*std::move(trace));
  return trainer;
}

std::vector<NumberedEdge> AllEdges(const TrainerView& view) {
  std::vector<NumberedEdge> all;
  const Dataset& dataset = view.dataset();
  for (int32_t e = 0; e < static_cast<int32_t>(dataset.schema().edge_types.size()); ++e) {
    const EdgeTypeSpec& spec = dataset.schema().edge_types[e];
    for (const auto& shard : dataset.shards()) {
      const EdgeTable& edges = shard->edges(EdgeTypeId{e});
      const NodeTypeId target_type{spec.target_type};
      for (int64_t row = 0; row < edges.num_targets(); ++row) {
        const int64_t target =
            view.first(target_type) + dataset.book().First(target_type, shard->id()).value + row;
        for (int64_t i = 0; i < edges.degree(row); ++i) {
          const int64_t source = edges.sources[edges.begin(row) + i];
          all.push_back({e, view.first({spec.source_type}) + source, target});
        }
      }
    }
  }
  return all;
}

bool IsFollowed(const TrainerView& view, int hop, int32_t edge_type) {
  return view.options().sampling.fanouts[hop][edge_type] != 0;
}

std::vector<int64_t> NaiveOrder(const TrainerView& view, const std::vector<double>& scores) {
  std::vector<std::pair<double, int64_t>> pairs;
  for (int64_t node = 0; node < view.num_nodes(); ++node) {
    if (view.is_remote(node) && scores[node] > 0) pairs.emplace_back(-scores[node], node);
  }
  std::sort(pairs.begin(), pairs.end());
  std::vector<int64_t> order;
  for (const auto& [score, node] : pairs) order.push_back(node);
  return order;
}

void CheckStaticOrder(const Policy& policy, const std::vector<int64_t>& order) {
  const auto* fixed = dynamic_cast<const StaticOrder*>(&policy);
  REQUIRE(fixed != nullptr);
  REQUIRE(std::vector<int64_t>(fixed->order().begin(), fixed->order().end()) == order);
}

AccessTrace RandomTrace(const std::vector<double>& chances, int num_batches, uint64_t seed) {
  std::mt19937_64 random(seed);
  AccessTrace trace(static_cast<int64_t>(chances.size()));
  for (int b = 0; b < num_batches; ++b) {
    std::vector<int64_t> nodes;
    for (size_t node = 0; node < chances.size(); ++node) {
      if (static_cast<double>(random() >> 11) * 0x1p-53 < chances[node]) {
        nodes.push_back(static_cast<int64_t>(node));
      }
    }
    std::shuffle(nodes.begin(), nodes.end(), random);
    trace.AddBatch(nodes);
  }
  trace.EndEpoch();
  return trace;
}

}  // namespace vicinity::testing
