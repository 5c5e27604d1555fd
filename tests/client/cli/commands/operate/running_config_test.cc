#include "client/cli/commands/operate/running_config.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/status_checks.h"

namespace vicinity::cli {
namespace {

using Answers = std::vector<absl::StatusOr<proto::StatusReply>>;

proto::StatusReply Running(const std::vector<int32_t>& shards) {
  proto::StatusReply status;
  status.set_version("1.2.3");
  status.set_dataset("cora");
  status.set_fingerprint(7);
  for (const int32_t shard : shards) status.add_shards()->set_shard(shard);
  proto::LimitStatus* const limit = status.add_limits();
  limit->set_name("max-calls");
  limit->set_limit(1024);
  return status;
}

ClusterFile FileOf(const std::string& more = "") {
  const auto file = ParseClusterFile(
      "cluster", absl::StrCat("data: 'graph' num_shards: 3 ", more,
                              " servers { name: 'a' listen: '127.0.0.1:1' shards: [0, 1] }"
                              " servers { name: 'b' listen: '127.0.0.1:2' shards: [1, 2] }"
                              " servers { name: 'c' listen: '127.0.0.1:3' shards: [2, 0] }"));
  VICINITY_REQUIRE_OK(file);
  return *file;
}

TEST_CASE("servers that run as the file says do not differ", "[config]") {
  const Answers answers = {Running({0, 1}), Running({2, 1}), Running({0, 2})};
  CHECK(DifferencesOf(FileOf(), answers).empty());
}

TEST_CASE("shards, TLS and liveness are compared with the file", "[config]") {
  Answers answers = {Running({0}), Running({1, 2}), absl::UnavailableError("away")};
  const std::vector<Difference> shards = DifferencesOf(FileOf(), answers);
  REQUIRE(shards.size() == 1);
  CHECK(shards[0].server == "a");
  CHECK(shards[0].setting == "shards");
  CHECK(shards[0].runs == "0");
  CHECK(shards[0].should == "0,1");
  CHECK(shards[0].why == "cluster file");

  answers = {Running({0, 1}), Running({1, 2}), Running({0, 2})};
  const std::vector<Difference> tls =
      DifferencesOf(FileOf("tls { certificate: 'c' ca: 'd' }"), answers);
  REQUIRE(tls.size() == 3);
  CHECK(tls[2].setting == "tls");
  CHECK(tls[2].should == "yes");

  answers[1]->mutable_shards(0)->mutable_position()->set_version(3);
  const std::vector<Difference> live = DifferencesOf(FileOf(), answers);
  REQUIRE(live.size() == 1);
  CHECK(live[0].server == "b");
  CHECK(live[0].setting == "live");
}

TEST_CASE("what the file does not say is compared with most of the servers", "[config]") {
  Answers answers = {Running({0, 1}), Running({1, 2}), Running({0, 2})};
  answers[0]->set_version("1.2.2");
  answers[2]->set_fingerprint(8);
  answers[2]->mutable_limits(0)->set_limit(2048);
  const std::vector<Difference> found = DifferencesOf(FileOf(), answers);
  REQUIRE(found.size() == 3);
  CHECK(found[0].server == "a");
  CHECK(found[0].setting == "version");
  CHECK(found[0].should == "1.2.3");
  CHECK(found[0].why == "other servers");
  CHECK(found[1].setting == "fingerprint");
  CHECK(found[1].runs == "0000000000000008");
  CHECK(found[2].setting == "max-calls");
  CHECK(found[2].runs == "2048");
  CHECK(found[2].should == "1024");
}

}  // namespace
}  // namespace vicinity::cli
