// What a query's own ranking is worth (`vicinity rank --query`): remote rows that an answer of
// other epochs needs and a static cache does not hold, of walks and layers from train nodes.
//
// Caches of 5, 20 and 50 % of a mean shard's nodes. Value: filled by the query's own ranking.
// Baseline: by the default one, for minibatches of fanouts 15,10,5 from the same seeds. Limit: rows
// without a cache, of which both are a part.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "cache/vip/vip.h"
#include "client/planning/calibrated_scores.h"
#include "client/planning/home_plan.h"
#include "client/query/query_text.h"
#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/schema.h"
#include "proto/common/progress.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/bench_shards.h"
#include "tests/benchmark/bench_trainer.h"
#include "tests/testing/graphs/measured_remote.h"

namespace vicinity::benchmark {
namespace {

constexpr int64_t kBatchSize = 256;
constexpr double kShares[] = {0.05, 0.2, 0.5};

struct NamedQuery {
  const char* name;
  const char* steps;  // behind the seeds; $0: the edge type
};
constexpr NamedQuery kQueries[] = {
    {"walk of 8", "w = walk(src, $0, 8)"},
    {"PinSAGE, 10 of 20 walks of 3", "v = visited(src, $0, 10, length=3, num_walks=20)"},
    {"layers of 512, 512 (LADIES)", "a = layer(src, $0, 512); b = layer(a, $0, 512)"},
};

VipScores ScoresFor(const Dataset& dataset, const HomePlan& plan) {
  return Must(CalibratedScoresOf(dataset, plan, {}, NoProgress())).scores;
}

void Compare(const Dataset& dataset, const std::string& name, BenchReport* report) {
  const Assignment assignment = AssignmentOf(dataset.book());
  const Schema& schema = dataset.schema();
  VipRequest request;
  request.batch_size = kBatchSize;
  const HomePlan minibatches = Must(PlanHomes(dataset, assignment, request));
  const VipScores by_default = ScoresFor(dataset, minibatches);
  const auto num_nodes = static_cast<double>(assignment.shard_of[0].size());
  std::vector<int64_t> sizes = {0};
  for (const double share : kShares) {
    sizes.push_back(std::llround(share * num_nodes / assignment.num_shards));
  }
  for (const NamedQuery& query : kQueries) {
    request.query =
        Must(ParseQuery(absl::StrCat("src = nodes(", schema.node_types[0].name, ", $seeds); ",
                                     absl::Substitute(query.steps, schema.EdgeTypeName(0)))));
    const HomePlan plan = Must(PlanHomes(dataset, assignment, request));
    const auto measure = [&](const VipScores& scores) {
      testing::MeasureOptions options;
      options.run_seed = 77;
      return Must(testing::MeasureRemote(dataset, scores, plan, assignment, {}, sizes, options,
                                         NoProgress()))
          .rows;
    };
    const std::vector<double> own = measure(ScoresFor(dataset, plan));
    const std::vector<double> other = measure(by_default);
    for (size_t i = 1; i < sizes.size(); ++i) {
      report->Add({"query-ranking",
                   absl::StrCat(name, ", ", query.name, ", cache ", kShares[i - 1] * 100, " %"),
                   "remote rows a batch", own[i], other[i], own[0]});
    }
  }
}

int Main(int argc, char** argv) {
  if (const std::optional<int> code = RanAsMetisChild(argc, argv)) return *code;
  const BenchOptions options = ParseBenchOptions(argc, argv);
  BenchReport report(options, std::cout);
  for (const BenchGraph graph : kBenchGraphs) {
    const std::unique_ptr<Dataset> shards = OpenBenchShards(options, graph, "metis");
    if (shards != nullptr) Compare(*shards, NameOf(graph), &report);
  }
  return 0;
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) { return vicinity::benchmark::Main(argc, argv); }
