#include "partition/fold/fold.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/whole_read.h"
#include "partition/fold/fold_source.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_view.h"
#include "partition/schema/schema.h"
#include "partition/writing/audit.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/common/status.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/importing.h"
#include "tests/testing/graphs/live_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

using testing::LiveGraph;
using testing::MemoryGraph;
using testing::Placement;

absl::StatusOr<FoldReport> Fold(const std::string& data, const std::string& changes,
                                const std::string& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset, OpenForPasses(data));
  return FoldChanges(*dataset, changes, out, NoProgress());
}

// What the shards hold right now, while they are open.
absl::StatusOr<FoldReport> FoldNow(LiveGraph* live, const std::string& out) {
  std::vector<std::shared_ptr<const LiveView>> views;
  for (int32_t s = 0; s < live->dataset().book().num_shards(); ++s) {
    VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<LiveShard> shard, live->live().Find({s}));
    views.push_back(shard->Latest());
  }
  return WriteFolded(FoldSource(live->dataset(), std::move(views)), out, NoProgress());
}

// Every byte of every file is what writing the graph afresh gives.
void CheckIsWritten(const std::string& folded, const LiveGraph::Folded& expected,
                    const testing::TempDir& folder) {
  auto dataset = Dataset::Open(folded);
  VICINITY_REQUIRE_OK(dataset.status());
  REQUIRE(testing::Difference(expected.graph, **dataset) == "");
  const std::string fresh = folder.File("fresh");
  VICINITY_REQUIRE_OK(testing::WriteGraph(expected.graph, expected.placement, fresh));
  auto written = Dataset::Open(fresh);
  VICINITY_REQUIRE_OK(written.status());
  CHECK((*dataset)->fingerprint() == (*written)->fingerprint());
  CHECK((*dataset)->manifest().audit().SerializeAsString() ==
        (*written)->manifest().audit().SerializeAsString());
  std::filesystem::remove_all(fresh);
}

// A graph whose lists are in the order of a column of the nodes, of which they have copies, or of
// one of their own; with weights.
MemoryGraph TimedGraph(uint64_t seed, bool copied) {
  testing::RandomGraphOptions options;
  options.num_nodes = 60;
  options.num_edges = 300;
  options.weights = true;
  options.times = true;
  options.time_order = !copied;
  options.id_kind = IdKind::kString;
  options.seed = seed;
  MemoryGraph graph = testing::RandomGraph(options);
  if (!copied) return graph;
  std::mt19937_64 random(seed);
  NodeTypeSpec& nodes = graph.schema.node_types[0];
  EdgeTypeSpec& edges = graph.schema.edge_types[0];
  nodes.columns.push_back({"born", DType::kInt64, {}});
  edges.columns.push_back({"born_of_source", DType::kInt64, {}, "born"});
  edges.time_order = "born_of_source";
  std::string& born = graph.nodes[0].columns.emplace_back();
  for (int64_t i = 0; i < options.num_nodes; ++i) {
    const auto value = static_cast<int64_t>(random() % 10) - 5;
    born.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  std::string& copies = graph.edges[0].columns.emplace_back();
  for (const int64_t source : graph.edges[0].sources) {
    copies += graph.row({0}, static_cast<int>(nodes.columns.size()) - 1, source);
  }
  return graph;
}

MemoryGraph GraphOf(int kind, uint64_t seed) {
  if (kind == 0) return testing::TypedGraph(40, 30, 12, seed);
  if (kind < 3) return TimedGraph(seed, kind == 2);
  testing::RandomGraphOptions options;  // dense ids
  options.weights = true;
  options.seed = seed;
  return testing::RandomGraph(options);
}

TEST_CASE("what is folded at any time is the graph that a naive model holds, byte for byte",
          "[fold]") {
  const int num_seeds = testing::SizeFromEnvironment("VICINITY_FOLD_SEEDS", 24);
  for (int seed = 1; seed <= num_seeds; ++seed) {
    CAPTURE(seed);
    const testing::TempDir folder;
    const MemoryGraph graph = GraphOf(seed % 4, seed);
    const auto num_shards = static_cast<int32_t>(1 + seed / 4 % 4);
    const Placement placement = testing::Shuffled(graph, num_shards, seed);
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph, placement, folder.File("data")));
    LiveGraph live(graph, placement, folder.File("data"), folder.File("changes"), seed);
    for (int fold = 0; fold < 12; ++fold) {
      CAPTURE(fold);
      const auto report = FoldNow(&live, folder.File("folded"));
      VICINITY_REQUIRE_OK(report.status());
      CheckIsWritten(folder.File("folded"), live.Expected(), folder);
      std::filesystem::remove_all(folder.File("folded"));
      for (uint64_t steps = 1 + live.Below(12); steps > 0; --steps) {
        VICINITY_REQUIRE_OK(live.ApplyAny());
      }
      if (live.Below(4) == 0) live.Reopen();
    }
  }
}

TEST_CASE("a graph is folded again and again with writes in between, and verified each time",
          "[fold]") {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    const testing::TempDir folder;
    MemoryGraph graph = GraphOf(static_cast<int>(seed % 4), seed);
    Placement placement = testing::Shuffled(graph, 3, seed);
    std::string data = folder.File("data-0");
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph, placement, data));
    for (int fold = 1; fold <= 5; ++fold) {
      CAPTURE(fold);
      const std::string changes = folder.File(absl::StrCat("changes-", fold));
      LiveGraph live(graph, placement, data, changes, 100 * seed + fold);
      for (int step = 0; step < 30; ++step) {
        VICINITY_REQUIRE_OK(live.ApplyAny());
        if (live.Below(15) == 0) live.Reopen();
      }
      live.Close();
      const std::string next = folder.File(absl::StrCat("data-", fold));
      const auto report = Fold(data, changes, next);
      VICINITY_REQUIRE_OK(report.status());
      LiveGraph::Folded expected = live.Expected();
      CheckIsWritten(next, expected, folder);
      VICINITY_REQUIRE_OK(VerifyDataset(next, NoProgress()));
      // Its changes are those of the old files.
      const auto again = Fold(next, changes, folder.File("again"));
      CHECK(again.status().code() == absl::StatusCode::kFailedPrecondition);
      data = next;
      graph = std::move(expected.graph);
      placement = std::move(expected.placement);
    }
  }
}

// The graph without its edges.
MemoryGraph WithoutEdges(const MemoryGraph& graph) {
  MemoryGraph bare = graph;
  for (testing::MemoryEdges& edges : bare.edges) {
    edges.sources.clear();
    edges.targets.clear();
    for (std::string& column : edges.columns) column.clear();
  }
  return bare;
}

// Streams these edges (ids of `graph`) of a type in this order in batches of any size, each to the
// shards of its targets, with restarts in between.
void Stream(const MemoryGraph& graph, const Placement& placement, int32_t type,
            const std::vector<int64_t>& order, LiveGraph* live) {
  const EdgeTypeSpec& spec = graph.schema.edge_types[type];
  std::vector<std::vector<uint64_t>> ids;
  for (const auto& of_type : placement.order) {
    std::vector<uint64_t>& of_positions = ids.emplace_back(of_type.size());
    for (size_t node = 0; node < of_type.size(); ++node) of_positions[of_type[node]] = node;
  }
  for (size_t next = 0; next < order.size();) {
    std::vector<proto::WriteBatch> batches(placement.book.num_shards());
    for (uint64_t left = 1 + live->Below(40); left > 0 && next < order.size(); --left, ++next) {
      const int64_t edge = order[next];
      const uint64_t target = ids[spec.target_type][graph.edges[type].targets[edge]];
      const ShardId shard =
          placement.book.OwnerOf({spec.target_type}, {static_cast<int64_t>(target)});
      proto::WriteBatch& batch = batches[shard.value];
      if (batch.new_edges_size() == 0) {
        batch.add_new_edges()->set_edge_type(type);
        for (size_t c = 0; c < spec.columns.size(); ++c) batch.mutable_new_edges(0)->add_columns();
      }
      proto::NewEdges& edges = *batch.mutable_new_edges(0);
      edges.add_sources(ids[spec.source_type][graph.edges[type].sources[edge]]);
      edges.add_targets(target);
      for (size_t c = 0; c < spec.columns.size(); ++c) {
        edges.mutable_columns(static_cast<int>(c))
            ->mutable_rows()
            ->append(graph.edge_row({type}, static_cast<int>(c), edge));
      }
    }
    for (int32_t s = 0; s < placement.book.num_shards(); ++s) {
      if (batches[s].new_edges_size() == 0) continue;
      VICINITY_REQUIRE_OK(live->Apply(s, batches[s]).status());
    }
    if (live->Below(10) == 0) live->Reopen();
  }
}

std::vector<int64_t> InOrder(size_t count) {
  std::vector<int64_t> order(count);
  for (size_t i = 0; i < count; ++i) order[i] = static_cast<int64_t>(i);
  return order;
}

TEST_CASE("a graph that is streamed edge by edge and folded is the one imported at once, all files",
          "[fold]") {
  const int kind = GENERATE(0, 1, 2, 3);
  CAPTURE(kind);
  const testing::TempDir folder;
  const MemoryGraph graph = GraphOf(kind, 5);
  const Placement placement = testing::InUserOrder(graph);
  const MemoryGraph bare = WithoutEdges(graph);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, placement, folder.File("at-once")));
  VICINITY_REQUIRE_OK(testing::WriteGraph(bare, placement, folder.File("bare")));
  LiveGraph live(bare, placement, folder.File("bare"), folder.File("changes"), kind);
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    Stream(graph, placement, static_cast<int32_t>(e), InOrder(graph.edges[e].sources.size()),
           &live);
  }
  live.Close();
  VICINITY_REQUIRE_OK(
      Fold(folder.File("bare"), folder.File("changes"), folder.File("folded")).status());
  VICINITY_REQUIRE_OK(VerifyDataset(folder.File("folded"), NoProgress()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto folded, Dataset::Open(folder.File("folded")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto at_once, Dataset::Open(folder.File("at-once")));
  VICINITY_CHECK_OK(
      CompareAudits(graph.schema, at_once->manifest().audit(), folded->manifest().audit()));
  CHECK(folded->fingerprint() == at_once->fingerprint());
}

TEST_CASE("a graph that is streamed in any order to several shards is that graph but for edge ids",
          "[fold]") {
  const uint64_t seed = GENERATE(1, 2, 3, 4);
  CAPTURE(seed);
  const testing::TempDir folder;
  const MemoryGraph graph = GraphOf(static_cast<int>(seed % 4), seed);
  const Placement placement = testing::Shuffled(graph, 3, seed);
  const MemoryGraph bare = WithoutEdges(graph);
  VICINITY_REQUIRE_OK(testing::WriteGraph(bare, placement, folder.File("bare")));
  LiveGraph live(bare, placement, folder.File("bare"), folder.File("changes"), seed);
  std::mt19937_64 random(seed);
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    std::vector<int64_t> order = InOrder(graph.edges[e].sources.size());
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    Stream(graph, placement, static_cast<int32_t>(e), order, &live);
  }
  live.Close();
  VICINITY_REQUIRE_OK(
      Fold(folder.File("bare"), folder.File("changes"), folder.File("folded")).status());
  const LiveGraph::Folded expected = live.Expected();
  CheckIsWritten(folder.File("folded"), expected, folder);
  // The ends and values of all edges, as multisets, are those of the graph.
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    const auto contents = [e](const MemoryGraph& of) {
      const EdgeTypeSpec& spec = of.schema.edge_types[e];
      std::vector<std::string> edges;
      for (size_t i = 0; i < of.edges[e].sources.size(); ++i) {
        std::string& edge = edges.emplace_back(
            absl::StrCat(of.nodes[spec.source_type].keys[of.edges[e].sources[i]], " ",
                         of.nodes[spec.target_type].keys[of.edges[e].targets[i]], " "));
        for (size_t c = 0; c < spec.columns.size(); ++c) {
          edge +=
              of.edge_row({static_cast<int32_t>(e)}, static_cast<int>(c), static_cast<int64_t>(i));
        }
      }
      std::sort(edges.begin(), edges.end());
      return edges;
    };
    CHECK(contents(graph) == contents(expected.graph));
  }
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, placement, folder.File("at-once")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto folded, Dataset::Open(folder.File("folded")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto at_once, Dataset::Open(folder.File("at-once")));
  for (int t = 0; t < at_once->manifest().audit().node_types_size(); ++t) {
    CHECK(folded->manifest().audit().node_types(t).SerializeAsString() ==
          at_once->manifest().audit().node_types(t).SerializeAsString());
  }
}

TEST_CASE("edges that are gone leave no gaps in the ids, which keep their order", "[fold]") {
  const testing::TempDir folder;
  testing::RandomGraphOptions options;
  options.num_nodes = 10;
  options.num_edges = 20;
  const MemoryGraph graph = testing::RandomGraph(options);
  const Placement placement = testing::InUserOrder(graph);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, placement, folder.File("data")));
  LiveGraph live(graph, placement, folder.File("data"), folder.File("changes"), 1);
  proto::WriteBatch batch;
  proto::EdgeNames& gone = *batch.add_gone_edges();
  for (int64_t edge = 0; edge < 5; ++edge) {
    gone.add_targets(graph.edges[0].targets[edge]);
    gone.add_edge_ids(edge);
  }
  proto::NewEdges& added = *batch.add_new_edges();
  added.add_sources(1);
  added.add_targets(2);
  const auto applied = live.Apply(0, batch);
  VICINITY_REQUIRE_OK(applied.status());
  CHECK(applied->first_edges == std::vector<int64_t>{LiveBase::kFirstNewEdge});
  const auto report = FoldNow(&live, folder.File("folded"));
  VICINITY_REQUIRE_OK(report.status());
  CHECK(report->versions == std::vector<uint64_t>{1});
  REQUIRE(report->edge_types.size() == 1);
  CHECK(report->edge_types[0].in_files == 20);
  CHECK(report->edge_types[0].removed() == 5);
  CHECK(report->edge_types[0].added == 1);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto folded, Dataset::Open(folder.File("folded")));
  const EdgeTable& edges = folded->shards()[0]->edges({0});
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < edges.num_edges(); ++i) ids.push_back(edges.edge_ids[i]);
  std::sort(ids.begin(), ids.end());
  CHECK(ids == InOrder(16));
  CheckIsWritten(folder.File("folded"), live.Expected(), folder);
}

TEST_CASE("ids of the files beyond the number of edges, as import leaves them, meet no new edge's",
          "[fold]") {
  const testing::ImportFolder folder;
  folder.Write("edges.csv", "0,1\n0,1\n0,1\n0,1\n1,2\n2,0\n");
  VICINITY_REQUIRE_OK(folder.Import(R"(
      dedup: true
      nodes { name: "n" count: 3 }
      edges { source: "n" relation: "r" target: "n" ends { path: "edges.csv" } })"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open());
  const std::string changes = folder.dir().File("changes");
  {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto live,
                                  LiveDataset::Open(*dataset, changes, LiveDatasetOptions()));
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<LiveShard> shard, live->Find({0}));
    proto::WriteSession session;
    session.set_id("writer");
    session.set_sequence(1);
    proto::WriteBatch batch;
    proto::NewEdges& edges = *batch.add_new_edges();
    for (const uint64_t source : {0, 2, 1}) {
      edges.add_sources(source);
      edges.add_targets(2);
    }
    const auto applied =
        shard->Apply(session, batch, Durability::kSync, absl::Now() + absl::Minutes(1));
    VICINITY_REQUIRE_OK(applied.status());
    CHECK(applied->first_edges == std::vector<int64_t>{LiveBase::kFirstNewEdge});
    // Counted on from the three edges that there were it would be the second new one.
    proto::WriteBatch removal;
    proto::EdgeNames& gone = *removal.add_gone_edges();
    gone.add_targets(2);
    gone.add_edge_ids(4);
    session.set_sequence(2);
    VICINITY_REQUIRE_OK(
        shard->Apply(session, removal, Durability::kSync, absl::Now() + absl::Minutes(1)).status());
  }
  const std::string folded = folder.dir().File("folded");
  VICINITY_REQUIRE_OK(Fold(dataset->directory(), changes, folded).status());
  VICINITY_CHECK_OK(VerifyDataset(folded, NoProgress()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto opened, Dataset::Open(folded));
  const EdgeTable& edges = opened->shards()[0]->edges({0});
  std::vector<std::pair<int64_t, int64_t>> found;  // sources and ids
  for (int64_t i = 0; i < edges.num_edges(); ++i) {
    found.emplace_back(edges.sources[i], edges.edge_ids[i]);
  }
  CHECK(found == std::vector<std::pair<int64_t, int64_t>>{{2, 1}, {0, 0}, {0, 2}, {1, 4}, {2, 3}});
}

TEST_CASE("a node that is gone leaves with its edges, also where nobody removed them", "[fold]") {
  const testing::TempDir folder;
  testing::RandomGraphOptions options;
  options.num_nodes = 10;
  options.num_edges = 60;
  const MemoryGraph graph = testing::RandomGraph(options);
  const Placement placement = testing::InUserOrder(graph);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, placement, folder.File("data")));
  LiveGraph live(graph, placement, folder.File("data"), folder.File("changes"), 1);
  proto::WriteBatch batch;
  batch.add_gone_keys()->add_keys(3);
  VICINITY_REQUIRE_OK(live.Apply(0, batch).status());
  const auto report = FoldNow(&live, folder.File("folded"));
  VICINITY_REQUIRE_OK(report.status());
  CHECK(report->node_types[0].removed() == 1);
  CHECK(report->node_types[0].no_longer_dense);
  int64_t with_it = 0;
  for (size_t i = 0; i < graph.edges[0].sources.size(); ++i) {
    with_it += graph.edges[0].sources[i] == 3 || graph.edges[0].targets[i] == 3;
  }
  CHECK(report->edge_types[0].removed() == with_it);
  VICINITY_CHECK_OK(VerifyDataset(folder.File("folded"), NoProgress()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto folded, Dataset::Open(folder.File("folded")));
  CHECK(folded->schema().node_types[0].id_kind == IdKind::kInt64);
  CheckIsWritten(folder.File("folded"), live.Expected(), folder);
}

TEST_CASE("a key that went and came again is its new node's alone", "[fold]") {
  const testing::TempDir folder;
  testing::RandomGraphOptions options;
  options.num_nodes = 10;
  options.num_edges = 60;
  options.feature_width = 1;
  options.num_classes = 0;
  options.splits = false;
  const MemoryGraph graph = testing::RandomGraph(options);
  const Placement placement = testing::InUserOrder(graph);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, placement, folder.File("data")));
  LiveGraph live(graph, placement, folder.File("data"), folder.File("changes"), 1);
  proto::WriteBatch remove;
  remove.add_gone_keys()->add_keys(3);
  proto::WriteBatch add;
  proto::NewNodes& nodes = *add.add_new_nodes();
  nodes.add_keys(3);
  nodes.add_columns()->set_rows("1234");
  proto::WriteBatch link;
  proto::NewEdges& edges = *link.add_new_edges();
  edges.add_sources(10);  // the new one
  edges.add_targets(2);
  for (const proto::WriteBatch& batch : {remove, add, link, remove, add}) {
    VICINITY_REQUIRE_OK(live.Apply(0, batch).status());
  }
  const auto report = FoldNow(&live, folder.File("folded"));
  VICINITY_REQUIRE_OK(report.status());
  CHECK(report->node_types[0].removed() == 1);
  CHECK(report->node_types[0].added == 1);  // the third
  CHECK_FALSE(report->node_types[0].no_longer_dense);
  CHECK(report->edge_types[0].added == 0);
  VICINITY_CHECK_OK(VerifyDataset(folder.File("folded"), NoProgress()));
  CheckIsWritten(folder.File("folded"), live.Expected(), folder);
}

TEST_CASE("nothing is folded without the changes of all shards, or beside who writes them",
          "[fold]") {
  const testing::TempDir folder;
  const MemoryGraph graph = GraphOf(0, 1);
  const Placement placement = testing::Shuffled(graph, 3, 1);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, placement, folder.File("data")));
  LiveGraph live(graph, placement, folder.File("data"), folder.File("changes"), 1);
  const auto fold = [&] {
    return Fold(folder.File("data"), folder.File("changes"), folder.File("folded")).status();
  };
  CHECK(fold().code() == absl::StatusCode::kFailedPrecondition);  // a server has them
  live.Close();
  const std::filesystem::path one = folder.File("changes/shard-00001");
  std::filesystem::rename(one, folder.File("elsewhere"));
  CHECK(fold().code() == absl::StatusCode::kNotFound);
  std::filesystem::create_directory(one);
  CHECK(fold().code() == absl::StatusCode::kNotFound);
  std::filesystem::remove(one);
  std::filesystem::rename(folder.File("elsewhere"), one);
  VICINITY_CHECK_OK(fold());
  CHECK(fold().code() == absl::StatusCode::kAlreadyExists);
}

constexpr char kFolderVariable[] = "VICINITY_FOLD_TEST_FOLDER";
constexpr char kCallVariable[] = "VICINITY_FOLD_TEST_CALL";

// Ends the process at its n-th call, as the system would that runs out of memory.
class KillingProgress final : public Progress {
 public:
  explicit KillingProgress(int calls) : calls_(calls) {}
  void Begin(std::string_view, int64_t, std::string_view) override { Count(); }
  void Update(int64_t) override { Count(); }
  void End() override { Count(); }
  void Note(std::string_view) override {}

 private:
  void Count() {
    if (--calls_ == 0) kill(getpid(), SIGKILL);
  }
  int calls_;
};

// What the other process does.
TEST_CASE("folds until it is killed", "[.folder]") {
  const char* const folder = std::getenv(kFolderVariable);
  const char* const call = std::getenv(kCallVariable);
  REQUIRE(folder != nullptr);
  REQUIRE(call != nullptr);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, OpenForPasses(absl::StrCat(folder, "/data")));
  KillingProgress progress(std::atoi(call));
  VICINITY_REQUIRE_OK(FoldChanges(*dataset, absl::StrCat(folder, "/changes"),
                                  absl::StrCat(folder, "/folded"), &progress)
                          .status());
}

// Whether this program's folding was killed at that call, and not through before it.
bool FoldUntilKilled(int call) {
  REQUIRE(setenv(kCallVariable, absl::StrCat(call).c_str(), 1) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {  // nothing but system calls up to exec
    execl("/proc/self/exe", "fold_test", "[.folder]", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (!WIFSIGNALED(status)) CHECK(WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status);
}

TEST_CASE("a fold that is killed leaves no dataset, and the next one makes the whole", "[fold]") {
  const testing::TempDir folder;
  const MemoryGraph graph = GraphOf(0, 3);
  const Placement placement = testing::Shuffled(graph, 2, 3);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, placement, folder.File("data")));
  LiveGraph live(graph, placement, folder.File("data"), folder.File("changes"), 3);
  for (int step = 0; step < 40; ++step) VICINITY_REQUIRE_OK(live.ApplyAny());
  live.Close();
  REQUIRE(setenv(kFolderVariable, folder.path().c_str(), 1) == 0);
  int call = 1;
  for (; FoldUntilKilled(call); call += 3) {
    CAPTURE(call);
    REQUIRE(call < 1000);
    CHECK_FALSE(std::filesystem::exists(folder.File("folded")));
    CHECK_FALSE(Dataset::Open(folder.File("folded.partial")).ok());
  }
  CHECK(call > 20);
  CHECK_FALSE(std::filesystem::exists(folder.File("folded.partial")));
  CheckIsWritten(folder.File("folded"), live.Expected(), folder);
}

}  // namespace
}  // namespace vicinity
