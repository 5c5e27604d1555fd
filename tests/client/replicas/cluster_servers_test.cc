#include "client/replicas/cluster_servers.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/replicas/jitter.h"
#include "client/replicas/real_timer.h"
#include "client/shards/traffic.h"
#include "tests/client/scripted_server.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::ScriptedServer;

constexpr char kNobody[] = "127.0.0.1:1";

// Scripted servers "a", "b", "c", each with the shards it is to have, and what it says it is.
class ClusterServersTest {
 protected:
  // A server of dataset 1 that has what it should; what comes back may be changed before Open.
  ScriptedServer& Add(const std::vector<int32_t>& shards) {
    auto& server = servers_.emplace_back(std::make_unique<ScriptedServer>());
    server->hello.clear_shards();
    for (const int32_t shard : shards) server->hello.add_shards(shard);
    AddEndpoint(server->address(), shards);
    return *server;
  }
  void AddEndpoint(const std::string& address, const std::vector<int32_t>& shards) {
    ServerEndpoint endpoint;
    endpoint.name = std::string(1, static_cast<char>('a' + endpoints_.size()));
    endpoint.address = address;
    for (const int32_t shard : shards) endpoint.shards.push_back(ShardId{shard});
    endpoints_.push_back(std::move(endpoint));
  }
  absl::StatusOr<uint64_t> Open(const std::optional<KnownDataset>& known = std::nullopt) {
    ConnectionOptions options;
    options.channels = 1;
    std::vector<ServerToReach> servers;
    for (const ServerEndpoint& endpoint : endpoints_) {
      const bool somebody = endpoint.address != kNobody;
      options.connect_timeout = std::chrono::milliseconds(somebody ? 20'000 : 400);
      servers.push_back({endpoint, options});
    }
    cluster_ = std::make_unique<ClusterServers>(std::move(servers),
                                                ReplicaTools{&timer_, &jitter_, &traffic_});
    return cluster_->ChooseDataset(known);
  }
  // A server that is slow to answer is not waited for when the others have all.
  template <typename Condition>
  static bool Soon(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return condition();
  }
  bool SoonLive(int server) {
    return Soon([&] { return cluster_->replica(server)->live(); });
  }
  absl::Status SoonRefused(int server, absl::StatusCode code) {
    Soon([&] { return cluster_->replica(server)->last_error().code() == code; });
    return cluster_->replica(server)->last_error();
  }

  RealTimer timer_;
  Jitter jitter_{1};
  TrafficCounters traffic_;
  std::vector<std::unique_ptr<ScriptedServer>> servers_;
  std::vector<ServerEndpoint> endpoints_;
  std::unique_ptr<ClusterServers> cluster_;
};

TEST_CASE_METHOD(ClusterServersTest, "servers of one dataset are all live", "[cluster_servers]") {
  Add({0, 1});
  Add({1});
  VICINITY_ASSERT_OK_AND_ASSIGN(const uint64_t fingerprint, Open());
  CHECK(fingerprint == 1);
  CHECK(SoonLive(0));
  CHECK(SoonLive(1));
}

TEST_CASE_METHOD(ClusterServersTest, "a server that is away is no matter while others have all",
                 "[cluster_servers]") {
  Add({0, 1});
  AddEndpoint(kNobody, {1});
  VICINITY_REQUIRE_OK(Open());
  CHECK(cluster_->replica(0)->live());
  CHECK_FALSE(cluster_->replica(1)->live());
}

TEST_CASE_METHOD(ClusterServersTest, "a shard that no server has is an error that names them",
                 "[cluster_servers]") {
  Add({0});
  AddEndpoint(kNobody, {1});
  SECTION("one") {
    const absl::Status status = Open().status();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kUnavailable);
    CHECK_THAT(std::string(status.message()), Catch::Contains("shards 1 at 127.0.0.1:1"));
  }
  SECTION("two") {
    Add({1}).hello.clear_shards();
    const absl::Status status = Open().status();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kUnavailable);
    CHECK_THAT(std::string(status.message()), Catch::Contains("shard 1 has no server") &&
                                                  Catch::Contains("(server b)") &&
                                                  Catch::Contains("(server c)"));
  }
}

TEST_CASE_METHOD(ClusterServersTest, "a server without its shard is not used",
                 "[cluster_servers]") {
  Add({0, 1}).hello.clear_shards();
  SECTION("an error where it is the only one") {
    VICINITY_CHECK_CODE(Open(), absl::StatusCode::kNotFound);
  }
  SECTION("no matter where there is another") {
    Add({0, 1});
    VICINITY_REQUIRE_OK(Open());
    VICINITY_CHECK_CODE(SoonRefused(0, absl::StatusCode::kNotFound), absl::StatusCode::kNotFound);
    CHECK_FALSE(cluster_->replica(0)->live());
  }
}

TEST_CASE_METHOD(ClusterServersTest, "a replica of another dataset is never used",
                 "[cluster_servers]") {
  Add({0}).hello.set_fingerprint(0xabc);
  Add({0, 1}).hello.set_fingerprint(0xdef);
  VICINITY_ASSERT_OK_AND_ASSIGN(const uint64_t fingerprint, Open());
  CHECK(fingerprint == 0xdef);
  const absl::Status why = SoonRefused(0, absl::StatusCode::kFailedPrecondition);
  CHECK_FALSE(cluster_->replica(0)->live());
  VICINITY_CHECK_CODE(why, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(why.message()),
             Catch::Contains("0000000000000abc") && Catch::Contains("0000000000000def"));
}

TEST_CASE_METHOD(ClusterServersTest, "a server that another dataset has been put in is known to be",
                 "[cluster_servers]") {
  ScriptedServer& other = Add({0});
  Add({0});
  other.hello.set_fingerprint(0xdef);
  const bool follows = GENERATE(false, true);
  if (follows) other.hello.set_follows(1);
  VICINITY_REQUIRE_OK(Open(KnownDataset{1, "/data/g"}));
  const absl::Status why = SoonRefused(0, absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_CODE(why, absl::StatusCode::kFailedPrecondition);
  CHECK(cluster_->replica(0)->replaced() == follows);
  CHECK_FALSE(cluster_->replica(1)->replaced());
}

TEST_CASE_METHOD(ClusterServersTest, "where no dataset or more than one is whole, none is read",
                 "[cluster_servers]") {
  Add({0}).hello.set_fingerprint(0xabc);
  Add({1}).hello.set_fingerprint(0xdef);
  SECTION("none") {}
  SECTION("two") {
    Add({0}).hello.set_fingerprint(0xdef);
    Add({1}).hello.set_fingerprint(0xabc);
  }
  const absl::Status status = Open().status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("0000000000000abc") && Catch::Contains("0000000000000def"));
}

TEST_CASE_METHOD(ClusterServersTest, "a dataset that is known decides", "[cluster_servers]") {
  Add({0}).hello.set_fingerprint(0xabc);
  Add({0}).hello.set_fingerprint(0xdef);
  VICINITY_ASSERT_OK_AND_ASSIGN(const uint64_t fingerprint, Open(KnownDataset{0xabc, "/data/g"}));
  CHECK(fingerprint == 0xabc);
  CHECK(cluster_->replica(0)->live());
  CHECK_FALSE(cluster_->replica(1)->live());
  const absl::Status status = Open(KnownDataset{0x123, "/data/g"}).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()), Catch::Contains("/data/g of 0000000000000123"));
}

}  // namespace
}  // namespace vicinity
