#include "server/health/live_metrics.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_shard.h"
#include "proto/live.pb.h"
#include "proto/telemetry/registry.h"
#include "tests/testing/graphs/numbered_batches.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

TEST_CASE("metrics say how far a shard has come and what its changes take", "[live_metrics]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(testing::WriteGraph(testing::RandomGraph({}), folder.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(folder.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto live,
                                LiveDataset::Open(*dataset, folder.File("changes"), {}));
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  AddLiveMetrics(*dataset, *live, &group);
  const auto read = [&] {
    std::map<std::string, double> values;
    for (const MetricRegistry::Reading& reading : registry.Read()) {
      CHECK(reading.labels == MetricLabels{{"shard", "0"}});
      values[reading.metric.name] = reading.value;
    }
    return values;
  };
  auto before = read();
  REQUIRE(before.size() == 5);
  CHECK(before[kShardVersionMetric] == 0);
  CHECK(before[kShardWriterMetric] == 1);  // alone it writes
  CHECK(before[kWriterTermMetric] == 0);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<LiveShard> shard, live->Find({0}));
  const LiveBase base = testing::BaseOf(*dataset);
  proto::WriteSession session;
  session.set_id("w");
  for (uint64_t n = 1; n <= 3; ++n) {
    session.set_sequence(n);
    VICINITY_REQUIRE_OK(shard->Apply(session, testing::NumberedBatch(base, n),
                                     Durability::kBuffered, absl::Now() + absl::Minutes(1)));
  }
  auto after = read();
  CHECK(after[kShardVersionMetric] == 3);
  CHECK(after[kChangesBytesMetric] > before[kChangesBytesMetric]);
  VICINITY_REQUIRE_OK(shard->Appoint({3, "another"}));
  CHECK(read()[kWriterTermMetric] == 3);
}

}  // namespace
}  // namespace vicinity
