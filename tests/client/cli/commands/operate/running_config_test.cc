#include "client/cli/commands/operate/running_config.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/status_checks.h"

namespace vicinity::cli {
namespace {

using Answers = std::vector<Running>;

// With limits and without flags, as a server that has no admin port answers.
Running Serving(const std::vector<int32_t>& shards) {
  proto::StatusReply status;
  status.set_version("1.2.3");
  status.set_dataset("cora");
  status.set_fingerprint(7);
  for (const int32_t shard : shards) status.add_shards()->set_shard(shard);
  proto::LimitStatus* const limit = status.add_limits();
  limit->set_name("max-calls");
  limit->set_limit(1024);
  return {status, absl::FailedPreconditionError("no admin port")};
}

Running Away() { return {absl::UnavailableError("away"), absl::UnavailableError("away")}; }

struct Flag {
  std::string name;
  std::string value;
  proto::FlagSource source = proto::FLAG_SOURCE_DEFAULT;
};

Running With(Running running, const std::vector<Flag>& flags) {
  proto::ConfigReply config;
  for (const Flag& flag : flags) {
    proto::FlagValue* const added = config.add_flags();
    added->set_name(flag.name);
    added->set_value(flag.value);
    added->set_source(flag.source);
  }
  running.config = config;
  return running;
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
  const Answers answers = {Serving({0, 1}), Serving({2, 1}), Serving({0, 2})};
  CHECK(DifferencesOf(FileOf(), answers).empty());
}

TEST_CASE("shards, TLS and liveness are compared with the file", "[config]") {
  Answers answers = {Serving({0}), Serving({1, 2}), Away()};
  const std::vector<Difference> shards = DifferencesOf(FileOf(), answers);
  REQUIRE(shards.size() == 1);
  CHECK(shards[0].server == "a");
  CHECK(shards[0].setting == "shards");
  CHECK(shards[0].runs == "0");
  CHECK(shards[0].should == "0,1");
  CHECK(shards[0].why == "cluster file");

  answers = {Serving({0, 1}), Serving({1, 2}), Serving({0, 2})};
  const std::vector<Difference> tls =
      DifferencesOf(FileOf("tls { certificate: 'c' ca: 'd' }"), answers);
  REQUIRE(tls.size() == 3);
  CHECK(tls[2].setting == "tls");
  CHECK(tls[2].should == "yes");

  answers[1].status->mutable_shards(0)->mutable_position()->set_version(3);
  const std::vector<Difference> live = DifferencesOf(FileOf(), answers);
  REQUIRE(live.size() == 1);
  CHECK(live[0].server == "b");
  CHECK(live[0].setting == "live");
}

TEST_CASE("what the file does not say is compared with most of the servers", "[config]") {
  Answers answers = {Serving({0, 1}), Serving({1, 2}), Serving({0, 2})};
  answers[0].status->set_version("1.2.2");
  answers[2].status->set_fingerprint(8);
  answers[2].status->mutable_limits(0)->set_limit(2048);
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

TEST_CASE("flags stand in the place of limits, with where they come from", "[config]") {
  const std::vector<Setting> settings =
      SettingsOf(With(Serving({0}), {{"--max-calls", "1024"},
                                     {"--data", "/graph", proto::FLAG_SOURCE_CLUSTER_FILE},
                                     {"--log-level", "debug", proto::FLAG_SOURCE_ADMIN_CALL}}));
  REQUIRE(settings.size() == 9);
  CHECK(settings[0].source == "server");
  CHECK(settings[6].name == "--max-calls");
  CHECK(settings[6].source == "default");
  CHECK(settings[7].value == "/graph");
  CHECK(settings[7].source == "cluster file");
  CHECK(settings[8].source == "admin call");
  CHECK(SettingsOf(Serving({0}))[6].name == "max-calls");
}

TEST_CASE("flags are compared with those of most, addresses with the file", "[config]") {
  Answers answers = {With(Serving({0, 1}), {{"--max-calls", "512"}, {"--listen", "127.0.0.1:1"}}),
                     With(Serving({1, 2}), {{"--max-calls", "9"}, {"--listen", "127.0.0.1:9"}}),
                     With(Serving({0, 2}), {{"--max-calls", "9"}, {"--listen", "127.0.0.1:3"}})};
  const std::vector<Difference> found = DifferencesOf(FileOf(), answers);
  REQUIRE(found.size() == 2);
  CHECK(found[0].server == "a");
  CHECK(found[0].setting == "--max-calls");
  CHECK(found[0].runs == "512");
  CHECK(found[0].should == "9");
  CHECK(found[0].why == "other servers");
  CHECK(found[1].server == "b");
  CHECK(found[1].setting == "--listen");
  CHECK(found[1].should == "127.0.0.1:2");
  CHECK(found[1].why == "cluster file");
}

TEST_CASE("the bulk channel is compared with the file where that says anything", "[config]") {
  const Answers answers = {With(Serving({0, 1}), {{"--bulk", "local"}}),
                           With(Serving({1, 2}), {{"--bulk", "none"}}),
                           With(Serving({0, 2}), {{"--bulk", "none"}})};
  const std::vector<Difference> of_others = DifferencesOf(FileOf(), answers);
  REQUIRE(of_others.size() == 1);
  CHECK(of_others[0].server == "a");
  CHECK(of_others[0].why == "other servers");
  const std::vector<Difference> of_file = DifferencesOf(FileOf("bulk: 'local'"), answers);
  REQUIRE(of_file.size() == 2);
  CHECK(of_file[0].server == "b");
  CHECK(of_file[0].setting == "--bulk");
  CHECK(of_file[0].should == "local");
  CHECK(of_file[0].why == "cluster file");
}

TEST_CASE("what is a server's own, and what some do not tell, is no difference", "[config]") {
  const Answers answers = {
      With(Serving({0, 1}), {{"--name", "a"}, {"--tls-key", "/a"}, {"--new-flag", ""}}),
      With(Serving({1, 2}), {{"--name", "b"}, {"--tls-key", "/b"}}), Away()};
  CHECK(DifferencesOf(FileOf(), answers).empty());
}

}  // namespace
}  // namespace vicinity::cli
