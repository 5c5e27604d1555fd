#include "client/cli/commands/fold_command.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli/commands/index_command.h"
#include "client/cli/commands/verify_command.h"
#include "partition/dataset/dataset.h"
#include "proto/live.pb.h"
#include "tests/client/cli/run_command.h"
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

}  // namespace
}  // namespace vicinity::cli
