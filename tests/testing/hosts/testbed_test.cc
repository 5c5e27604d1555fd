#include "tests/testing/hosts/testbed.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/ids.h"
#include "tests/testing/chaos/chaos_proxy.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {
namespace {

std::unique_ptr<Testbed> Started(bool proxies = false) {
  TestbedOptions options;
  options.graph.num_nodes = 100;
  options.graph.num_shards = 3;
  options.num_servers = 2;
  options.proxies = proxies;
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Testbed> testbed, Testbed::Start(options));
  return testbed;
}

// A daemon of gRPC's speaks first, with its HTTP/2 settings.
enum class Answer { kNothing, kRefused, kSettings };
Answer Knock(const HostPort& address, int limit_ms) {
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in raw{};
  raw.sin_family = AF_INET;
  raw.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  raw.sin_port = htons(static_cast<uint16_t>(address.port));
  Answer answer = Answer::kRefused;
  if (connect(client, reinterpret_cast<sockaddr*>(&raw), sizeof(raw)) == 0) {
    pollfd readable{client, POLLIN, 0};
    char byte;
    answer = Answer::kNothing;
    if (poll(&readable, 1, limit_ms) == 1) {
      answer = recv(client, &byte, 1, 0) == 1 ? Answer::kSettings : Answer::kRefused;
    }
  }
  close(client);
  return answer;
}

TEST_CASE("a testbed's servers answer, and its cluster file leads to them", "[testbed]") {
  const std::unique_ptr<Testbed> testbed = Started();
  VICINITY_ASSERT_OK_AND_ASSIGN(const ClusterFile file, ReadClusterFile(testbed->cluster_file()));
  CHECK(file.data == testbed->directory());
  CHECK(file.num_shards == 3);
  REQUIRE(file.servers.size() == 2);
  CHECK(file.servers[0].shards == std::vector<ShardId>{ShardId{0}, ShardId{2}});
  CHECK(file.servers[1].shards == std::vector<ShardId>{ShardId{1}});
  for (int server = 0; server < 2; ++server) {
    CHECK(file.servers[server].advertise == testbed->address(server).ToString());
    CHECK(Knock(testbed->address(server), 20'000) == Answer::kSettings);
    CHECK_THAT(testbed->LogTail(server), Catch::Contains("ready in"));
    VICINITY_ASSERT_OK_AND_ASSIGN(const ProcessUse use, testbed->Use(server));
    CHECK(use.resident_bytes > 1 << 20);
    CHECK(use.open_files > 3);
    CHECK(use.threads > 1);
  }
}

TEST_CASE("a server can be killed and comes back on its port", "[testbed]") {
  const std::unique_ptr<Testbed> testbed = Started();
  const HostPort address = testbed->address(1);
  VICINITY_REQUIRE_OK(testbed->Kill(1));
  CHECK(Knock(address, 0) == Answer::kRefused);
  VICINITY_CHECK_CODE(testbed->Use(1).status(), absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_CODE(testbed->Terminate(1).status(), absl::StatusCode::kFailedPrecondition);
  CHECK(Knock(testbed->address(0), 20'000) == Answer::kSettings);
  VICINITY_REQUIRE_OK(testbed->Restart(1));
  CHECK(testbed->address(1).ToString() == address.ToString());
  CHECK(Knock(address, 20'000) == Answer::kSettings);
}

TEST_CASE("a paused server takes connections and says nothing until it goes on", "[testbed]") {
  const std::unique_ptr<Testbed> testbed = Started();
  testbed->Pause(0);
  CHECK(Knock(testbed->address(0), 50) == Answer::kNothing);
  testbed->Continue(0);
  CHECK(Knock(testbed->address(0), 20'000) == Answer::kSettings);
  testbed->Pause(0);
  VICINITY_ASSERT_OK_AND_ASSIGN(const int code, testbed->Terminate(0));
  CHECK(code == 0);
  testbed->Pause(1);  // and is left so: the destructor ends it
}

TEST_CASE("a server can be replaced by one of another dataset", "[testbed]") {
  const std::unique_ptr<Testbed> testbed = Started();
  VICINITY_REQUIRE_OK(testbed->Restart(1, 2));
  CHECK_THAT(testbed->LogTail(1), Catch::Contains("ready in"));
  CHECK(Knock(testbed->address(1), 20'000) == Answer::kSettings);
  VICINITY_REQUIRE_OK(testbed->Restart(1));
}

TEST_CASE("clients may be led through proxies", "[testbed]") {
  const std::unique_ptr<Testbed> testbed = Started(true);
  VICINITY_ASSERT_OK_AND_ASSIGN(const ClusterFile file, ReadClusterFile(testbed->cluster_file()));
  for (int server = 0; server < 2; ++server) {
    const HostPort proxy = testbed->proxy(server)->address();
    CHECK(file.servers[server].advertise == proxy.ToString());
    CHECK(Knock(proxy, 20'000) == Answer::kSettings);
    CHECK(testbed->proxy(server)->counters().accepted == 1);
  }
  VICINITY_REQUIRE_OK(testbed->Kill(1));
  CHECK(Knock(testbed->proxy(1)->address(), 20'000) == Answer::kRefused);
}

TEST_CASE("a daemon that does not get ready is an error with its log", "[testbed]") {
  TestbedOptions options;
  options.server_flags = {"--no-such-flag"};
  const absl::Status status = Testbed::Start(options).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kAborted);
  CHECK_THAT(std::string(status.message()), Catch::Contains("--no-such-flag"));
  options.num_servers = 2;  // of one shard
  VICINITY_CHECK_CODE(Testbed::Start(options).status(), absl::StatusCode::kInvalidArgument);
  options.replicas = 3;  // on two servers
  VICINITY_CHECK_CODE(Testbed::Start(options).status(), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a shard's replicas are on the servers that follow each other", "[testbed]") {
  TestbedOptions options;
  options.graph.num_nodes = 100;
  options.graph.num_shards = 4;
  options.num_servers = 3;
  options.replicas = 2;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Testbed> testbed, Testbed::Start(options));
  VICINITY_ASSERT_OK_AND_ASSIGN(const ClusterFile cluster,
                                ReadClusterFile(testbed->cluster_file()));
  CHECK(cluster.ServersOf(ShardId{0}) == std::vector<int>{0, 1});
  CHECK(cluster.ServersOf(ShardId{1}) == std::vector<int>{1, 2});
  CHECK(cluster.ServersOf(ShardId{2}) == std::vector<int>{0, 2});
  CHECK(cluster.ServersOf(ShardId{3}) == std::vector<int>{0, 1});
}

}  // namespace
}  // namespace vicinity::testing
