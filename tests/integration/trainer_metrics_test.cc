// What a trainer shows of itself, in a file and at a port: the metrics that deploy/observability
// lists, fit for Prometheus, with few series.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/graph.h"
#include "client/loader.h"
#include "partition/schema/sampling_spec.h"
#include "proto/cluster/host_port.h"
#include "proto/common/file.h"
#include "tests/integration/fixtures/metric_families.h"
#include "tests/server/http/raw_client.h"
#include "tests/testing/graphs/certified_graph.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

class TrainerMetricsTest {
 protected:
  TrainerMetricsTest() {
    testing::TestbedOptions options;
    options.graph.num_shards = 2;
    options.num_servers = 2;
    auto testbed = testing::Testbed::Start(options);
    VICINITY_REQUIRE_OK(testbed);
    testbed_ = *std::move(testbed);
    GraphOptions graph;
    graph.cluster_file = testbed_->cluster_file();
    graph.metrics.file = folder_.File("trainer.prom");
    graph.metrics.listen = "127.0.0.1:0";
    graph.metrics.trainer = "0";
    auto opened = Graph::Open(graph);
    INFO((opened.ok() ? "" : opened.error().message()));
    REQUIRE(opened.ok());
    graph_ = *std::move(opened);
  }

  std::unique_ptr<Loader> MakeLoader() const {
    LoaderOptions options;
    options.sampling = SamplingSpec::Uniform(graph_->schema(), {5, 5});
    options.batch_size = 64;
    options.columns = {{"node", "features"}};
    options.expected_rows = 100;
    auto loader = Loader::Create(graph_.get(), options);
    INFO((loader.ok() ? "" : loader.error().message()));
    REQUIRE(loader.ok());
    return *std::move(loader);
  }
  static int64_t Train(Loader* loader) {
    REQUIRE(loader->StartEpoch(0).ok());
    int64_t batches = 0;
    while (true) {
      auto batch = loader->Next();
      REQUIRE(batch.ok());
      if (*batch == nullptr) return batches;
      ++batches;
    }
  }
  std::string AtPort() const {
    const auto address = ParseHostPort(graph_->metrics_address());
    VICINITY_REQUIRE_OK(address);
    return testing::BodyOf(testing::Get(*address, "/metrics"));
  }
  std::string InFile() const { return ReadFile(folder_.File("trainer.prom")).value_or(""); }

  const testing::TempDir folder_;
  std::unique_ptr<testing::Testbed> testbed_;
  std::unique_ptr<Graph> graph_;
};

TEST_CASE_METHOD(TrainerMetricsTest, "trainers show the metrics that are listed, and no others",
                 "[metrics]") {
  const auto loader = MakeLoader();
  Train(loader.get());
  const std::string text = AtPort();
  CHECK(text.size() > 10'000);
  testing::MetricFamilies shown;
  testing::AddFamilies(text, &shown);
  testing::MetricFamilies listed = testing::ListedFamilies(/*of_trainers=*/true);
  for (auto& [name, family] : listed) family.labels.insert("trainer");
  testing::CheckSameFamilies(shown, listed);
  testing::CheckWithPromtool(text, folder_.File("scrape"));
  testing::CheckWithPromtool(InFile(), folder_.File("scrape"));
}

TEST_CASE_METHOD(TrainerMetricsTest, "what is shown is what the loader's statistics say",
                 "[metrics]") {
  const auto loader = MakeLoader();
  const int64_t batches = Train(loader.get());
  REQUIRE(batches > 0);
  const LoaderStats stats = loader->stats();
  const std::string text = AtPort();
  INFO(text);
  const auto shows = [&text](const std::string& series, int64_t value) {
    return absl::StrContains(text, absl::StrCat("\n", series, " ", value, "\n"));
  };
  CHECK(
      shows("vicinity_loader_stage_batch_seconds_count{trainer=\"0\",loader=\"0\",stage=\"train\"}",
            batches));
  CHECK(shows("vicinity_loader_rows_total{trainer=\"0\",loader=\"0\",tier=\"remote\"}",
              stats.rows_remote));
  CHECK(shows("vicinity_loader_rows_total{trainer=\"0\",loader=\"0\",tier=\"cached\"}",
              stats.rows_cached));
  CHECK(
      shows("vicinity_loader_remote_bytes_total{trainer=\"0\",loader=\"0\"}", stats.bytes_remote));
  CHECK(shows("vicinity_loader_expected_rows{trainer=\"0\",loader=\"0\"}", 100));
  CHECK(shows("vicinity_loader_stage_threads{trainer=\"0\",loader=\"0\",stage=\"fetch\"}", 4));
  CHECK(shows("vicinity_client_hedges_total{trainer=\"0\"}", graph_->traffic().hedges));
  CHECK(shows("vicinity_client_quarantines_total{trainer=\"0\"}", graph_->traffic().quarantines));
}

TEST_CASE_METHOD(TrainerMetricsTest, "a trainer that makes many loaders has no more series for it",
                 "[metrics]") {
  const auto training = MakeLoader();
  size_t lines = 0;
  for (int epoch = 0; epoch < 5; ++epoch) {
    const auto evaluation = MakeLoader();
    Train(evaluation.get());
    const std::string text = AtPort();
    const auto now = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    if (epoch == 0) lines = now;
    CHECK(now == lines);
  }
  CHECK(lines < 1000);
}

TEST_CASE_METHOD(TrainerMetricsTest, "the file is a report of a training that is over",
                 "[metrics]") {
  const int64_t batches = Train(MakeLoader().get());
  graph_.reset();
  CHECK_THAT(
      InFile(),
      Catch::Contains(absl::StrCat(
          "vicinity_loader_stage_batch_seconds_count{trainer=\"0\",loader=\"0\",stage=\"train\"} ",
          batches, "\n")));
}

}  // namespace
}  // namespace vicinity
