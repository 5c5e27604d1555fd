#include "client/cli/commands/graph/watch_command.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "client/changes.h"
#include "client/cli/commands/graph/versions_command.h"
#include "client/graph.h"
#include "client/writer.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::cli {
namespace {

using testing::SmallCluster;

TEST_CASE("watch shows what was written, a line a batch", "[cli]") {
  const SmallCluster cluster(testing::TypedGraph(30, 20, 10, 2), 1, 1, SmallCluster::Kind::kLive);
  GraphOptions options;
  options.cluster_file = cluster.cluster_file();
  auto graph = Graph::Open(options);
  REQUIRE(graph.ok());
  auto writer = Writer::Create(graph->get());
  REQUIRE(writer.ok());
  for (int64_t i = 0; i < 3; ++i) {
    GraphChanges changes;
    changes.new_edges = {{"knows", {1, 2}, {4, 5 + i}}};
    const std::vector<char> split = {1};
    changes.node_values = {{"user", {i}, {{"split", DType::kUint8, split}}}};
    REQUIRE((*writer)->Write(changes).ok());
  }
  const auto watch = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--cluster", cluster.cluster_file()});
    const Answer answer = RunCommand(kWatchCommand, args);
    CHECK(answer.code == ExitCode::kOk);
    return answer.out;
  };
  CHECK(watch({"--once"}).empty());
  const std::string all = watch({"--from", "0", "--once"});
  CHECK(std::count(all.begin(), all.end(), '\n') == 3);
  CHECK_THAT(all,
             Catch::Contains("shard 0  version 2  add 2 user:knows:user, update 1 user (split)"));
  const std::string some = watch({"--from", "1", "--count", "1", "--format", "json"});
  const nlohmann::json change = nlohmann::json::parse(some);
  CHECK(change["version"] == 2);
  CHECK(change["writer"].get<std::string>().size() == 32);
  CHECK(change["changes"][0]["edges"] == "user:knows:user");
  CHECK(change["changes"][0]["action"] == "add");
  CHECK(change["changes"][1]["column"] == "split");
  // A version that is yet to come: from there on.
  CHECK(watch({"--from", "9", "--once"}).empty());
}

TEST_CASE("watch goes on where its cursor was acknowledged, and leaves nothing out", "[cli]") {
  SmallCluster cluster(testing::TypedGraph(30, 20, 10, 2), 1, 1, SmallCluster::Kind::kLive);
  GraphOptions options;
  options.cluster_file = cluster.cluster_file();
  auto graph = Graph::Open(options);
  REQUIRE(graph.ok());
  auto writer = Writer::Create(graph->get());
  REQUIRE(writer.ok());
  const auto write = [&](int batches) {
    for (int i = 0; i < batches; ++i) {
      GraphChanges changes;
      changes.new_edges = {{"knows", {1, 2}, {4, 5}}};
      REQUIRE((*writer)->Write(changes).ok());
    }
  };
  const auto watch = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--cluster", cluster.cluster_file(), "--format", "json"});
    const Answer answer = RunCommand(kWatchCommand, args);
    CHECK(answer.code == ExitCode::kOk);
    std::vector<uint64_t> versions;
    std::istringstream lines(answer.out);
    for (std::string line; std::getline(lines, line);) {
      versions.push_back(nlohmann::json::parse(line)["version"]);
    }
    return versions;
  };
  const auto cursors = [&] {
    const Answer answer = RunCommand(
        kVersionsCommand, {"--cluster", cluster.cluster_file(), "--cursors", "--format", "json"});
    CHECK(answer.code == ExitCode::kOk);
    return nlohmann::json::parse(answer.out)["cursors"];
  };
  write(3);
  CHECK(watch({"--cursor", "indexer", "--once", "--count", "2"}) == std::vector<uint64_t>{1, 2});
  CHECK(watch({"--cursor", "indexer", "--once"}) == std::vector<uint64_t>{3});
  CHECK(watch({"--cursor", "indexer", "--once"}).empty());
  CHECK(watch({"--cursor", "other", "--once"}) == std::vector<uint64_t>{1, 2, 3});
  write(2);
  REQUIRE(cursors().size() == 2);
  CHECK(cursors()[0]["cursor"] == "indexer");
  CHECK(cursors()[0]["version"] == 3);
  CHECK(cursors()[0]["behind"] == 2);

  // Between what is read and its acknowledgement a reader ends: it is read again.
  const auto read = ReadChangesOf(**graph, 0, "indexer", 10);
  REQUIRE(read.ok());
  REQUIRE(read->size() == 2);
  CHECK((*read)[0].version == 4);
  cluster.Restart(0);
  CHECK(ReadChangesOf(**graph, 0, "indexer", 1)->front().version == 4);
  CHECK(AcknowledgeChanges(**graph, 0, "indexer", {4, 0}).ok());
  CHECK(AcknowledgeChanges(**graph, 0, "indexer", {2, 0}).ok());  // late, and no way back
  cluster.Restart(0);
  CHECK(watch({"--cursor", "indexer", "--once"}) == std::vector<uint64_t>{5});

  CHECK(AcknowledgeChanges(**graph, 0, "indexer", 6).code() == ErrorCode::kOutOfRange);
  CHECK(AcknowledgeChanges(**graph, 0, "indexer", {5, 1}).code() == ErrorCode::kOutOfRange);
  CHECK(AcknowledgeChanges(**graph, 0, "", 1).code() == ErrorCode::kInvalidArgument);
  CHECK(ReadChangesOf(**graph, 0, std::string(65, 'x'), 1).error().code() ==
        ErrorCode::kInvalidArgument);
  CHECK(RunCommand(kVersionsCommand,
                   {"--cluster", cluster.cluster_file(), "--drop-cursor", "indexer"})
            .code == ExitCode::kOk);
  CHECK(cursors().size() == 1);
  CHECK(ReadChangesOf(**graph, 0, "indexer", 1)->front().version == 1);
}

TEST_CASE("in a graph that is read-only there is nothing to watch", "[cli]") {
  const SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  CHECK(RunCommand(kWatchCommand, {"--cluster", cluster.cluster_file(), "--once"}).code ==
        ExitCode::kPrecondition);
}

}  // namespace
}  // namespace vicinity::cli
