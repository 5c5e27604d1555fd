#include "proto/cluster/server_checker.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/cluster.pb.h"
#include "proto/cluster/cluster_lines.h"
#include "proto/cluster/text_proto.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// A file of two shards, and what is checked of its servers.
struct Checked {
  explicit Checked(const std::string& servers)
      : text("data: 'g' num_shards: 2\n" + servers), cluster(Parsed(text)), lines("c.txt", text) {}

  static proto::Cluster Parsed(const std::string& text) {
    proto::Cluster cluster;
    VICINITY_REQUIRE_OK(ParseTextProto("c.txt", text, &cluster));
    return cluster;
  }

  const std::string text;
  const proto::Cluster cluster;
  const ClusterLines lines;
  ServerChecker checker{cluster, lines};
};

TEST_CASE("a server has its shards in order and is dialled where it listens", "[server_checker]") {
  Checked checked("servers { name: 'a' listen: 'h:1' shards: [1, 0] admin: 'h:2' http: 'h:3' }");
  VICINITY_ASSERT_OK_AND_ASSIGN(const ClusterServer server, checked.checker.Check(0));
  CHECK(server.name == "a");
  CHECK(server.shards == std::vector<ShardId>{{0}, {1}});
  CHECK(server.advertise == "h:1");
  CHECK(server.admin == "h:2");
  CHECK(server.http == "h:3");
  VICINITY_CHECK_OK(checked.checker.CheckAllServed());
}

TEST_CASE("where a server listens on any port nobody knows what to dial", "[server_checker]") {
  Checked checked("servers { name: 'a' listen: 'h:0' shards: 0 }");
  VICINITY_ASSERT_OK_AND_ASSIGN(const ClusterServer server, checked.checker.Check(0));
  CHECK(server.advertise.empty());
}

TEST_CASE("a shard that no server serves is named", "[server_checker]") {
  Checked checked("servers { name: 'a' listen: 'h:1' shards: 0 }");
  VICINITY_CHECK_OK(checked.checker.Check(0).status());
  const absl::Status status = checked.checker.CheckAllServed();
  CHECK(status.message() == "c.txt:1: num_shards is 2, but no server serves shard 1");
}

TEST_CASE("two servers of one name, or one shard twice, are refused", "[server_checker]") {
  Checked checked(
      "servers { name: 'a' listen: 'h:1' shards: 0 }\n"
      "servers { name: 'a' listen: 'h:2' shards: 1 }\n"
      "servers { name: 'b' listen: 'h:3' shards: [1, 1] }");
  VICINITY_CHECK_OK(checked.checker.Check(0).status());
  CHECK(checked.checker.Check(1).status().message() == "c.txt:3: server \"a\" is there twice");
  CHECK(checked.checker.Check(2).status().message() ==
        "c.txt:4: server \"b\" serves shard 1, which it has listed already");
}

}  // namespace
}  // namespace vicinity
