// How good the order is in which rows are held: the VIP formula's, corrected by sampled batches as
// `vicinity rank` does, and that of counting sampled epochs.
//
// Rows that a static cache in one of the orders misses in epochs that none of them has seen, on
// graphs of all kinds, cut well and by hash; caches of 5, 20 and 50 % of a mean shard's rows.
// Value: misses above those of the order that is best for the very epochs counted, in %, of the
// corrected order. Baseline: of the formula alone. Limit: of counting 32 epochs.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cache/policies/access_trace.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"
#include "cache/policies/vip.h"
#include "cache/vip/calibration.h"
#include "cache/vip/vip.h"
#include "client/planning/sampled_trace.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/bench_shards.h"
#include "tests/benchmark/bench_trainer.h"

namespace vicinity::benchmark {
namespace {

constexpr int64_t kBatchSizes[] = {16, 128, 1024};
constexpr double kShares[] = {0.05, 0.2, 0.5};
constexpr int64_t kCounted = 4, kSampled = 8, kMany = 32;  // epochs

AccessTrace Sample(const TrainerView& view, int64_t first_epoch, int64_t num_epochs) {
  TraceOptions options;
  options.first_epoch = first_epoch;
  options.num_epochs = num_epochs;
  return Must(SampleTrace(view, options, NoProgress()));
}

StaticOrder OrderOf(const std::vector<double>& scores) { return {"", OrderByScore(scores)}; }

// Of the first batches: half of them each.
UseCounts CountsOf(const AccessTrace& trace, int64_t num_batches) {
  UseCounts counts;
  counts.num_batches = num_batches;
  for (int half = 0; half < 2; ++half) {
    counts.halves[half].resize(trace.num_nodes());
    for (int64_t b = half * num_batches / 2; b < (half + 1) * num_batches / 2; ++b) {
      for (const int64_t node : trace.batch(b)) ++counts.halves[half][node];
    }
  }
  return counts;
}

StaticOrder Corrected(const std::vector<float>& formula, const UseCounts& counts) {
  std::vector<float> scores = formula;
  Calibrate(counts, &scores);
  return OrderOf({scores.begin(), scores.end()});
}

void Compare(const Dataset& dataset, const std::string& name, BenchReport* report) {
  for (const int64_t batch_size : kBatchSizes) {
    const TrainerView view = MakeTrainerView(dataset, batch_size);
    const VipScores scores =
        Must(ComputeVip(dataset, {view.seeds()}, view.options(), NoProgress()));
    std::vector<double> flat;
    for (const std::vector<float>& of_type : scores.values) {
      flat.insert(flat.end(), of_type.begin(), of_type.end());
    }
    view.KeepRemote(&flat);
    const std::vector<float> formula(flat.begin(), flat.end());
    const AccessTrace unseen = Sample(view, 1000, kCounted);
    const StaticOrder best = OrderOf(unseen.CountUses());
    const AccessTrace many = Sample(view, 2000, kMany);
    const int64_t steps = many.num_batches() / kMany;
    for (const double share : kShares) {
      const auto held = static_cast<int64_t>(share * static_cast<double>(view.num_nodes()) / 4);
      const auto misses = [&](const StaticOrder& order) {
        const auto count = std::min<int64_t>(held, static_cast<int64_t>(order.order().size()));
        return static_cast<double>(order.CountWith(unseen, count, /*depth=*/1).fetched);
      };
      const double least = misses(best);
      if (least < 1000) continue;
      const auto above = [&](const StaticOrder& order) {
        return (misses(order) / least - 1) * 100;
      };
      const UseCounts counts = CountsOf(many, kSampled * steps);
      report->Add({"ranking", absl::StrCat(name, ", batch ", batch_size, ", ", share * 100, " %"),
                   "% of misses above the best order", above(Corrected(formula, counts)),
                   above(OrderOf(flat)), above(OrderOf(many.CountUses()))});
    }
  }
}

int Main(int argc, char** argv) {
  if (const std::optional<int> code = RanAsMetisChild(argc, argv)) return *code;
  const BenchOptions options = ParseBenchOptions(argc, argv);
  BenchReport report(options, std::cout);
  for (const BenchGraph graph : kBenchGraphs) {
    for (const std::string cut : {"metis", "hash"}) {
      const std::unique_ptr<Dataset> shards = OpenBenchShards(options, graph, cut);
      if (shards != nullptr) Compare(*shards, absl::StrCat(NameOf(graph), ", ", cut), &report);
    }
  }
  return 0;
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) { return vicinity::benchmark::Main(argc, argv); }
