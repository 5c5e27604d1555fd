// How many rows a trainer fetches with a given memory: the default policy, look-ahead over a core
// of likely rows, against a static VIP cache.
//
// Real epochs of one trainer of four, sampled once, run through every policy, on graphs of all
// kinds, cut well and by hash. A total is a share of the graph's rows, those of batches in flight
// included, for every policy alike. The baseline is the static cache with the largest core that
// leaves room for what batches in flight miss on average, sharing it; its peaks, which are higher,
// are forgiven it. The limit is Belady's rule, of all that can be done from the same start: all of
// the future known, other epochs too, with the same total. Every cache begins with the likeliest
// rows, which is free for all.
//
// At the end the worst case of each kind: what the default policy fetches over what the static one
// does, and over Belady's rule.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cache/policies/access_trace.h"
#include "cache/policies/next_use.h"
#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"
#include "cache/policies/vip.h"
#include "client/planning/sampled_trace.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/bench_shards.h"
#include "tests/benchmark/bench_trainer.h"

namespace vicinity::benchmark {
namespace {

// LoaderOptions::sample_ahead, and of a column the bytes that half of window_bytes has room for.
constexpr int64_t kMostAhead = 512;
constexpr int64_t kMostAheadBytes = int64_t{128} << 20;
constexpr int64_t kAheadBytes = 80;  // for a remote row: with its batch's blocks, in the planner
constexpr int64_t kNumEpochs = 2;
constexpr int64_t kBatchSizes[] = {16, 128, 1024};
constexpr int kDepths[] = {1, 10, 20};
constexpr double kTotals[] = {0.01, 0.05, 0.2, 0.5, 1};

int64_t WindowOf(const AccessTrace& trace) {
  const int64_t mean = trace.num_uses() / std::max<int64_t>(1, trace.num_batches());
  return std::min(kMostAhead, kMostAheadBytes / kAheadBytes / std::max<int64_t>(1, mean));
}

// The worst ratio so far, and where.
struct Worst {
  double ratio = 0;
  std::string where;
  void See(double value, double other, const std::string& at) {
    // Fewer fetches than these are noise: a ratio of nothing to nothing.
    if (other < 100 || value / other <= ratio) return;
    ratio = value / other;
    where = at;
  }
};

class Comparison {
 public:
  explicit Comparison(BenchReport* report) : report_(report) {}

  void Compare(const Dataset& dataset, const std::string& name) {
    for (const int64_t batch_size : kBatchSizes) {
      const TrainerView view = MakeTrainerView(dataset, batch_size);
      TraceOptions options;
      options.num_epochs = kNumEpochs;
      const AccessTrace trace = Must(SampleTrace(view, options, NoProgress()));
      const std::unique_ptr<StaticOrder> vip = Must(MakeVipPolicy(view));
      for (const int depth : kDepths) {
        for (const double total : kTotals) {
          PolicyBudget budget;
          budget.depth = depth;
          budget.total_rows = std::max<int64_t>(
              1, static_cast<int64_t>(total * static_cast<double>(view.num_nodes())));
          Compare(absl::StrCat(name, ", batch ", batch_size, ", depth ", depth, ", ", total, " N"),
                  *vip, trace, budget);
        }
      }
    }
  }

  void ReportWorst() const {
    report_->Add({"pool", absl::StrCat("worst: ", against_static_.where), "times the static cache",
                  against_static_.ratio, std::nullopt, 1});
    report_->Add({"pool", absl::StrCat("worst: ", against_belady_.where), "times Belady",
                  against_belady_.ratio, std::nullopt, 1.05});
  }

 private:
  void Compare(const std::string& at, const StaticOrder& vip, const AccessTrace& trace,
               const PolicyBudget& budget) {
    const std::vector<int64_t> ranked(vip.order().begin(), vip.order().end());
    const double fixed = PerEpoch(Must(vip.Count(trace, budget)));
    const double pool =
        PerEpoch(Must(MakeNextUsePolicy(ranked, WindowOf(trace))->Count(trace, budget)));
    const double belady = PerEpoch(
        Must(MakeNextUsePolicy(ranked, std::numeric_limits<int64_t>::max())->Count(trace, budget)));
    const auto figure = [](double other) {
      return other > 0 ? std::optional<double>(other) : std::nullopt;  // others make no ratio
    };
    report_->Add({"pool", at, "rows fetched / epoch", pool, figure(fixed), figure(belady)});
    against_static_.See(pool, fixed, at);
    against_belady_.See(pool, belady, at);
  }
  static double PerEpoch(const PolicyCount& count) {
    return static_cast<double>(count.fetched) / static_cast<double>(kNumEpochs);
  }

  BenchReport* const report_;
  Worst against_static_;
  Worst against_belady_;
};

int Main(int argc, char** argv) {
  if (const std::optional<int> code = RanAsMetisChild(argc, argv); code.has_value()) return *code;
  const BenchOptions options = ParseBenchOptions(argc, argv);
  BenchReport report(options, std::cout);
  Comparison comparison(&report);
  for (const BenchGraph graph : kBenchGraphs) {
    for (const std::string cut : {"metis", "hash"}) {
      const std::unique_ptr<Dataset> shards = OpenBenchShards(options, graph, cut);
      if (shards != nullptr) comparison.Compare(*shards, absl::StrCat(NameOf(graph), ", ", cut));
    }
  }
  comparison.ReportWorst();
  return 0;
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) { return vicinity::benchmark::Main(argc, argv); }
