// How well inclusion probabilities predict the remote rows of sampled batches: the recurrence of
// cache/vip/vip.h against the published one. docs/decisions/0009 quotes it.
//
// Rows a batch, without a cache and with one that holds the likeliest tenth of a mean shard's
// number of nodes, each recurrence with its own order: against as many sampled batches as it takes
// for a standard error of 0.5 %. Value: error in %. Baseline: that of the published recurrence. A
// second row for the recurrence in which nodes are expanded again, but every edge is independent.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cache/vip/vip.h"
#include "client/planning/expected_remote.h"
#include "client/planning/home_plan.h"
#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"
#include "tests/benchmark/baselines/published_vip.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/bench_shards.h"
#include "tests/testing/graphs/measured_remote.h"

namespace vicinity::benchmark {
namespace {

template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::cerr << value.status() << '\n';
    std::exit(1);
  }
  return *std::move(value);
}

class Comparison {
 public:
  Comparison(const Dataset& dataset, const VipRequest& flags)
      : dataset_(dataset),
        assignment_(AssignmentOf(dataset.book())),
        homes_(Must(PlanHomes(dataset, assignment_, flags))) {}

  // By cache size: the error in %.
  std::vector<double> ErrorsOf(const VipScores& scores) const {
    const RemoteCurves curves(scores, homes_, assignment_);
    const std::vector<int64_t> sizes = Sizes();
    testing::MeasureOptions options;
    options.precision = 0.005;
    const testing::MeasuredRemote measured = Must(testing::MeasureRemote(
        dataset_, scores, homes_, assignment_, {}, sizes, options, NoProgress()));
    std::vector<double> errors;
    for (size_t i = 0; i < sizes.size(); ++i) {
      errors.push_back((curves.RowsPerBatch(sizes[i]) / measured.rows[i] - 1) * 100);
    }
    return errors;
  }

  std::vector<int64_t> Sizes() const {
    return {0, dataset_.book().num_nodes({0}) / assignment_.num_shards / 10};
  }
  VipScores Published(Recurrence recurrence) const {
    return PublishedVip(dataset_, homes_.seeds, homes_.options, recurrence);
  }
  VipScores Ours() const { return Must(ScoresOf(dataset_, homes_, NoProgress())); }

 private:
  const Dataset& dataset_;
  const Assignment assignment_;
  const HomePlan homes_;
};

void CompareAll(const Dataset& dataset, const std::string& name, BenchReport* report) {
  for (const int64_t batch_size : {128, 1024}) {
    VipRequest flags;
    flags.batch_size = batch_size;
    const Comparison comparison(dataset, flags);
    const auto published = comparison.ErrorsOf(comparison.Published(Recurrence::kPublished));
    const auto again = comparison.ErrorsOf(comparison.Published(Recurrence::kExpandedAgain));
    const auto ours = comparison.ErrorsOf(comparison.Ours());
    for (size_t i = 0; i < ours.size(); ++i) {
      const std::string where =
          absl::StrCat(name, ", batch ", batch_size, ", ", comparison.Sizes()[i], " cached rows");
      report->Add({"recurrence", where, "% off", ours[i], published[i], std::nullopt});
      report->Add({"recurrence", where + ", edges independent", "% off", again[i], published[i],
                   std::nullopt});
    }
  }
}

int Main(int argc, char** argv) {
  if (const std::optional<int> code = RanAsMetisChild(argc, argv)) return *code;
  const BenchOptions options = ParseBenchOptions(argc, argv);
  BenchReport report(options, std::cout);
  if (const auto wordnet = OpenBenchShards(options, BenchGraph::kWordNet, "metis"))
    CompareAll(*wordnet, "wordnet", &report);
  if (const auto cnr2000 = OpenBenchShards(options, BenchGraph::kCnr2000, "metis"))
    CompareAll(*cnr2000, "cnr-2000", &report);
  CompareAll(*OpenBenchShards(options, BenchGraph::kRmat, "hash"), "r-mat", &report);
  CompareAll(*OpenBenchShards(options, BenchGraph::kBlockModel, "metis"), "block model", &report);
  return 0;
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) { return vicinity::benchmark::Main(argc, argv); }
