#include "server/health/store_metrics.h"

#include <catch2/catch.hpp>
#include <map>
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

TEST_CASE("metrics tell what RocksDB does with a shard's changes", "[store_metrics]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(testing::WriteGraph(testing::RandomGraph({}), folder.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(folder.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto live,
                                LiveDataset::Open(*dataset, folder.File("changes"), {}));
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  AddStoreMetrics(*dataset, *live, &group);
  const auto read = [&] {
    std::map<std::string, double> values;
    for (const MetricRegistry::Reading& reading : registry.Read()) {
      CHECK(reading.labels[0].second == "0");
      values[reading.metric.name + (reading.labels.size() > 1 ? reading.labels[1].second : "")] =
          reading.value;
    }
    return values;
  };
  const auto before = read();
  CHECK(before.size() == 10);
  {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto shard, live->Find({0}));
    const LiveBase base = testing::BaseOf(*dataset);
    proto::WriteSession session;
    session.set_id("w");
    for (uint64_t n = 1; n <= 200; ++n) {
      session.set_sequence(n);
      VICINITY_REQUIRE_OK(shard->Apply(session, testing::NumberedBatch(base, n),
                                       Durability::kBuffered, absl::Now() + absl::Minutes(1)));
    }
  }
  const auto after = read();
  CHECK(after.at("vicinity_server_rocksdb_buffer_bytes") >
        before.at("vicinity_server_rocksdb_buffer_bytes"));
  // It does all that it has to, and nothing is in its way.
  CHECK(after.count("vicinity_server_rocksdb_jobsflush") == 1);
  CHECK(after.count("vicinity_server_rocksdb_jobsmerge") == 1);
  CHECK(after.at("vicinity_server_rocksdb_write_stopped") == 0);
  CHECK(after.at("vicinity_server_rocksdb_write_rate_bytes") == 0);
  CHECK(after.at("vicinity_server_rocksdb_errors_total") == 0);
}

}  // namespace
}  // namespace vicinity
