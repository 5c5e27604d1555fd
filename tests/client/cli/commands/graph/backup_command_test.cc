#include "client/cli/commands/graph/backup_command.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli/output/exit_code.h"
#include "client/graph.h"
#include "client/graph_impl.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_requests.h"
#include "proto/live.pb.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/shard_answers.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

using testing::SmallCluster;

constexpr int32_t kKnows = 3;

std::unique_ptr<Graph> Open(const SmallCluster& cluster) {
  GraphOptions options;
  options.cluster_file = cluster.cluster_file();
  auto graph = Graph::Open(options);
  if (!graph.ok()) FAIL(graph.error().message());
  return *std::move(graph);
}

// `count` batches to each shard: an edge to its first user, and a row of it.
void Write(const Graph& graph, uint64_t first, uint64_t count) {
  const ShardRouter& router = graph.impl().router();
  for (int32_t s = 0; s < router.book().num_shards(); ++s) {
    const auto user = static_cast<uint64_t>(router.book().First({0}, {s}).value);
    for (uint64_t i = first; i < first + count; ++i) {
      proto::WriteBatch batch;
      proto::NewEdges& edges = *batch.add_new_edges();
      edges.set_edge_type(kKnows);
      edges.add_sources(user);
      edges.add_targets(user);
      proto::NodeRows& rows = *batch.add_node_rows();
      rows.add_nodes(user);
      rows.mutable_values()->set_rows(std::string(20, static_cast<char>(i)));
      proto::WriteSession session;
      session.set_id("w");
      session.set_sequence(i);
      AppliedBatch applied;
      FanOut calls;
      router.shard({s}).Ask(ShardWrite{&session, &batch, Durability::kBuffered, &applied}, nullptr,
                            calls.Add());
      VICINITY_REQUIRE_OK(calls.Wait());
    }
  }
}

testing::ShardAnswers AllOf(const Graph& graph) {
  testing::ShardAnswers all;
  for (int32_t s = 0; s < graph.num_shards(); ++s) {
    for (auto& answer :
         testing::AnswersOf(graph.schema(), &graph.impl().router().shard({s}), {{}, {}, {}})) {
      all.push_back(std::move(answer));
    }
  }
  return all;
}

TEST_CASE("a backup is added to, verified, and restored to what it was", "[backup_command]") {
  const testing::TempDir folder;
  const std::string kept = folder.File("kept");
  SmallCluster cluster(testing::TypedGraph(40, 30, 12, 3), 2, 1, SmallCluster::Kind::kLive);
  auto graph = Open(cluster);
  const auto create = [&] {
    const auto run = RunCommand(kBackupCommand, {"create", "--cluster", cluster.cluster_file(),
                                                 "--to", kept, "--format", "json"});
    REQUIRE(run.code == ExitCode::kOk);
    return nlohmann::json::parse(run.out)["shards"];
  };
  Write(*graph, 1, 5);
  CHECK(create()[0]["added"] == 5);
  Write(*graph, 6, 40);
  const auto second = create();
  REQUIRE(second.size() == 2);
  CHECK(second[1]["version"] == 45);
  CHECK(second[1]["added"] == 40);
  CHECK(create()[1]["added"] == 0);
  const testing::ShardAnswers before = AllOf(*graph);
  const auto then = *graph->Versions();

  const auto verified = RunCommand(kBackupCommand, {"verify", "--from", kept});
  CHECK(verified.code == ExitCode::kOk);
  CHECK_THAT(verified.out, Catch::Contains("45"));

  // The changes are lost, and what comes after the backup with them.
  Write(*graph, 46, 3);
  graph.reset();
  const auto held = RunCommand(
      kBackupCommand,
      {"restore", "--from", kept, "--data", cluster.directory(), "--changes", cluster.changes()});
  CHECK(held.code == ExitCode::kPrecondition);  // a server has them
  const std::string restored = folder.File("restored");
  for (const uint64_t added : {45, 0}) {  // again: nothing is left to do
    const auto run =
        RunCommand(kBackupCommand, {"restore", "--from", kept, "--data", cluster.directory(),
                                    "--changes", restored, "--format", "json"});
    REQUIRE(run.code == ExitCode::kOk);
    CHECK(nlohmann::json::parse(run.out)["shards"][0]["added"] == added);
  }
  // Other changes, fewer or more of them, are no restore that was cut off.
  for (const uint64_t versions : {uint64_t{3}, uint64_t{60}}) {
    SmallCluster other(testing::TypedGraph(40, 30, 12, 3), 2, 1, SmallCluster::Kind::kLive);
    Write(*Open(other), 1, versions);
    other.Stop(0);
    const std::string written = folder.File(std::to_string(versions));
    std::filesystem::copy(other.changes(), written, std::filesystem::copy_options::recursive);
    CHECK(RunCommand(kBackupCommand, {"restore", "--from", kept, "--data", cluster.directory(),
                                      "--changes", written})
              .code == ExitCode::kPrecondition);
  }
  cluster.MoveChanges(restored);
  cluster.Restart(0);
  graph = Open(cluster);
  CHECK(*graph->Versions() == then);
  CHECK(testing::Difference(AllOf(*graph), before) == "");
  Write(*graph, 46, 1);  // who wrote before goes on
}

TEST_CASE("a backup of something else is refused, and damage in it has a version",
          "[backup_command]") {
  const testing::TempDir folder;
  SmallCluster cluster(testing::TypedGraph(40, 30, 12, 3), 2, 1, SmallCluster::Kind::kLive);
  SmallCluster other(testing::TypedGraph(41, 30, 12, 3), 2, 1, SmallCluster::Kind::kLive);
  Write(*Open(cluster), 1, 5);
  const auto create = [&](const SmallCluster& from) {
    return RunCommand(kBackupCommand,
                      {"create", "--cluster", from.cluster_file(), "--to", folder.File("kept")})
        .code;
  };
  CHECK(create(cluster) == ExitCode::kOk);
  CHECK(create(other) == ExitCode::kPrecondition);
  CHECK(RunCommand(kBackupCommand, {"restore", "--from", folder.File("kept"), "--data",
                                    other.directory(), "--changes", folder.File("restored")})
            .code == ExitCode::kPrecondition);
  CHECK(RunCommand(kBackupCommand, {"verify", "--from", folder.File("nothing")}).code ==
        ExitCode::kNotFound);
  const std::string path = folder.File("kept/shard-00001.changes");
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path)) - 3);
    file.put('!');
  }
  const auto damaged = RunCommand(kBackupCommand, {"verify", "--from", folder.File("kept")});
  CHECK(damaged.code == ExitCode::kBadData);
  CHECK_THAT(damaged.narration,
             Catch::Contains("shard-00001.changes") && Catch::Contains("version 5"));
}

TEST_CASE("a graph that is not written has nothing to keep", "[backup_command]") {
  const testing::TempDir folder;
  SmallCluster cluster(testing::TypedGraph(20, 10, 5, 1), 1, 1);
  const auto run = RunCommand(
      kBackupCommand, {"create", "--cluster", cluster.cluster_file(), "--to", folder.File("kept")});
  CHECK(run.code == ExitCode::kPrecondition);
  CHECK_THAT(run.narration, Catch::Contains("changes"));
}

}  // namespace
}  // namespace vicinity::cli
