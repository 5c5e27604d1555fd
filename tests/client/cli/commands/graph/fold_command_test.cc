#include "client/cli/commands/graph/fold_command.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/commands/graph/backup_command.h"
#include "client/cli/commands/index_command.h"
#include "client/cli/commands/verify_command.h"
#include "client/cli/output/exit_code.h"
#include "client/graph.h"
#include "client/graph_impl.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_requests.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/manifest.h"
#include "partition/overlay/live_values.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"
#include "proto/live.pb.h"
#include "proto/manifest.pb.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/live_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

// Dense nodes 0 to 9 in one shard, of which 3 has gone.
class Fixture {
 public:
  Fixture() : graph_(Graph()) {
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, data()));
    const Answer indexed = RunCommand(kIndexCommand, {data(), "--nodes", "node:label"});
    REQUIRE(indexed.code == ExitCode::kOk);
    live_ = std::make_unique<testing::LiveGraph>(graph_, testing::InUserOrder(graph_), data(),
                                                 folder_.File("changes"), 1);
    proto::WriteBatch batch;
    batch.add_gone_keys()->add_keys(3);
    VICINITY_REQUIRE_OK(live_->Apply(0, batch).status());
  }

  std::string data() const { return folder_.File("graph"); }
  std::string File(const std::string& name) const { return folder_.File(name); }
  Answer Fold(std::vector<std::string> more) const {
    std::vector<std::string> args = {"--data", data(), "--changes", folder_.File("changes")};
    args.insert(args.end(), more.begin(), more.end());
    return RunCommand(kFoldCommand, args);
  }
  testing::LiveGraph& live() { return *live_; }

 private:
  static testing::MemoryGraph Graph() {
    testing::RandomGraphOptions options;
    options.num_nodes = 10;
    options.num_edges = 0;
    return testing::RandomGraph(options);
  }

  const testing::TempDir folder_;
  const testing::MemoryGraph graph_;
  std::unique_ptr<testing::LiveGraph> live_;
};

TEST_CASE("fold makes a dataset beside the old one and says what is another", "[cli]") {
  Fixture fixture;
  fixture.live().Close();
  const Answer answer = fixture.Fold({});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::Contains("1 shards, folded at versions 1"));
  CHECK_THAT(answer.out, Catch::Contains("Ids of node are no longer 0 to 8"));
  CHECK_THAT(answer.out, Catch::Contains("Indexes of 1 columns are left out"));
  CHECK_THAT(answer.out, Catch::Contains("start the servers with"));
  const std::string folded = fixture.data() + ".folded";
  CHECK(RunCommand(kVerifyCommand, {folded}).code == ExitCode::kOk);
  CHECK(RunCommand(kVerifyCommand, {fixture.data()}).code == ExitCode::kOk);

  CHECK(fixture.Fold({}).code == ExitCode::kPrecondition);  // it is there
  const Answer json = fixture.Fold({"--out", fixture.File("other"), "--format", "json"});
  REQUIRE(json.code == ExitCode::kOk);
  const nlohmann::json told = nlohmann::json::parse(json.out);
  CHECK(told["versions"] == std::vector<int>{1});
  CHECK(told["nodes"][0]["num_before"] == 10);
  CHECK(told["nodes"][0]["num_removed"] == 1);
  CHECK(told["nodes"][0]["num_now"] == 9);
  CHECK(told["nodes"][0]["no_longer_dense"] == true);
  CHECK(told["num_indexes_left_out"] == 1);
}

TEST_CASE("fold leaves alone what a server is writing, and needs the changes of all shards",
          "[cli]") {
  Fixture fixture;
  const Answer busy = fixture.Fold({});
  CHECK(busy.code == ExitCode::kPrecondition);
  CHECK_THAT(busy.narration, Catch::Contains("is writing it"));
  fixture.live().Close();
  std::filesystem::remove_all(fixture.File("changes/shard-00000"));
  const Answer missing = fixture.Fold({});
  CHECK(missing.code == ExitCode::kNotFound);
  CHECK_THAT(missing.narration, Catch::Contains("shard-00000"));
  CHECK_FALSE(std::filesystem::exists(fixture.data() + ".folded"));
}

// Two shards on two servers, of nodes with keys alone; shard 0 gets nodes, shard 1 edges from them.
class LiveFixture {
 public:
  LiveFixture() : cluster_(Graph(), 2, 2, testing::SmallCluster::Kind::kLive) {
    GraphOptions options;
    options.cluster_file = cluster_.cluster_file();
    auto graph = vicinity::Graph::Open(options);
    if (!graph.ok()) FAIL(graph.error().message());
    graph_ = *std::move(graph);
  }

  // A new node, and an edge from it once its id is known.
  absl::Status WriteNodeAndEdge() {
    const ShardRouter& router = graph_->impl().router();
    while (router.book().DirectoryShard(++key_).value != 0) continue;
    proto::WriteBatch node;
    node.add_new_nodes()->add_keys(key_);
    VICINITY_ASSIGN_OR_RETURN(const AppliedBatch added, Write(0, node));
    proto::WriteBatch edge;
    edge.add_new_edges()->add_sources(static_cast<uint64_t>(added.first_nodes[0]));
    edge.mutable_new_edges(0)->add_targets(
        static_cast<uint64_t>(router.book().First({0}, {1}).value));
    return Write(1, edge).status();
  }
  void Write(int count) {
    for (int i = 0; i < count; ++i) VICINITY_REQUIRE_OK(WriteNodeAndEdge());
  }

  testing::SmallCluster& cluster() { return cluster_; }
  std::string File(const std::string& name) const { return folder_.File(name); }
  Answer Fold(std::vector<std::string> more) const {
    std::vector<std::string> args = {
        "--data", cluster_.directory(), "--cluster", cluster_.cluster_file(), "--format", "json"};
    args.insert(args.end(), more.begin(), more.end());
    return RunCommand(kFoldCommand, args);
  }
  nlohmann::json FoldTo(const std::string& name, std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--out", File(name)});
    const Answer answer = Fold(more);
    CAPTURE(answer.narration);
    REQUIRE(answer.code == ExitCode::kOk);
    return nlohmann::json::parse(answer.out);
  }
  // Folds what stopped servers have left.
  nlohmann::json FoldStopped(const std::string& name) {
    graph_.reset();
    cluster_.Close(0);
    cluster_.Close(1);
    const Answer answer =
        RunCommand(kFoldCommand, {"--data", cluster_.directory(), "--changes", cluster_.changes(),
                                  "--out", File(name), "--format", "json"});
    CAPTURE(answer.narration);
    REQUIRE(answer.code == ExitCode::kOk);
    return nlohmann::json::parse(answer.out);
  }
  Answer Backup(std::vector<std::string> args) const { return RunCommand(kBackupCommand, args); }

 private:
  static testing::MemoryGraph Graph() {
    testing::RandomGraphOptions options;
    options.num_nodes = 20;
    options.num_edges = 40;
    options.feature_width = 0;
    options.num_classes = 0;
    options.splits = false;
    options.id_kind = IdKind::kInt64;
    return testing::RandomGraph(options);
  }
  absl::StatusOr<AppliedBatch> Write(int32_t shard, const proto::WriteBatch& batch) {
    proto::WriteSession session;
    session.set_id("w");
    session.set_sequence(++sequences_[shard]);
    AppliedBatch applied;
    FanOut calls;
    graph_->impl().router().shard({shard}).Ask(
        ShardWrite{&session, &batch, Durability::kBuffered, &applied}, nullptr, calls.Add());
    VICINITY_RETURN_IF_ERROR(calls.Wait());
    return applied;
  }

  const testing::TempDir folder_;
  testing::SmallCluster cluster_;
  std::unique_ptr<vicinity::Graph> graph_;
  uint64_t key_ = uint64_t{1} << 40;
  uint64_t sequences_[2] = {0, 0};
};

TEST_CASE("fold beside servers is the fold of what they have, and they go on", "[cli]") {
  LiveFixture fixture;
  fixture.Write(7);
  const nlohmann::json beside = fixture.FoldTo("beside");
  CHECK(beside["folded"] == true);
  CHECK(beside["versions"] == std::vector<int>{7, 7});
  CHECK(beside["nodes"][0]["num_added"] == 7);
  CHECK(beside["edges"][0]["num_added"] == 7);
  CHECK_FALSE(std::filesystem::exists(fixture.File("beside.changes")));
  CHECK(RunCommand(kVerifyCommand, {fixture.File("beside")}).code == ExitCode::kOk);
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Manifest manifest,
                                ReadManifest(fixture.File("beside")));
  const proto::FoldedFrom& from = manifest.folded_from();
  CHECK(from.fingerprint() == fixture.cluster().dataset().fingerprint());
  CHECK(std::vector<uint64_t>(from.versions().begin(), from.versions().end()) ==
        std::vector<uint64_t>{7, 7});
  CHECK(from.terms_size() == 2);

  fixture.Write(3);  // they go on
  const std::string kept = fixture.File("kept");
  REQUIRE(fixture.Backup({"create", "--cluster", fixture.cluster().cluster_file(), "--to", kept})
              .code == ExitCode::kOk);
  fixture.Write(2);
  const nlohmann::json all = fixture.FoldTo("all");
  CHECK(all["versions"] == std::vector<int>{12, 12});
  const nlohmann::json of_backup =
      fixture.FoldTo("of-backup", {"--changes-from", kept, "--keep-changes"});
  CHECK(std::filesystem::exists(fixture.File("of-backup.changes/shard-00001")));
  const nlohmann::json stopped = fixture.FoldStopped("stopped");
  CHECK(all["fingerprint"] == stopped["fingerprint"]);
  CHECK(of_backup["fingerprint"] == stopped["fingerprint"]);
  CHECK(beside["fingerprint"] != stopped["fingerprint"]);
}

TEST_CASE("fold beside servers loses no edge whose source is new, whatever is written meanwhile",
          "[cli]") {
  LiveFixture fixture;
  std::atomic<bool> stop{false};
  absl::Status written;
  std::thread writer([&] {
    for (int i = 0; i < 100'000 && !stop && written.ok(); ++i) {
      written = fixture.WriteNodeAndEdge();
    }
  });
  std::vector<nlohmann::json> folds;
  for (int i = 0; i < 5; ++i) {
    const std::string out = fixture.File(std::to_string(i));
    const Answer answer = fixture.Fold({"--out", out});
    if (answer.code != ExitCode::kOk) {
      UNSCOPED_INFO(answer.narration);
      break;
    }
    folds.push_back(nlohmann::json::parse(answer.out));
  }
  stop = true;
  writer.join();
  VICINITY_REQUIRE_OK(written);
  REQUIRE(folds.size() == 5);
  for (const nlohmann::json& fold : folds) {
    CHECK(fold["nodes"][0]["num_added"] == fold["versions"][0]);
    CHECK(fold["edges"][0]["num_added"] == fold["versions"][1]);
    CHECK(fold["versions"][0].get<int>() >= fold["versions"][1].get<int>());
  }
}

TEST_CASE("a backup of a graph that is written has the source of each edge", "[cli]") {
  LiveFixture fixture;
  std::atomic<bool> stop{false};
  absl::Status written;
  std::thread writer([&] {
    for (int i = 0; i < 100'000 && !stop && written.ok(); ++i) {
      written = fixture.WriteNodeAndEdge();
    }
  });
  std::vector<std::string> backups;
  for (int i = 0; i < 6; ++i) {  // three folders, each added to
    const std::string kept = fixture.File("kept-" + std::to_string(i % 3));
    if (fixture.Backup({"create", "--cluster", fixture.cluster().cluster_file(), "--to", kept})
            .code != ExitCode::kOk) {
      break;
    }
    const std::string copy = fixture.File("copy-" + std::to_string(i));
    std::filesystem::copy(kept, copy, std::filesystem::copy_options::recursive);
    backups.push_back(copy);
  }
  stop = true;
  writer.join();
  VICINITY_REQUIRE_OK(written);
  REQUIRE(backups.size() == 6);
  for (const std::string& backup : backups) {
    const std::string changes = backup + ".changes";
    REQUIRE(fixture
                .Backup({"restore", "--from", backup, "--data", fixture.cluster().directory(),
                         "--changes", changes})
                .code == ExitCode::kOk);
    const Answer folded =
        RunCommand(kFoldCommand, {"--data", fixture.cluster().directory(), "--changes", changes,
                                  "--out", backup + ".folded", "--format", "json"});
    REQUIRE(folded.code == ExitCode::kOk);
    const nlohmann::json told = nlohmann::json::parse(folded.out);
    CHECK(told["edges"][0]["num_added"] == told["versions"][1]);
  }
}

TEST_CASE("a backup is restored into another number of shards, without changes", "[cli]") {
  LiveFixture fixture;
  fixture.Write(6);
  const std::string kept = fixture.File("backups/kept");
  REQUIRE(fixture.Backup({"create", "--cluster", fixture.cluster().cluster_file(), "--to", kept})
              .code == ExitCode::kOk);
  for (const std::string& from : {kept, fixture.File("backups")}) {
    const Answer listed = fixture.Backup({"list", "--from", from, "--format", "json"});
    REQUIRE(listed.code == ExitCode::kOk);
    const nlohmann::json backups = nlohmann::json::parse(listed.out)["backups"];
    REQUIRE(backups.size() == 1);
    CHECK(backups[0]["folder"] == kept);
    CHECK(backups[0]["num_shards"] == 2);
    CHECK(backups[0]["num_kept"] == 2);
  }
  CHECK(fixture.Backup({"list", "--from", fixture.cluster().directory()}).code ==
        ExitCode::kNotFound);

  const std::string out = fixture.File("three");
  const std::vector<std::string> restore = {
      "restore",      "--from", kept,         "--data", fixture.cluster().directory(),
      "--num-shards", "3",      "--assigner", "hash"};
  CHECK(fixture.Backup(restore).code == ExitCode::kUsage);  // where to?
  std::vector<std::string> to = restore;
  to.insert(to.end(), {"--out", out});
  const Answer restored = fixture.Backup(to);
  CAPTURE(restored.narration);
  REQUIRE(restored.code == ExitCode::kOk);
  CHECK_FALSE(std::filesystem::exists(out + ".changes"));
  CHECK_FALSE(std::filesystem::exists(out + ".folded"));
  CHECK(RunCommand(kVerifyCommand, {out}).code == ExitCode::kOk);
  fixture.FoldStopped("stopped");
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Manifest cut, ReadManifest(out));
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Manifest folded,
                                ReadManifest(fixture.File("stopped")));
  CHECK(cut.shards_size() == 3);
  CHECK_FALSE(cut.has_folded_from());
  CHECK(cut.audit().SerializeAsString() == folded.audit().SerializeAsString());
  CHECK(fixture.Backup(to).code == ExitCode::kPrecondition);  // it is there
}

TEST_CASE("fold beside servers waits until there is enough to fold", "[cli]") {
  LiveFixture fixture;
  fixture.Write(2);
  const std::vector<std::string> to = {"--out", fixture.File("out"), "--when-larger"};
  const auto when_larger = [&](const std::string& bytes) {
    std::vector<std::string> args = to;
    args.push_back(bytes);
    const Answer answer = fixture.Fold(args);
    CAPTURE(answer.narration);
    REQUIRE(answer.code == ExitCode::kOk);
    return nlohmann::json::parse(answer.out);
  };
  const nlohmann::json none = when_larger("100G");
  CHECK(none["folded"] == false);
  CHECK(none["memory_bytes"].get<int64_t>() > 0);
  CHECK_FALSE(std::filesystem::exists(fixture.File("out")));
  const Answer text = RunCommand(kFoldCommand, {"--cluster", fixture.cluster().cluster_file(),
                                                "--data", fixture.cluster().directory(), "--out",
                                                fixture.File("out"), "--when-larger", "100G"});
  CHECK_THAT(text.out, Catch::Contains("Nothing is folded"));
  CHECK(when_larger("1")["folded"] == true);
  CHECK(std::filesystem::exists(fixture.File("out")));
}

TEST_CASE("fold beside servers goes on with one that was cut off, and with no other's changes",
          "[cli]") {
  LiveFixture fixture;
  fixture.Write(5);
  const std::string kept = fixture.File("kept");
  REQUIRE(fixture.Backup({"create", "--cluster", fixture.cluster().cluster_file(), "--to", kept})
              .code == ExitCode::kOk);
  const auto leave = [&](const std::string& name) {  // as one that was cut off would
    REQUIRE(fixture
                .Backup({"restore", "--from", kept, "--data", fixture.cluster().directory(),
                         "--changes", fixture.File(name)})
                .code == ExitCode::kOk);
  };
  leave("out.changes");
  fixture.Write(4);
  CHECK(fixture.FoldTo("out")["versions"] == std::vector<int>{9, 9});
  CHECK_FALSE(std::filesystem::exists(fixture.File("out.changes")));

  LiveFixture other;
  other.Write(3);
  std::filesystem::remove_all(kept);
  REQUIRE(
      other.Backup({"create", "--cluster", other.cluster().cluster_file(), "--to", kept}).code ==
      ExitCode::kOk);
  leave("again.changes");
  const Answer answer = fixture.Fold({"--out", fixture.File("again")});
  CHECK(answer.code == ExitCode::kPrecondition);
  CHECK_THAT(answer.narration, Catch::Contains("again.changes"));
  CHECK_FALSE(std::filesystem::exists(fixture.File("again")));
}

TEST_CASE("fold beside servers refuses files that are not theirs, and half an answer", "[cli]") {
  LiveFixture fixture;
  Fixture other;
  CHECK(RunCommand(kFoldCommand, {"--data", other.data(), "--cluster",
                                  fixture.cluster().cluster_file(), "--out", fixture.File("out")})
            .code == ExitCode::kPrecondition);
  CHECK(RunCommand(kFoldCommand, {"--data", fixture.cluster().directory()}).code ==
        ExitCode::kUsage);
  fixture.cluster().Stop(1);
  CHECK(fixture.Fold({"--out", fixture.File("out"), "--timeout", "1"}).code ==
        ExitCode::kNotConnected);
  CHECK_FALSE(std::filesystem::exists(fixture.File("out")));
}

}  // namespace
}  // namespace vicinity::cli
