// How far `vicinity plan` is from what real loaders fetch.
//
// On graphs of all kinds, cut well and by hash: a trainer a shard, with seeds from everywhere and
// the default options but a cache of a tenth of a mean shard's rows, and with the other policies.
// The rows of an epoch's batches are counted in real loaders after two epochs that warm them, with
// draws of their own, while the trainer leaves them the time to sample ahead; the plan samples
// other batches. Value: the plan's error in %. Baseline: that of the VIP formula for a batch on its
// own. Limit: what is wanted.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cache/vip/vip.h"
#include "client/options/words.h"
#include "client/planning/expected_remote.h"
#include "client/planning/home_plan.h"
#include "client/planning/loader_forecast.h"
#include "client/types/loader_values.h"
#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/schema.h"
#include "proto/common/progress.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/bench_shards.h"
#include "tests/benchmark/bench_trainer.h"
#include "tests/client/measured_loader.h"

namespace vicinity::benchmark {
namespace {

constexpr double kWanted = 5;  // %
constexpr int64_t kBatchSizes[] = {16, 128, 1024};
// Batches that a loader is watched for: epochs longer than this have another batch size looked at.
constexpr int64_t kMostSteps = 200;

// The first column that may be features, of the only node type.
int FeatureColumn(const NodeTypeSpec& type) {
  for (size_t i = 0; i < type.columns.size(); ++i) {
    if (!type.HasRole(type.columns[i].name)) return static_cast<int>(i);
  }
  return 0;
}

// One graph, cut and batch size.
class Comparison {
 public:
  Comparison(const Dataset& dataset, int64_t batch_size)
      : dataset_(dataset), assignment_(AssignmentOf(dataset.book())) {
    flags_.batch_size = batch_size;
    plan_ = Must(PlanHomes(dataset, assignment_, flags_));
    DealFromAll(&plan_);
    scores_ = Must(ScoresOf(dataset, plan_, NoProgress()));
  }

  int64_t steps() const {
    const int64_t batch = flags_.batch_size * num_trainers();
    return (plan_.num_seeds(0) + batch - 1) / batch;
  }
  int64_t CacheRows() const { return dataset_.book().num_nodes({0}) / num_trainers() / 10; }

  double Foretell(CachePolicy cache) const {
    const NodeTypeSpec& type = dataset_.schema().node_types[0];
    ForecastOptions options;
    options.cache = cache;
    options.wanted = {{type.columns[FeatureColumn(type)].row_bytes(), 1}};
    const std::vector<int64_t> sizes = {CacheRows()};
    return Must(
               ForecastLoaders(dataset_, scores_, plan_, assignment_, sizes, options, NoProgress()))
        .rows[0];
  }

  double ByFormula(CachePolicy cache) const {
    const RemoteCurves curves(scores_, plan_, assignment_);
    return curves.RowsPerBatch(cache == CachePolicy::kNone ? 0 : CacheRows());
  }

  double Measure(CachePolicy cache) const {
    const NodeTypeSpec& type = dataset_.schema().node_types[0];
    double sum = 0;
    for (int32_t trainer = 0; trainer < num_trainers(); ++trainer) {
      LoaderOptions options;
      options.sampling = plan_.options.sampling;
      options.batch_size = flags_.batch_size;
      options.trainer = trainer;
      options.num_trainers = num_trainers();
      options.run_seed = 77;
      options.columns = {{type.name, type.columns[FeatureColumn(type)].name}};
      options.cache = cache;
      options.cache_rows = CacheRows();
      // Epochs that are shorter than what is in flight do not warm a loader in two.
      const int64_t warm = std::max<int64_t>(2, 1 + 2 * options.fetch_ahead / steps());
      const int64_t counted = 1 + 20 / steps();
      sum += Must(testing::FetchedRows(dataset_, {trainer}, options, {warm, counted}));
    }
    return sum / num_trainers();
  }

 private:
  int32_t num_trainers() const { return dataset_.book().num_shards(); }

  const Dataset& dataset_;
  const Assignment assignment_;
  VipRequest flags_;
  HomePlan plan_;
  VipScores scores_;
};

void CompareAll(const BenchOptions& options, BenchGraph graph, const std::string& cut,
                BenchReport* report) {
  const std::unique_ptr<Dataset> dataset = OpenBenchShards(options, graph, cut);
  if (dataset == nullptr) return;
  for (const int64_t batch_size : kBatchSizes) {
    const Comparison comparison(*dataset, batch_size);
    if (comparison.steps() > kMostSteps) continue;
    for (const Word<CachePolicy>& policy : kWords<CachePolicy>) {
      const double measured = comparison.Measure(policy.value);
      if (measured < 1) continue;  // nothing left to foretell
      const auto error = [&](double rows) { return (rows / measured - 1) * 100; };
      report->Add(
          {"plan",
           absl::StrCat(NameOf(graph), ", ", cut, ", batch ", batch_size, ", ", policy.word),
           "% of fetched rows off", error(comparison.Foretell(policy.value)),
           error(comparison.ByFormula(policy.value)), kWanted});
    }
  }
}

int Main(int argc, char** argv) {
  if (const std::optional<int> code = RanAsMetisChild(argc, argv)) return *code;
  const BenchOptions options = ParseBenchOptions(argc, argv);
  BenchReport report(options, std::cout);
  for (const BenchGraph graph : kBenchGraphs) {
    for (const char* cut : {"metis", "hash"}) CompareAll(options, graph, cut, &report);
  }
  return 0;
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) { return vicinity::benchmark::Main(argc, argv); }
