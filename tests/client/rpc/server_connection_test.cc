#include "client/rpc/server_connection.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "client/shards/fan_out.h"
#include "client/shards/traffic.h"
#include "proto/cluster/cluster_file.h"
#include "proto/service.pb.h"
#include "proto/version.h"
#include "tests/client/scripted_server.h"
#include "tests/testing/chaos/chaos_flow.h"
#include "tests/testing/chaos/chaos_proxy.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::ScriptedServer;

absl::Status Connect(ServerConnection* connection) {
  FanOut calls;
  connection->Connect(nullptr, calls.Add());
  return calls.Wait();
}

std::unique_ptr<ServerConnection> To(
    const std::string& address, TrafficCounters* traffic,
    std::chrono::milliseconds connect_timeout = std::chrono::seconds(20)) {
  ConnectionOptions options;
  options.connect_timeout = connect_timeout;
  options.channels = 3;
  return std::make_unique<ServerConnection>(ServerEndpoint{"c", address, {ShardId{2}, ShardId{5}}},
                                            options, traffic);
}

TEST_CASE("every channel says hello, and the smaller limit counts", "[server_connection]") {
  ScriptedServer server;
  TrafficCounters traffic;
  const auto connection = To(server.address(), &traffic);
  VICINITY_CHECK_OK(Connect(connection.get()));
  CHECK(traffic.calls.value() == 3);
  CHECK(connection->limits().max_ids == 1000);

  server.hello.mutable_limits()->set_max_ids(UINT64_MAX);
  const auto generous = To(server.address(), &traffic);
  VICINITY_CHECK_OK(Connect(generous.get()));
  CHECK(generous->limits().max_ids * 8 < 4 << 20);  // gRPC's own limit of a message
}

TEST_CASE("a server of another protocol version or without limits is refused",
          "[server_connection]") {
  ScriptedServer server;
  TrafficCounters traffic;
  SECTION("another version") {
    server.hello.set_protocol_version(kProtocolVersion + 1);
    const absl::Status status = Connect(To(server.address(), &traffic).get());
    VICINITY_CHECK_CODE(status, absl::StatusCode::kFailedPrecondition);
    CHECK_THAT(std::string(status.message()),
               Catch::Contains("shards 2, 5 at ") && Catch::Contains("(server c)"));
  }
  SECTION("no limits") {
    server.hello.mutable_limits()->set_max_ids(0);
    VICINITY_CHECK_CODE(Connect(To(server.address(), &traffic).get()), absl::StatusCode::kInternal);
  }
}

TEST_CASE("nobody there is unavailable, at the deadline", "[server_connection]") {
  std::string address;
  {
    const ScriptedServer gone;
    address = gone.address();
  }
  TrafficCounters traffic;
  const absl::Status status = Connect(To(address, &traffic, std::chrono::milliseconds(300)).get());
  VICINITY_CHECK_CODE(status, absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(status.message()), Catch::Contains(address));
}

TEST_CASE("a connection that went dead while it was idle is given up in the first call",
          "[server_connection]") {
  ScriptedServer server;
  VICINITY_ASSERT_OK_AND_ASSIGN(const HostPort behind, ParseHostPort(server.address()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto proxy, testing::ChaosProxy::Start(behind, 1));
  TrafficCounters traffic;
  ConnectionOptions options;
  options.connect_timeout = std::chrono::seconds(20);
  options.channels = 1;
  options.keepalive_time = std::chrono::milliseconds(1000);
  options.keepalive_timeout = std::chrono::milliseconds(1000);
  ServerConnection connection({"c", proxy->address().ToString(), {ShardId{0}}}, options, &traffic);
  VICINITY_REQUIRE_OK(Connect(&connection));
  const auto hello = [&] {
    FanOut calls;
    connection.AskHello(nullptr, std::chrono::seconds(30),
                        [done = calls.Add()](const absl::Status& status, const proto::HelloReply&) {
                          done(status);
                        });
    return calls.Wait();
  };
  VICINITY_REQUIRE_OK(hello());
  testing::Toxics power_loss;
  power_loss.swallow = true;  // neither end hears of it
  proxy->SetBoth(power_loss);
  const auto begin = std::chrono::steady_clock::now();
  // Its deadline is far off: keep-alive has found out.
  VICINITY_CHECK_CODE(hello(), absl::StatusCode::kUnavailable);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  proxy->Heal();
  // The next may still go by it; then there is another.
  absl::Status later = hello();
  for (int i = 0; i < 100 && !later.ok(); ++i) later = hello();
  VICINITY_CHECK_OK(later);
  CHECK(proxy->counters().accepted >= 2);
}

TEST_CASE("settings name the shard, the server and the call", "[server_connection]") {
  TrafficCounters traffic;
  const auto connection = To("127.0.0.1:7502", &traffic);
  CHECK(connection->Settings(ShardId{2}, "FetchRows", nullptr).where ==
        "shard 2 at 127.0.0.1:7502 (server c): FetchRows");
}

}  // namespace
}  // namespace vicinity
