#include "client/planning/loader_forecast.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cache/vip/vip.h"
#include "client/cli/commands/generate_command.h"
#include "client/cli/commands/partition_command.h"
#include "client/cli/commands/rank_command.h"
#include "client/cli/flags/vip_flags.h"
#include "client/planning/calibrated_scores.h"
#include "client/planning/home_plan.h"
#include "client/types/loader_values.h"
#include "client/types/seed_values.h"
#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/progress.h"
#include "tests/client/cli/run_command.h"
#include "tests/client/measured_loader.h"
#include "tests/client/planning/timed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr int64_t kWidth = 16;  // floats of a row

void MustRun(const cli::Command& command, const std::vector<std::string>& args) {
  const cli::Answer answer = cli::RunCommand(command, args);
  INFO(answer.narration);
  REQUIRE(answer.code == cli::ExitCode::kOk);
}

// A generated graph on four shards, one trainer at home in each.
class Fixture {
 public:
  Fixture(const std::string& graph, const std::string& cut, int64_t batch_size) {
    std::vector<std::string> generate = {"block-model", "--num-communities", "64", "--train",
                                         "0.2"};
    if (graph == "r-mat") {
      generate = {"rmat",    "--scale",           "12",      "--symmetric",
                  "--dedup", "--drop-self-loops", "--train", "0.2"};
    } else {
      generate.insert(generate.end(), {"--num-nodes", "4096"});
    }
    generate.insert(generate.end(),
                    {"--feature-width", absl::StrCat(kWidth), "--output", folder_.File("whole")});
    MustRun(cli::kGenerateCommand, generate);
    MustRun(cli::kPartitionCommand,
            {"--input", folder_.File("whole"), "--output", folder_.File("shards"), "--shards", "4",
             "--assigner", cut, "--fanouts", "5,3", "--batch-size", absl::StrCat(batch_size)});
    flags_.fanouts = {5, 3};
    flags_.batch_size = batch_size;
    Open(SeedPolicy::kHome);
  }
  // A random graph with times, whose trainers draw by these flags, for which it is ranked, and
  // have seeds from all of it.
  explicit Fixture(const std::vector<std::string>& draws) {
    const testing::MemoryGraph graph = testing::TimedGraph(4096, 40960, kWidth);
    VICINITY_REQUIRE_OK(
        testing::WriteGraph(graph, testing::Shuffled(graph, 4, 3), folder_.File("shards")));
    std::vector<std::string> flags = {"--fanouts", "5,3", "--batch-size", "16"};
    flags.insert(flags.end(), draws.begin(), draws.end());
    CLI::App app;
    cli::AddVipFlags(&app, &flags_);
    app.parse(std::vector<std::string>(flags.rbegin(), flags.rend()));
    flags.push_back(folder_.File("shards"));
    MustRun(cli::kRankCommand, flags);
    Open(SeedPolicy::kGlobal);
  }
  void InduceEdges() {
    flags_.subgraph = Subgraph::kInduced;
    Deal(SeedPolicy::kGlobal);
  }

  void Deal(SeedPolicy seeds) {
    VICINITY_ASSERT_OK_AND_ASSIGN(plan_, PlanHomes(*dataset_, assignment_, flags_));
    if (seeds == SeedPolicy::kGlobal) DealFromAll(&plan_);
    VICINITY_ASSERT_OK_AND_ASSIGN(CalibratedScores scores,
                                  CalibratedScoresOf(*dataset_, plan_, {}, NoProgress()));
    scores_ = std::move(scores.scores);
  }

  int64_t num_nodes() const { return dataset_->book().num_nodes({0}); }

  std::vector<double> Forecast(const std::vector<int64_t>& cache_rows,
                               ForecastOptions options) const {
    options.wanted = {{kWidth * static_cast<int64_t>(sizeof(float)), 1}};
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const LoaderForecast forecast,
        ForecastLoaders(*dataset_, scores_, plan_, assignment_, cache_rows, options, NoProgress()));
    CHECK(forecast.num_counted >= options.least_batches);
    CHECK(forecast.num_sampled > forecast.num_counted);
    return forecast.rows;
  }

  // Of every trainer's real loader, on average.
  double Measure(int64_t cache_rows, const ForecastOptions& options,
                 const testing::EpochRange& epochs) const {
    double sum = 0;
    for (int32_t trainer = 0; trainer < 4; ++trainer) {
      LoaderOptions loader;
      loader.sampling = plan_.options.sampling;
      if (!plan_.node_times.empty()) AddTimes(&loader);
      loader.batch_size = flags_.batch_size;
      loader.seed_policy = plan_.seeds_from_all ? SeedPolicy::kGlobal : SeedPolicy::kHome;
      loader.trainer = trainer;
      loader.num_trainers = 4;
      loader.run_seed = options.run_seed;
      loader.columns = {{"node", "features"}};
      loader.cache = options.cache;
      loader.cache_rows = cache_rows;
      loader.fetch_ahead = options.fetch_ahead;
      loader.window_bytes = options.window_bytes;
      loader.sample_ahead = options.sample_ahead;
      VICINITY_ASSERT_OK_AND_ASSIGN(const double rows,
                                    testing::FetchedRows(*dataset_, {trainer}, loader, epochs));
      sum += rows / 4;
    }
    return sum;
  }

 private:
  void Open(SeedPolicy seeds) {
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("shards")));
    assignment_ = AssignmentOf(dataset_->book());
    Deal(seeds);
  }

  // Of seeds from all, which are then listed.
  void AddTimes(LoaderOptions* loader) const {
    loader->seed_type = "node";
    loader->seeds = GlobalIds{plan_.seeds[0].nodes};
    for (const int64_t seed : plan_.seeds[0].nodes) {
      loader->seed_times.push_back(plan_.node_times[seed]);
    }
  }

  const testing::TempDir folder_;
  std::unique_ptr<Dataset> dataset_;
  VipRequest flags_;
  Assignment assignment_;
  HomePlan plan_;
  VipScores scores_;
};

// What one run's loaders fetch, foretold from another run's batches.
void CheckForetold(const Fixture& fixture, ForecastOptions options,
                   const testing::EpochRange& epochs = {2, 3}) {
  const int64_t cache_rows = fixture.num_nodes() / 40;
  options.run_seed = 1;
  const double measured = fixture.Measure(cache_rows, options, epochs);
  options.run_seed = 2;
  const double foretold = fixture.Forecast({cache_rows}, options)[0];
  CAPTURE(static_cast<int>(options.cache), options.fetch_ahead, options.window_bytes);
  CHECK(foretold == Approx(measured).epsilon(0.05));
}

TEST_CASE("real loaders fetch what was foretold, to 5 percent", "[forecast]") {
  const std::string graph = GENERATE("r-mat", "block model");
  const std::string cut = GENERATE("hash", "metis");
  CAPTURE(graph, cut);
  Fixture fixture(graph, cut, 16);
  for (const CachePolicy cache : {CachePolicy::kNone, CachePolicy::kVip, CachePolicy::kAuto}) {
    ForecastOptions options;
    options.cache = cache;
    CheckForetold(fixture, options);
  }
}

TEST_CASE("with few batches ahead, in little room, and with seeds from everywhere", "[forecast]") {
  Fixture fixture("block model", "metis", 16);
  ForecastOptions options;
  SECTION("few") {
    options.fetch_ahead = 2;
    options.sample_ahead = 5;
  }
  SECTION("little room") { options.window_bytes = 100000; }
  SECTION("everywhere") { fixture.Deal(SeedPolicy::kGlobal); }
  CheckForetold(fixture, options);
}

// Of a loader whose batches share no rows.
ForecastOptions Alone() {
  ForecastOptions options;
  options.cache = CachePolicy::kNone;
  options.fetch_ahead = 1;
  return options;
}

// Some 190 batches are measured and as many foretold or more. Rows of a batch differ by a tenth,
// and of batches that choose alike a quarter counts, so the two differ by 2 % at most as a rule: 5
// are well beyond chance, and far below what a plan without the rule would be off by.
TEST_CASE("loaders of every rule of drawing fetch what was foretold by it, to 5 percent",
          "[forecast]") {
  const std::vector<std::string> rules = GENERATE(values<std::vector<std::string>>(
      {{"--where", "time < 40"},
       {"--disjoint"},
       {"--disjoint", "--time-column", "time"},
       {"--disjoint", "--time-column", "time", "--temporal-strategy", "last"},
       {"--disjoint", "--time-column", "time", "--time-window", "20"},
       {"--disjoint", "--time-column", "time", "--time-follows", "path", "--where", "time > 10"},
       {"--draws", "labor"},
       {"--draws", "labor", "--layer-dependency", "--batch-dependency", "4"}}));
  CAPTURE(rules);
  const Fixture fixture(rules);
  CheckForetold(fixture, {});
  CheckForetold(fixture, Alone());
}

TEST_CASE("all edges between a batch's nodes leave the window less room, as was foretold",
          "[forecast]") {
  Fixture fixture({"--expansion", "new"});
  fixture.InduceEdges();
  ForecastOptions options;
  options.window_bytes = 200000;
  CheckForetold(fixture, options);
}

TEST_CASE("a plan without the rules of its loaders is off", "[forecast]") {
  const std::vector<std::string> rules = GENERATE(values<std::vector<std::string>>(
      {{"--where", "time < 40"}, {"--disjoint", "--time-column", "time", "--time-window", "20"}}));
  CAPTURE(rules);
  const double by_none = Fixture(std::vector<std::string>()).Forecast({0}, Alone())[0];
  CHECK(by_none > 1.2 * Fixture(rules).Forecast({0}, Alone())[0]);
}

TEST_CASE("a batch as large as its epoch is foretold", "[forecast]") {
  const Fixture fixture("block model", "hash", 1024);
  CheckForetold(fixture, {}, {15, 20});  // ten of them are in flight at first
}

TEST_CASE("more cache is foretold to leave no more rows, and enough of it none", "[forecast]") {
  const Fixture fixture("r-mat", "hash", 16);
  const int64_t all = fixture.num_nodes();
  const std::vector<double> rows = fixture.Forecast({0, all / 40, all / 10, all / 3, all}, {});
  for (size_t i = 1; i < rows.size(); ++i) CHECK(rows[i] <= rows[i - 1]);
  CHECK(rows.front() > 10);
  CHECK(rows.back() == 0);
}

}  // namespace
}  // namespace vicinity
