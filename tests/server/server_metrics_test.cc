#include "server/server_metrics.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/overlay/live_dataset.h"
#include "proto/cluster/cluster_server.h"
#include "proto/common/ids.h"
#include "proto/security/certificates.h"
#include "proto/telemetry/registry.h"
#include "server/handlers/server_state.h"
#include "server/health/serving_states.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

class ServerMetricsTest {
 protected:
  ServerMetricsTest() {
    const testing::MemoryGraph graph = testing::RandomGraph({});
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 2, 5), folder_.File("graph")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("graph")));
    state_.dataset = dataset_.get();
    state_.serving = &serving_;
  }
  std::map<std::string, double> Read() const {
    std::map<std::string, double> values;
    for (const auto& reading : registry_.Read()) {
      std::string name = reading.metric.name;
      for (const auto& [label, value] : reading.labels) name += " " + label + "=" + value;
      values[name] = reading.value;
    }
    return values;
  }

  const testing::TempDir folder_;
  std::unique_ptr<Dataset> dataset_;
  ServingStates serving_;
  ServerState state_;
  MetricRegistry registry_;
  MetricRegistry::Group group_{&registry_};
};

TEST_CASE_METHOD(ServerMetricsTest, "a server tells whether clients should come", "[metrics]") {
  AddServerMetrics(state_, {}, &group_);
  CHECK(Read().at("vicinity_server_serving") == 0);
  serving_.Set("", true);
  CHECK(Read().at("vicinity_server_serving") == 1);
  CHECK(Read().size() == 2);  // and which dataset it serves
}

TEST_CASE_METHOD(ServerMetricsTest, "the replicas of its shards are counted in the cluster file",
                 "[metrics]") {
  ClusterServer a;
  a.shards = {ShardId{0}, ShardId{1}};
  ClusterServer b;
  b.shards = {ShardId{1}, ShardId{2}};
  AddServerMetrics(state_, {a, b}, &group_);
  const auto values = Read();
  CHECK(values.at("vicinity_server_shard_replicas shard=0") == 1);
  CHECK(values.at("vicinity_server_shard_replicas shard=1") == 2);
  CHECK(values.count("vicinity_server_shard_replicas shard=2") == 0);  // not served here
}

TEST_CASE_METHOD(ServerMetricsTest, "the end of the certificate and a fault of new files show",
                 "[metrics]") {
  TlsState tls;
  tls.expires = absl::FromUnixSeconds(1'900'000'000);
  state_.tls = [&tls] { return tls; };
  AddServerMetrics(state_, {}, &group_);
  CHECK(Read().at("vicinity_server_certificate_expiry_timestamp_seconds") == 1'900'000'000);
  CHECK(Read().at("vicinity_server_certificate_faulty") == 0);
  tls.fault = "half a file";
  CHECK(Read().at("vicinity_server_certificate_faulty") == 1);
}

TEST_CASE_METHOD(ServerMetricsTest, "a live graph tells the disk of its changes", "[metrics]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto live,
                                LiveDataset::Open(*dataset_, folder_.File("changes"), {}));
  state_.live = live.get();
  AddServerMetrics(state_, {}, &group_);
  const auto values = Read();
  for (const char* shard : {"0", "1"}) {
    CHECK(values.at(std::string("vicinity_server_changes_open shard=") + shard) == 1);
    CHECK(values.at(std::string("vicinity_server_changes_disk_bytes shard=") + shard) > 0);
  }
  CHECK(values.at("vicinity_server_changes_free_bytes") > 0);
}

}  // namespace
}  // namespace vicinity
