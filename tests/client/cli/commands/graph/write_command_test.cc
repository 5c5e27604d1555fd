#include "client/cli/commands/graph/write_command.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/graph.h"
#include "proto/common/file.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

using testing::SmallCluster;

// A graph of tags without columns, users and items on two servers.
class WriteCommandTest {
 public:
  explicit WriteCommandTest(SmallCluster::Kind kind = SmallCluster::Kind::kLive)
      : cluster_(testing::TypedGraph(20, 10, 5, 1), 3, 2, kind) {
    GraphOptions options;
    options.cluster_file = cluster_.cluster_file();
    auto graph = Graph::Open(options);
    REQUIRE(graph.ok());
    graph_ = *std::move(graph);
  }

 protected:
  Answer Write(const std::string& file, const std::string& text, std::vector<std::string> args) {
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File(file), text));
    args.insert(args.end(), {"--cluster", cluster_.cluster_file(), folder_.File(file)});
    return RunCommand(kWriteCommand, args);
  }
  static int64_t WrittenBy(const Answer& answer) {
    INFO(answer.out << answer.narration);
    REQUIRE(answer.code == ExitCode::kOk);
    return nlohmann::json::parse(answer.out)["written"];
  }
  std::vector<int64_t> Tags(const std::vector<int64_t>& ids) const {
    const auto nodes = graph_->Resolve(2, ids);
    REQUIRE(nodes.ok());
    return *nodes;
  }
  int64_t Degree(const char* edge_type, int64_t node) const {
    const auto degrees = graph_->Degrees(graph_->schema().FindEdgeType(edge_type), {node});
    REQUIRE(degrees.ok());
    return degrees->front();
  }

  const testing::TempDir folder_;
  SmallCluster cluster_;
  std::unique_ptr<Graph> graph_;
};

TEST_CASE_METHOD(WriteCommandTest, "write adds, updates and removes nodes", "[cli]") {
  const Answer added = Write("tags.csv", "id\n100\n101\n", {"--nodes", "tag", "--format", "json"});
  CHECK(WrittenBy(added) == 2);
  const nlohmann::json told = nlohmann::json::parse(added.out);
  CHECK(told["type"] == "tag");
  CHECK(told["refused"] == 0);
  CHECK(told["versions"].size() >= 1);
  CHECK(Tags({100, 101})[1] >= 5);

  const std::string name = cluster_.graph().nodes[1].names[2];
  CHECK(
      WrittenBy(Write("items.jsonl", nlohmann::json({{"id", name}, {"title", "new"}}).dump() + "\n",
                      {"--nodes", "item", "--action", "update", "--format", "json"})) == 1);
  const auto item = graph_->Resolve(1, std::vector<std::string>{name});
  const auto title = graph_->FetchRagged(1, "title", *item);
  REQUIRE(title.ok());
  CHECK(std::string(title->values.begin(), title->values.end()) == "new");

  CHECK(WrittenBy(Write("gone.tsv", "id\n3\n100\n",
                        {"--nodes", "tag", "--action", "remove", "--format", "json"})) == 2);
  CHECK(Tags({3, 100}) == std::vector<int64_t>{-1, -1});
}

TEST_CASE_METHOD(WriteCommandTest, "write adds, updates and removes edges", "[cli]") {
  const auto ids = graph_->UserIds(0, {4, 5});
  REQUIRE(ids.ok());
  const std::string rows = absl::StrCat("source,target\n", (*ids)[0], ",", (*ids)[1], "\n");
  const int64_t before = Degree("knows", 5);
  const Answer answer = Write("knows.csv", rows, {"--edges", "knows"});
  CHECK(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::StartsWith("1 edges of type user:knows:user written in"));
  CHECK(Degree("knows", 5) == before + 1);
  CHECK(WrittenBy(Write("knows.csv", rows,
                        {"--edges", "knows", "--action", "remove", "--format", "json"})) == 1);
  CHECK(Degree("knows", 5) == before);
}

TEST_CASE_METHOD(WriteCommandTest,
                 "a refused row ends it with its line, and what is before is there", "[cli]") {
  const Answer answer = Write("tags.csv", "id\n100\n3\n101\n", {"--nodes", "tag"});
  CHECK(answer.code == ExitCode::kBadData);
  CHECK_THAT(answer.narration, Catch::Contains("tags.csv:3"));
  CHECK_THAT(answer.narration, Catch::Contains("1 row is refused, 2 are written"));
  CHECK(Tags({100})[0] >= 0);
  const Answer bad = Write("more.csv", "id\n200\nx\n201\n", {"--nodes", "tag"});
  CHECK(bad.code == ExitCode::kBadData);
  CHECK_THAT(bad.narration, Catch::Contains("--from-line 4"));
  CHECK(Tags({200})[0] >= 0);
  CHECK(Tags({201})[0] == -1);
  CHECK(WrittenBy(Write("more.csv", "id\n200\nx\n201\n",
                        {"--nodes", "tag", "--from-line", "4", "--format", "json"})) == 1);
  CHECK(Tags({201})[0] >= 0);
}

TEST_CASE_METHOD(WriteCommandTest,
                 "refused rows go to the dead letters, which can be written again", "[cli]") {
  const std::string letters = folder_.File("letters.jsonl");
  const std::vector<std::string> args = {"--nodes", "tag",      "--dead-letter",
                                         letters,   "--format", "json"};
  const Answer answer = Write("tags.csv", "id\n100\n3\nx\n101\n7,8\n102\n", args);
  CHECK(WrittenBy(answer) == 3);
  CHECK(nlohmann::json::parse(answer.out)["refused"] == 3);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string kept, ReadFile(letters));
  std::vector<nlohmann::json> rows;
  for (size_t begin = 0; begin < kept.size();) {
    const size_t end = kept.find('\n', begin);
    rows.push_back(nlohmann::json::parse(kept.substr(begin, end - begin)));
    begin = end + 1;
  }
  REQUIRE(rows.size() == 3);
  // Lines that do not read come before what the servers refuse.
  CHECK(rows[0]["id"] == "x");
  CHECK(rows[0]["_line"] == 4);
  CHECK(rows[1]["_line"] == 6);
  CHECK(rows[2]["id"] == "3");
  CHECK(rows[2]["_line"] == 3);
  CHECK_THAT(rows[2]["_reason"].get<std::string>(), Catch::Contains("key 3"));

  // Never over another file.
  CHECK(Write("tags.csv", "id\n110\n", args).code == ExitCode::kPrecondition);
  // Once they are mended.
  rows[0]["id"] = "103";
  rows[2]["id"] = "104";
  CHECK(WrittenBy(Write("mended.jsonl", rows[0].dump() + "\n" + rows[2].dump() + "\n",
                        {"--nodes", "tag", "--format", "json"})) == 2);
  CHECK(Tags({103, 104})[1] >= 0);
}

TEST_CASE_METHOD(WriteCommandTest, "write tells what is missing or wrong", "[cli]") {
  CHECK(Write("a.csv", "id\n1\n", {}).code == ExitCode::kUsage);
  CHECK(Write("a.bin", "id\n1\n", {"--nodes", "tag"}).code == ExitCode::kUsage);
  CHECK(Write("a.csv", "id\n1\n", {"--nodes", "tags"}).code == ExitCode::kNotFound);
  CHECK(Write("a.csv", "id\n1\n", {"--edges", "likes"}).code == ExitCode::kNotFound);
  CHECK(Write("a.csv", "name\n1\n", {"--nodes", "tag"}).code == ExitCode::kNotFound);
  CHECK(Write("a.csv", "", {"--nodes", "tag"}).code == ExitCode::kBadData);
  CHECK(Write("a.csv", "id,label\n1,2\n", {"--nodes", "user"}).code == ExitCode::kBadData);
}

class ReadOnlyCommandTest : public WriteCommandTest {
 public:
  ReadOnlyCommandTest() : WriteCommandTest(SmallCluster::Kind::kReadOnly) {}
};

TEST_CASE_METHOD(ReadOnlyCommandTest, "a graph that is read-only is told as such", "[cli]") {
  const Answer answer = Write("tags.csv", "id\n100\n", {"--nodes", "tag"});
  CHECK(answer.code == ExitCode::kPrecondition);
  CHECK_THAT(answer.narration, Catch::Contains("read-only"));
}

}  // namespace
}  // namespace vicinity::cli
