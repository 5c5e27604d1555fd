#include "client/cli/commands/graph/write_command.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/changes.h"
#include "client/cli/writes/array_change_file.h"
#include "client/cli/writes/file_writing.h"
#include "client/graph.h"
#include "proto/common/file.h"
#include "proto/common/progress.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/input_files.h"
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

using testing::Bytes;
using testing::NpyBytes;

std::string LongsOf(const std::vector<int64_t>& values) {
  return NpyBytes("<i8", absl::StrCat("(", values.size(), ",)"), Bytes(values));
}

TEST_CASE_METHOD(WriteCommandTest, "write takes edges of one array, and removes them by another",
                 "[cli]") {
  const auto ids = graph_->UserIds(0, {4, 5, 6});
  REQUIRE(ids.ok());
  const std::vector<int64_t> pairs = {(*ids)[0], (*ids)[1], (*ids)[2],
                                      (*ids)[1], (*ids)[0], (*ids)[2]};
  const int64_t before = Degree("knows", 5);
  const std::string rows = NpyBytes("<i8", "(3, 2)", Bytes(pairs));
  CHECK(WrittenBy(Write("new.npy", rows, {"--edges", "knows", "--format", "json"})) == 3);
  CHECK(Degree("knows", 5) == before + 2);
  const std::vector<int64_t> turned = {(*ids)[0], (*ids)[2], (*ids)[0],
                                       (*ids)[1], (*ids)[1], (*ids)[2]};
  CHECK(WrittenBy(Write("gone.npy", NpyBytes("<i8", "(2, 3)", Bytes(turned)),
                        {"--edges", "knows", "--action", "remove", "--format", "json"})) == 3);
  CHECK(Degree("knows", 5) == before);
  CHECK(WrittenBy(Write("tags.npy", LongsOf({100, 101}), {"--nodes", "tag", "--format", "json"})) ==
        2);
  CHECK(Tags({100, 101})[1] >= 5);
  CHECK(Write("pairs.npy", NpyBytes("<i8", "(2, 2)", Bytes<int64_t>({1, 2, 3, 4})),
              {"--edges", "knows"})
            .code == ExitCode::kBadData);
}

TEST_CASE_METHOD(WriteCommandTest,
                 "refused rows of arrays are named by their numbers, and can be written again",
                 "[cli]") {
  const std::string letters = folder_.File("letters.jsonl");
  const std::string half = NpyBytes("<f8", "(5,)", Bytes<double>({100, 3, 0.5, 101, 4}));
  testing::WriteZip(folder_.File("tags.npz"), {{"id.npy", half}}, true);
  const std::string tags = *ReadFile(folder_.File("tags.npz"));
  // Tags 0 to 4 are there already.
  const Answer ended = Write("tags.npz", tags, {"--nodes", "tag"});
  CHECK(ended.code == ExitCode::kBadData);
  CHECK_THAT(ended.narration, Catch::Contains("tags.npz: row 1: ") &&
                                  Catch::Contains("tags.npz: row 2: field \"id\": 0.5") &&
                                  Catch::Contains("1 are written") &&
                                  Catch::Contains("--from-line 3"));
  CHECK(Tags({100, 101}) == std::vector<int64_t>{Tags({100})[0], -1});
  const Answer answer =
      Write("tags.npz", tags,
            {"--nodes", "tag", "--from-line", "1", "--dead-letter", letters, "--format", "json"});
  CHECK(WrittenBy(answer) == 1);
  CHECK(nlohmann::json::parse(answer.out)["refused"] == 3);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string kept, ReadFile(letters));
  CHECK_THAT(kept, Catch::StartsWith("{\"id\":0.5,\"_line\":2,"));
  CHECK_THAT(kept, Catch::Contains("{\"id\":3.0,\"_line\":1,") &&
                       Catch::Contains("{\"id\":4.0,\"_line\":4,"));
}

class RecordedProgress : public Progress {
 public:
  void Begin(std::string_view, int64_t total, std::string_view) override { total_ = total; }
  void Update(int64_t done) override { done_ = done; }
  void End() override {}
  void Note(std::string_view) override {}
  int64_t total_ = -1;
  int64_t done_ = -1;
};

TEST_CASE_METHOD(WriteCommandTest, "how many rows there are to write is known of arrays", "[cli]") {
  testing::WriteInput(folder_.File("tags.npy"), LongsOf({100, 3, 101, 102}));
  auto file = ArrayChangeFile::OpenNpy(folder_.File("tags.npy"), {"id"});
  VICINITY_REQUIRE_OK(file);
  FileWritingOptions options;
  options.subject.type = 2;
  options.from = 1;
  options.dead_letter = folder_.File("letters.jsonl");
  RecordedProgress progress;
  auto writing = FileWriting::Create(options, std::move(graph_), file->get(), &progress);
  VICINITY_REQUIRE_OK(writing);
  VICINITY_CHECK_OK((*writing)->Run());
  CHECK(progress.total_ == 3);
  CHECK(progress.done_ == 3);  // what is refused is done with, too
  CHECK((*writing)->num_written() == 2);
}

TEST_CASE_METHOD(WriteCommandTest, "write tells what is wrong with arrays", "[cli]") {
  const auto code = [&](const std::vector<std::pair<std::string, std::string>>& members,
                        const std::vector<std::string>& args) {
    testing::WriteZip(folder_.File("bad.npz"), members, false);
    return Write("bad.npz", *ReadFile(folder_.File("bad.npz")), args).code;
  };
  const std::vector<std::string> knows = {"--edges", "knows"};
  const std::string two = LongsOf({1, 2});
  CHECK(code({{"source.npy", two}, {"target.npy", LongsOf({1})}}, knows) == ExitCode::kBadData);
  CHECK(code({{"source.npy", two}}, knows) == ExitCode::kBadData);
  CHECK(code({{"source.npy", two}, {"target.npy", two}, {"w.npy", two}}, knows) ==
        ExitCode::kNotFound);
  // Items have texts for ids, and sparse rows.
  CHECK(code({{"id.npy", two}}, {"--nodes", "item", "--action", "remove"}) == ExitCode::kBadData);
  CHECK(Write("cut.npz", "PK", knows).code == ExitCode::kBadData);
  CHECK(Write("cut.npy", "PK", knows).code == ExitCode::kBadData);
}

// Two clusters with the same graph, and whether they still have that.
class SameGraphsTest {
 public:
  SameGraphsTest()
      : text_(Whole(), 3, 2, SmallCluster::Kind::kLive),
        arrays_(Whole(), 3, 2, SmallCluster::Kind::kLive) {}

 protected:
  static testing::MemoryGraph Whole() {
    testing::RandomGraphOptions options;
    options.num_nodes = 60;
    options.id_kind = IdKind::kInt64;
    options.weights = true;
    options.times = true;
    return testing::RandomGraph(options);
  }
  std::unique_ptr<Graph> Open(const SmallCluster& cluster) const {
    GraphOptions options;
    options.cluster_file = cluster.cluster_file();
    auto graph = Graph::Open(options);
    REQUIRE(graph.ok());
    return *std::move(graph);
  }
  void WriteTo(const SmallCluster& cluster, const std::string& file,
               std::vector<std::string> args) {
    args.insert(args.end(), {"--cluster", cluster.cluster_file(), folder_.File(file)});
    const Answer answer = RunCommand(kWriteCommand, args);
    INFO(answer.narration);
    REQUIRE(answer.code == ExitCode::kOk);
  }
  // All that readers can see, and what made it.
  static std::string ContentOf(const Graph& graph) {
    const ReadAll read{graph};
    return absl::StrCat(read.Changes(), read.Nodes(), read.Edges());
  }

  struct ReadAll {
    const Graph& graph;

    template <typename T>
    static T Value(Result<T> result) {
      REQUIRE(result.ok());
      return *std::move(result);
    }
    std::vector<int64_t> Ids() const {
      std::vector<int64_t> ids(static_cast<size_t>(graph.num_nodes(0)));
      for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i);
      return ids;
    }
    std::string Changes() const {
      std::string all;
      for (const ShardState& shard : Value(ReadShardStates(graph))) {
        absl::StrAppend(&all, "|", shard.version, ":", shard.num_nodes[0], ":", shard.num_edges[0]);
        for (const ShardChange& change : Value(ReadChanges(graph, shard.shard, {0, 0}, 1000))) {
          for (const ChangeCount& count : change.counts) {
            absl::StrAppend(&all, " ", static_cast<int>(count.kind), count.column, count.count);
          }
        }
      }
      return all;
    }
    std::string Nodes() const {
      std::string all;
      for (const ColumnSpec& column : graph.schema().node_types[0].columns) {
        const Rows rows = Value(graph.Fetch(0, column.name, Ids()));
        all.append(rows.bytes.data(), rows.num_rows * column.row_bytes());
      }
      for (const int64_t id : Value(graph.UserIds(0, Ids()))) absl::StrAppend(&all, id, " ");
      return all;
    }
    std::string Edges() const {
      SamplingSpec spec;
      spec.fanouts = {{kAllNeighbors}};
      const SampledGraph sampled =
          Value(graph.Sample(0, Ids(), spec, DrawId(), EdgeDetail(true, true)));
      std::string all;
      for (const Block& block : sampled.hops[0]) {
        for (const int64_t id : block.edge_ids) absl::StrAppend(&all, id, " ");
        for (const int32_t source : block.sources) {
          absl::StrAppend(&all, sampled.nodes[0].ids[source], " ");
        }
      }
      for (const ColumnSpec& column : graph.schema().edge_types[0].columns) {
        for (const EdgeRows& rows : Value(graph.FetchEdges(sampled, 0, column.name))) {
          all.append(rows.bytes.data(), rows.num_rows * column.row_bytes());
        }
      }
      return all;
    }
  };

  const testing::TempDir folder_;
  SmallCluster text_;
  SmallCluster arrays_;
};

TEST_CASE_METHOD(SameGraphsTest, "what arrays write is what the same rows of text do", "[cli]") {
  const std::string before = ContentOf(*Open(text_));
  REQUIRE(before == ContentOf(*Open(arrays_)));
  // New nodes: integers of other widths, and no label.
  testing::WriteZip(
      folder_.File("nodes.npz"),
      {{"id.npy", NpyBytes("<i4", "(3,)", Bytes<int32_t>({7001, 7002, -7003}))},
       {"features.npy", NpyBytes("<f8", "(3, 8)", Bytes(std::vector<double>(24, 0.1)))},
       {"label.npy", NpyBytes("<f4", "(3, 1)", Bytes<float>({2, NAN, 0}))},
       {"split.npy", NpyBytes("|b1", "(3,)", Bytes<uint8_t>({1, 0, 1}))}},
      true);
  const std::string features = "0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1";
  testing::WriteInput(folder_.File("nodes.csv"),
                      absl::StrCat("id,features,label,split\n7001,", features, ",2,1\n7002,",
                                   features, ",,0\n-7003,", features, ",0,1\n"));
  WriteTo(text_, "nodes.csv", {"--nodes", "node"});
  WriteTo(arrays_, "nodes.npz", {"--nodes", "node"});
  const std::string nodes = ContentOf(*Open(text_));
  CHECK(nodes != before);
  CHECK(nodes == ContentOf(*Open(arrays_)));

  const std::vector<uint64_t>& keys = text_.graph().nodes[0].keys;
  std::vector<int64_t> sources;
  std::vector<int64_t> targets;
  std::vector<double> weights;
  std::vector<int16_t> times;
  std::string lines = "source,target,weight,time\n";
  for (int i = 0; i < 200; ++i) {
    sources.push_back(static_cast<int64_t>(keys[i * 7 % 60]));
    targets.push_back(static_cast<int64_t>(keys[i * 11 % 60]));
    weights.push_back(i / 7.0);
    times.push_back(static_cast<int16_t>(i * 100 - 5000));
    absl::StrAppendFormat(&lines, "%d,%d,%.17g,%d\n", sources.back(), targets.back(),
                          weights.back(), times.back());
  }
  testing::WriteInput(folder_.File("edges.csv"), lines);
  testing::WriteZip(folder_.File("edges.npz"),
                    {{"source.npy", LongsOf(sources)},
                     {"target.npy", LongsOf(targets)},
                     {"weight.npy", NpyBytes("<f8", "(200,)", Bytes(weights))},
                     {"time.npy", NpyBytes("<i2", "(200,)", Bytes(times))}},
                    false);
  WriteTo(text_, "edges.csv", {"--edges", "links"});
  WriteTo(arrays_, "edges.npz", {"--edges", "links"});
  const std::string edges = ContentOf(*Open(text_));
  CHECK(edges != nodes);
  CHECK(edges == ContentOf(*Open(arrays_)));
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
