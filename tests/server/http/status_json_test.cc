#include "server/http/status_json.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>

#include "proto/cluster/cluster_server.h"
#include "proto/common/ids.h"
#include "proto/service.pb.h"
#include "proto/telemetry/latency_histogram.h"
#include "proto/telemetry/metric.h"
#include "proto/telemetry/registry.h"

namespace vicinity {
namespace {

using Json = nlohmann::json;

class StatusJsonTest {
 protected:
  StatusJsonTest() {
    status_.set_server("a");
    status_.set_dataset("papers");
    status_.set_fingerprint(0xabc);
    proto::ShardStatus* const shard = status_.add_shards();
    shard->set_shard(3);
    shard->set_mapped_bytes(100);
    shard->set_checked_bytes(40);
    proto::MethodStatus* const rows = status_.add_methods();
    rows->set_method("FetchRows");
    rows->set_started(2);
    status_.add_methods()->set_method("Walk");
    proto::LimitStatus* const limit = status_.add_limits();
    limit->set_name("max-calls");
    limit->set_limit(1024);
    limit->set_refused(7);
  }
  Json Show(const ClusterView& cluster = {}) const {
    return Json::parse(StatusJson(status_, registry_.Collect(), cluster));
  }

  proto::StatusReply status_;
  MetricRegistry registry_;
  MetricRegistry::Group group_{&registry_};
};

TEST_CASE_METHOD(StatusJsonTest, "a server by itself tells its shards, calls and limits",
                 "[http]") {
  const Json shown = Show();
  CHECK(shown["server"] == "a");
  CHECK(shown["dataset"] == "papers");
  CHECK(shown["fingerprint"] == "0000000000000abc");
  CHECK(shown["serving"] == true);
  CHECK(shown["shards"][0]["shard"] == 3);
  CHECK(shown["shards"][0]["checked_bytes"] == 40);
  CHECK_FALSE(shown["shards"][0].contains("version"));
  REQUIRE(shown["methods"].size() == 1);  // what nobody has called is left out
  CHECK(shown["methods"][0]["started"] == 2);
  CHECK(shown["limits"][0]["refused"] == 7);
  CHECK(shown["bounds"].size() == std::size(LatencyHistogram::kBounds));
  CHECK(shown["servers"].empty());
}

TEST_CASE_METHOD(StatusJsonTest, "metrics add times, versions, and whether it serves", "[http]") {
  LatencyHistogram time;
  time.Add(std::chrono::milliseconds(2));
  group_.Add({"grpc_server_handling_seconds", "Time"}, {{"grpc_method", "FetchRows"}}, &time);
  group_.Add({"vicinity_server_shard_version", "Version", MetricKind::kGauge}, {{"shard", "3"}},
             [] { return 12.0; });
  group_.Add({"vicinity_server_serving", "Serving", MetricKind::kGauge}, {}, [] { return 0.0; });
  CHECK(Show()["changes_disk_level"] == 0);
  group_.Add({"vicinity_server_changes_disk_level", "Level", MetricKind::kGauge}, {},
             [] { return 2.0; });
  const Json shown = Show();
  CHECK(shown["changes_disk_level"] == 2);
  CHECK(shown["methods"][0]["within"].size() == std::size(LatencyHistogram::kBounds) + 1);
  CHECK(shown["methods"][0]["within"].back() == 1);
  CHECK(shown["shards"][0]["version"] == 12);
  CHECK(shown["serving"] == false);
}

TEST_CASE_METHOD(StatusJsonTest, "the cluster is shown with who answers", "[http]") {
  ClusterView cluster;
  ClusterServer a;
  a.name = "a";
  a.advertise = "10.0.0.1:7500";
  a.shards = {ShardId{3}};
  a.http = "10.0.0.1:9000";
  ClusterServer b;
  b.name = "b";
  b.advertise = "10.0.0.2:7500";
  b.shards = {ShardId{3}, ShardId{4}};
  cluster.servers = {a, b};
  cluster.peers = {{PeerWatch::State::kAnswers, 0.001, ""},
                   {PeerWatch::State::kSilent, 0, "Connection refused"}};
  const Json shown = Show(cluster)["servers"];
  REQUIRE(shown.size() == 2);
  CHECK(shown[0]["self"] == true);
  CHECK(shown[0]["state"] == "answers");
  CHECK(shown[0]["http"] == "10.0.0.1:9000");
  CHECK(shown[1]["self"] == false);
  CHECK(shown[1]["state"] == "silent");
  CHECK(shown[1]["fault"] == "Connection refused");
  CHECK(shown[1]["shards"] == Json({3, 4}));
}

TEST_CASE_METHOD(StatusJsonTest, "names of any bytes make JSON", "[http]") {
  status_.set_server("a\"\xff\n</script>");
  CHECK(Show()["server"].get<std::string>().size() > 10);
}

}  // namespace
}  // namespace vicinity
