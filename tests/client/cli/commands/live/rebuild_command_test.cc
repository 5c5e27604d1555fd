#include "client/cli/commands/live/rebuild_command.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "partition/dataset/dataset.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/file.h"
#include "server/server.h"
#include "tests/client/cli/run_command.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

// Server a has all shards; b, which does not run, has one of them on a disk that is empty.
class RebuildTest {
 public:
  RebuildTest() {
    const testing::MemoryGraph graph = testing::TypedGraph(2000, 30, 7, 2);
    VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 2, 4), Original()));
    ServerOptions options;
    options.name = "a";
    options.data = Original();
    options.admin = HostPort{"127.0.0.1", 0};
    auto server = Server::Start(options);
    VICINITY_REQUIRE_OK(server);
    server_ = *std::move(server);
    WriteCluster();
  }

 protected:
  void WriteCluster() const {
    VICINITY_REQUIRE_OK(WriteFileAtomically(
        Cluster(),
        absl::StrCat("data: 'new' num_shards: 2 servers { name: 'a' listen: '",
                     server_->address().ToString(), "' admin: '",
                     server_->admin_address()->ToString(),
                     "' shards: [0, 1] }\nservers { name: 'b' listen: '127.0.0.1:1' shards: 1 }")));
  }
  std::string Original() const { return folder_.File("original"); }
  std::string New() const { return folder_.File("new"); }
  std::string Cluster() const { return folder_.File("cluster.textproto"); }
  Answer Rebuild(const std::string& name, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> args = {"--cluster", Cluster(), "--name", name};
    args.insert(args.end(), more.begin(), more.end());
    return RunCommand(kRebuildCommand, args);
  }

  const testing::TempDir folder_;
  std::unique_ptr<Server> server_;
};

TEST_CASE_METHOD(RebuildTest, "an empty disk gets the shards that its server has, byte for byte",
                 "[cli]") {
  const Answer answer = Rebuild("b", {"--format", "json"});
  INFO(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  CHECK(nlohmann::json::parse(answer.out)["fetched"].get<int>() > 3);
  Dataset::Options options;
  options.shards = {{1}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(New(), options));
  for (const proto::FileEntry& file : dataset->manifest().shards(1).files()) {
    CHECK(ReadFile(New() + "/" + file.path()).value() ==
          ReadFile(Original() + "/" + file.path()).value());
  }
  CHECK_FALSE(std::filesystem::exists(New() + "/shard-00000"));
  const Answer again = Rebuild("b");
  CHECK(again.code == ExitCode::kOk);
  CHECK_THAT(again.out, Catch::Contains("0 fetched"));
  CHECK_THAT(again.narration, Catch::Contains("start server \"b\""));
}

TEST_CASE_METHOD(RebuildTest, "what cannot be rebuilt is said to be so", "[cli]") {
  CHECK(Rebuild("c").code == ExitCode::kNotFound);
  const Answer runs = Rebuild("a");
  CHECK(runs.code == ExitCode::kPrecondition);
  CHECK_THAT(runs.narration, Catch::Contains("stop it first"));
  CHECK(RunCommand(kRebuildCommand, {"--server", "127.0.0.1:1", "--name", "b"}).code ==
        ExitCode::kUsage);
  SECTION("another dataset lies there") {
    const testing::MemoryGraph other = testing::RandomGraph({});
    VICINITY_REQUIRE_OK(WriteGraph(other, Shuffled(other, 2, 4), New()));
    const Answer answer = Rebuild("b");
    CHECK(answer.code == ExitCode::kPrecondition);
    CHECK_THAT(answer.narration, Catch::Contains("move it away"));
  }
  SECTION("nobody has it") {
    server_.reset();
    const Answer answer = Rebuild("b");
    CHECK(answer.code == ExitCode::kNotConnected);
    CHECK_THAT(answer.narration, Catch::Contains("no other server answers"));
  }
}

}  // namespace
}  // namespace vicinity::cli
