// How far planned remote rows are from those that other batches than the planned ones need.
//
// For each graph, batch size and cache size: `vicinity plan`'s rows, made from the VIP analysis and
// its own sampled batches, against the mean of other sampled batches, as many as it takes for a
// standard error of 0.5 %. Half of the cache sizes are not among those that the plan reports.
// Value: the plan's error in %. Baseline: that of the VIP analysis alone. Limit: what is wanted.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cache/vip.h"
#include "client/cli/expected_remote.h"
#include "client/cli/home_plan.h"
#include "client/cli/measured_remote.h"
#include "client/cli/transfer_plan.h"
#include "partition/cut/assigner.h"
#include "partition/dataset.h"
#include "partition/progress.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/bench_shards.h"

namespace vicinity::benchmark {
namespace {

constexpr double kWanted = 3;  // %

template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::cerr << value.status() << '\n';
    std::exit(1);
  }
  return *std::move(value);
}

std::vector<int64_t> SizesOf(const std::vector<cli::ExpectedRemote::Point>& points) {
  std::vector<int64_t> sizes;
  for (const cli::ExpectedRemote::Point& point : points) {
    if (point.share >= 0) sizes.push_back(point.cache_rows);
  }
  return sizes;
}

// And one between each two.
std::vector<int64_t> WithMiddles(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> all = {sizes[0]};
  for (size_t i = 1; i < sizes.size(); ++i) {
    all.push_back((sizes[i - 1] + sizes[i]) / 2);
    all.push_back(sizes[i]);
  }
  return all;
}

double ErrorOf(double rows, double measured) { return (rows / measured - 1) * 100; }

void Compare(const Dataset& dataset, const std::string& name, const cli::VipFlags& flags,
             BenchReport* report) {
  const Assignment assignment = cli::AssignmentOf(dataset.book());
  const cli::HomePlan homes = Must(cli::PlanHomes(dataset, assignment, flags));
  const VipScores scores = Must(cli::ScoresOf(dataset, homes, NoProgress()));
  const cli::RemoteCurves curves(scores, homes, assignment);
  const auto measure = [&](const std::vector<int64_t>& sizes, const cli::MeasureOptions& options) {
    return Must(
        cli::MeasureRemote(dataset, scores, homes, assignment, {}, sizes, options, NoProgress()));
  };
  const auto reported = cli::ReportedSizes(curves, assignment);
  const std::vector<int64_t> planned = cli::CorrectedSizes(curves, reported);
  const cli::RemoteEstimate estimate(&curves, planned, measure(planned, {}));
  cli::MeasureOptions others;
  others.run_seed = 1;
  others.precision = 0.005;
  const std::vector<int64_t> sizes = WithMiddles(SizesOf(reported));
  const cli::MeasuredRemote measured = measure(sizes, others);
  const std::string batch = flags.seed_links.empty()
                                ? absl::StrCat("batch ", flags.batch_size)
                                : absl::StrCat("batch ", flags.batch_size, " links");
  for (size_t i = 0; i < sizes.size(); ++i) {
    // What is too rare to be measured tells nothing.
    if (measured.rows[i] * static_cast<double>(measured.num_batches) < 5e4) continue;
    report->Add({"plan", absl::StrFormat("%s, %s, %d cached rows", name, batch, sizes[i]),
                 "% of measured rows off",
                 ErrorOf(estimate.RowsPerBatch(sizes[i]), measured.rows[i]),
                 ErrorOf(curves.RowsPerBatch(sizes[i]), measured.rows[i]), kWanted});
  }
}

void CompareAll(const Dataset& dataset, const std::string& name, BenchReport* report) {
  for (const int64_t batch_size : {128, 1024}) {
    cli::VipFlags flags;
    flags.batch_size = batch_size;
    Compare(dataset, name, flags, report);
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
  const std::unique_ptr<Dataset> blocks =
      OpenBenchShards(options, BenchGraph::kBlockModel, "metis");
  CompareAll(*blocks, "block model", &report);
  cli::VipFlags links;
  links.seed_links = blocks->schema().EdgeTypeName(0);
  links.negatives_per_link = 1;
  links.batch_size = 128;
  Compare(*blocks, "block model", links, &report);
  return 0;
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) { return vicinity::benchmark::Main(argc, argv); }
