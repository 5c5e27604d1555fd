#include "client/cli/commands/status_command.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/command.h"
#include "client/cli/commands/top_command.h"
#include "proto/cluster/host_port.h"
#include "server/server.h"
#include "server/server_options.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

TEST_CASE("status shows every server of a cluster", "[cli]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 3, 2);
  const Answer table = RunCommand(kStatusCommand, {"--cluster", cluster.cluster_file()});
  CHECK(table.code == ExitCode::kOk);
  CHECK_THAT(table.out, Catch::Contains("s0") && Catch::Contains("s1"));
  CHECK_THAT(table.out, Catch::Contains("0,2"));
  CHECK_THAT(table.out, Catch::Contains(cluster.address(1)));

  const Answer json =
      RunCommand(kStatusCommand, {"--cluster", cluster.cluster_file(), "--format=json"});
  CHECK(json.code == ExitCode::kOk);
  const nlohmann::json found = nlohmann::json::parse(json.out);
  REQUIRE(found["servers"].size() == 2);
  const nlohmann::json& first = found["servers"][0];
  CHECK(first["name"] == "s0");
  CHECK(first["answered"] == true);
  CHECK(first["shards"].size() == 2);
  CHECK(first["shards"][1]["shard"] == 2);
  CHECK(first["shards"][1]["fault"] == "");
  CHECK(first["resident_bytes"] > 0);
  CHECK(first["methods"].size() == 18);
  CHECK(first["limits"].size() > 8);
  CHECK(first["limits"][0]["name"] == "max-calls");
  CHECK(first["limits"][0]["limit"] == 1024);
  CHECK(first["limits"][0]["refused"] == 0);
}

TEST_CASE("status shows what servers count if it is asked to", "[cli]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  RunCommand(kStatusCommand, {"--server", cluster.address(0)});
  const Answer text = RunCommand(kStatusCommand, {"--server", cluster.address(0), "--metrics"});
  CHECK(text.code == ExitCode::kOk);
  CHECK_THAT(text.out, Catch::Contains("grpc_method=Status} 2") &&
                           Catch::Contains("vicinity_server_shard_faulty{shard=1} 0"));
  const Answer json =
      RunCommand(kStatusCommand, {"--server", cluster.address(0), "--metrics", "--format=json"});
  const nlohmann::json server = nlohmann::json::parse(json.out)["servers"][0];
  REQUIRE(server["metrics"].size() > 50);
  bool found = false;
  for (const nlohmann::json& metric : server["metrics"]) {
    if (metric["name"] != "grpc_server_started_total") continue;
    if (metric["labels"]["grpc_method"] != "Status") continue;
    found = true;
    CHECK(metric["kind"] == "counter");
    CHECK(metric["value"] == 3);
  }
  CHECK(found);
}

TEST_CASE("status and top show where a bulk channel is", "[cli]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  ServerOptions options;
  options.data = cluster.directory();
  options.bulk.local = true;
  options.bulk.tcp = HostPort{"127.0.0.1", 0};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Server> server, Server::Start(options));
  const std::string both = absl::StrCat(cluster.address(0), ",", server->address().ToString());
  const auto show = [&](const Command& command, std::vector<std::string> args) {
    args.insert(args.end(), {"--server", both});
    const Answer answer = RunCommand(command, args);
    CHECK(answer.code == ExitCode::kOk);
    return answer.out;
  };
  for (const auto& [command, args] :
       {std::pair(kStatusCommand, std::vector<std::string>()),
        std::pair(kTopCommand, std::vector<std::string>{"--once", "--interval", "0.05"})}) {
    CHECK_THAT(show(command, args), Catch::Contains("BULK") && Catch::Contains("unix (0)"));
    std::vector<std::string> as_json = args;
    as_json.push_back("--format=json");
    const nlohmann::json servers = nlohmann::json::parse(show(command, as_json))["servers"];
    CHECK(servers[0]["bulk"].is_null());
    CHECK(servers[1]["bulk"]["port"] > 0);
    CHECK(servers[1]["bulk"]["unix"] == true);
    CHECK(servers[1]["bulk"]["tcp_connections"] == 0);
  }
}

TEST_CASE("status of one server needs its address alone", "[cli]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  const Answer answer = RunCommand(kStatusCommand, {"--server", cluster.address(0)});
  CHECK(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::Contains("0,1"));
}

TEST_CASE("status shows what it got and marks who is missing", "[cli]") {
  testing::SmallCluster cluster(testing::RandomGraph({}), 2, 2);
  cluster.Stop(1);
  const Answer some =
      RunCommand(kStatusCommand, {"--cluster", cluster.cluster_file(), "--format=json"});
  CHECK(some.code == ExitCode::kDegraded);
  const nlohmann::json found = nlohmann::json::parse(some.out);
  CHECK(found["servers"][0]["answered"] == true);
  CHECK(found["servers"][1]["answered"] == false);
  CHECK_THAT(some.narration, Catch::Contains("s1"));
  const Answer table = RunCommand(kStatusCommand, {"--cluster", cluster.cluster_file()});
  CHECK(table.code == ExitCode::kDegraded);
  CHECK_THAT(table.out, Catch::Contains("no answer"));
  cluster.Stop(0);
  CHECK(RunCommand(kStatusCommand, {"--cluster", cluster.cluster_file()}).code ==
        ExitCode::kNotConnected);
}

TEST_CASE("status without knowing whom to ask is misuse", "[cli]") {
  CHECK(RunCommand(kStatusCommand, {}).code == ExitCode::kUsage);
  CHECK(RunCommand(kStatusCommand, {"--cluster", "c", "--server", "h:1"}).code == ExitCode::kUsage);
  CHECK(RunCommand(kStatusCommand, {"--cluster", "/no/such/file"}).code == ExitCode::kNotFound);
}

TEST_CASE("status says whose disk is nearly full, or full", "[cli]") {
  const testing::MemoryGraph graph = testing::RandomGraph({});
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 1, 5), folder.File("graph")));
  ServerOptions options;
  options.data = folder.File("graph");
  options.changes = folder.File("changes");
  const bool is_full = GENERATE(false, true);
  (is_full ? options.changes_least_free_bytes : options.changes_warn_free_bytes) = int64_t{1} << 60;
  auto server = Server::Start(options);
  VICINITY_REQUIRE_OK(server);
  const std::string wanted = is_full ? "the disk of its changes is full: it takes none"
                                     : "the disk of its changes is nearly full";
  Answer status;
  for (int i = 0; i < 1000 && status.out.find(wanted) == std::string::npos; ++i) {  // it looks soon
    status = RunCommand(kStatusCommand, {"--server", (*server)->address().ToString()});
  }
  CHECK_THAT(status.out, Catch::Contains(wanted));
  CHECK(status.code == ExitCode::kOk);
}

}  // namespace
}  // namespace vicinity::cli
