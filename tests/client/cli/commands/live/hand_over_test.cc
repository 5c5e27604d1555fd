#include "client/cli/commands/live/hand_over.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/client/cli/admin_site.h"
#include "tests/testing/status_checks.h"

// Promotions that come off: live_rollout_test.cc and live_replicas_test.cc.
namespace vicinity::cli {
namespace {

constexpr char kServers[] =
    "data: 'graph' num_shards: 3 "
    "servers { name: 'a' listen: '127.0.0.1:1' shards: [0, 2] admin: '127.0.0.1:4' }"
    "servers { name: 'b' listen: '127.0.0.1:2' shards: [0, 1, 2] }"
    "servers { name: 'c' listen: '127.0.0.1:3' shards: [2] }";

ClusterFile Live() {
  const auto file = ParseClusterFile("cluster", std::string(kServers) + " changes: 'changes'");
  VICINITY_REQUIRE_OK(file);
  return *file;
}

TEST_CASE("a server shares the shards of a live graph that others have, too", "[hand_over]") {
  const ClusterFile cluster = Live();
  CHECK(SharedShards(cluster, "a") == std::vector<ShardId>{{0}, {2}});
  CHECK(SharedShards(cluster, "b") == std::vector<ShardId>{{0}, {2}});
  CHECK(SharedShards(cluster, "c") == std::vector<ShardId>{{2}});
  CHECK(SharedShards(cluster, "d").empty());
  VICINITY_ASSERT_OK_AND_ASSIGN(const ClusterFile read_only, ParseClusterFile("cluster", kServers));
  CHECK(SharedShards(read_only, "a").empty());
}

TEST_CASE("shards that nobody can be asked about fail, each with its text", "[hand_over]") {
  AppointCalls calls({{"a", "127.0.0.1:1"}, {"b", ""}}, absl::Seconds(5));
  const PromotedShards promoted =
      PromoteShards(Live(), {ShardId{0}, ShardId{2}}, PromotionOptions(), &calls);
  CHECK(promoted.done.empty());
  VICINITY_CHECK_CODE(promoted.failed, absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(promoted.failed.message()), Catch::Contains("shard 0: ") &&
                                                         Catch::Contains("; shard 2: ") &&
                                                         Catch::Contains("no `admin` address"));
}

TEST_CASE("what a server says is passed on", "[hand_over]") {
  const testing::AdminSite site;  // whose graph is read-only
  AppointCalls calls({{"a", site.server().admin_address()->ToString()}}, absl::Seconds(20));
  VICINITY_CHECK_CODE(calls.Call("a", proto::AppointRequest()), absl::StatusCode::kUnimplemented);
  VICINITY_CHECK_CODE(calls.Call("b", proto::AppointRequest()), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace vicinity::cli
