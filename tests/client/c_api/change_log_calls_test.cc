// The calls of client/c_api/vicinity.h that tell what has been written, over real servers.
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/c_api/vicinity.h"
#include "client/graph.h"
#include "client/types/result.h"
#include "client/types/write_values.h"
#include "client/writer.h"
#include "tests/client/c_api/open_graph.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity {
namespace {

using testing::GraphPtr;
using testing::RequireOk;
using testing::SmallCluster;
using testing::TensorPtr;
using testing::ValuesOf;
using Ids = std::vector<int64_t>;
using LogPtr = std::unique_ptr<VicinityChangeLog, decltype(&vicinity_change_log_release)>;

// Users, items and tags on a server, in one shard, and a writer of the C++ interface.
class ChangeLogTest {
 public:
  explicit ChangeLogTest(SmallCluster::Kind kind = SmallCluster::Kind::kLive)
      : cluster_(testing::TypedGraph(40, 20, 5, 1), 1, 1, kind) {
    const std::string options = R"({"cluster_file": ")" + cluster_.cluster_file() + "\"}";
    VicinityGraph* graph = nullptr;
    RequireOk(vicinity_graph_open(options.c_str(), &graph));
    graph_ = GraphPtr(graph);
  }

 protected:
  void Write(const GraphChanges& changes) {
    GraphOptions options;
    options.cluster_file = cluster_.cluster_file();
    auto graph = Graph::Open(options);
    REQUIRE(graph.ok());
    auto writer = Writer::Create(graph->get());
    REQUIRE(writer.ok());
    auto written = (*writer)->Write(changes);
    REQUIRE(written.ok());
    REQUIRE(written->refused.empty());
    written_ = *std::move(written);
  }
  LogPtr Changes(int64_t after, int64_t term) const {
    VicinityChangeLog* log = nullptr;
    RequireOk(vicinity_graph_changes(graph_.get(), 0, after, term, 10, &log));
    return LogPtr(log, &vicinity_change_log_release);
  }
  LogPtr ChangesOf(const char* cursor) const {
    VicinityChangeLog* log = nullptr;
    RequireOk(vicinity_graph_changes_of(graph_.get(), 0, cursor, 10, &log));
    return LogPtr(log, &vicinity_change_log_release);
  }
  static VicinityChangeInfo InfoOf(const LogPtr& log, int64_t change) {
    VicinityChangeInfo info = {};
    info.struct_size = sizeof(info);
    RequireOk(vicinity_change_log_change(log.get(), change, &info));
    return info;
  }
  static VicinityChangePart PartOf(const LogPtr& log, int64_t change, int32_t part) {
    VicinityChangePart info = {};
    info.struct_size = sizeof(info);
    RequireOk(vicinity_change_log_part(log.get(), change, part, &info));
    return info;
  }
  static TensorPtr TensorOf(const LogPtr& log, int64_t change, int32_t part, int32_t ids) {
    DLManagedTensor* tensor = nullptr;
    RequireOk(vicinity_change_log_tensor(log.get(), change, part, ids, &tensor));
    return TensorPtr(tensor);
  }
  static Ids IdsOf(const LogPtr& log, int64_t change, int32_t part, int32_t ids) {
    return ValuesOf<int64_t>(*TensorOf(log, change, part, ids));
  }
  nlohmann::json Cursors() const { return JsonOf(&vicinity_graph_cursors); }
  nlohmann::json States() const { return JsonOf(&vicinity_graph_shard_states); }
  nlohmann::json JsonOf(int32_t (*call)(const VicinityGraph*, char**)) const {
    char* json = nullptr;
    RequireOk(call(graph_.get(), &json));
    const std::string text = json;
    vicinity_string_free(json);
    return nlohmann::json::parse(text);
  }

  const SmallCluster cluster_;
  GraphPtr graph_;
  Written written_;
};

TEST_CASE_METHOD(ChangeLogTest, "a change tells what became of which nodes and edges", "[c_api]") {
  CHECK(vicinity_change_log_size(Changes(0, 0).get()) == 0);
  CHECK(States().dump() == R"([{"num_edges":[160,160,40,240,0],"num_nodes":[40,20,5],"shard":0,)"
                           R"("term":0,"version":0}])");
  GraphChanges changes;
  changes.new_nodes = {{"tag", {50, 51}}};
  changes.new_edges = {{"knows", {1, 2}, {4, 5}}};
  const std::vector<uint8_t> split = {1, 2};
  changes.node_values = {{"user", {8, 7}, {GivenColumn::Of("split", split)}}};
  changes.removed_nodes = {{"tag", {3}}};
  Write(changes);
  LogPtr log = Changes(0, 0);
  REQUIRE(vicinity_change_log_size(log.get()) == 1);
  const VicinityChangeInfo info = InfoOf(log, 0);
  CHECK(info.shard == 0);
  CHECK(info.version == 1);
  CHECK(info.unix_micros > 0);
  CHECK(info.num_session_bytes == 16);
  REQUIRE(info.num_parts == 4);

  const VicinityChangePart tags = PartOf(log, 0, 0);
  CHECK(tags.kind == VICINITY_NEW_NODES);
  CHECK(tags.type == 2);
  CHECK(tags.count == 2);
  CHECK(std::string(tags.column).empty());
  CHECK(IdsOf(log, 0, 0, VICINITY_CHANGED_NODES) == written_.node_ids[0]);
  CHECK(IdsOf(log, 0, 0, VICINITY_CHANGED_EDGE_IDS).empty());
  CHECK(PartOf(log, 0, 1).kind == VICINITY_NEW_EDGES);
  CHECK(PartOf(log, 0, 1).type == 3);
  CHECK(IdsOf(log, 0, 1, VICINITY_CHANGED_NODES) == Ids{4, 5});
  CHECK(IdsOf(log, 0, 1, VICINITY_CHANGED_SOURCES) == Ids{1, 2});
  CHECK(IdsOf(log, 0, 1, VICINITY_CHANGED_EDGE_IDS) == written_.edge_ids[0]);
  CHECK(std::string(PartOf(log, 0, 2).column) == "split");
  CHECK(IdsOf(log, 0, 2, VICINITY_CHANGED_NODES) == Ids{8, 7});
  CHECK(PartOf(log, 0, 3).kind == VICINITY_REMOVED_NODES);

  const nlohmann::json state = States()[0];
  CHECK(state["version"] == 1);
  CHECK(state["num_nodes"] == nlohmann::json({40, 20, 7}));
  CHECK(state["num_edges"] == nlohmann::json({160, 160, 40, 242, 0}));

  // Tensors stay.
  const TensorPtr gone = TensorOf(log, 0, 3, VICINITY_CHANGED_NODES);
  log.reset();
  CHECK(ValuesOf<int64_t>(*gone) == Ids{3});
}

TEST_CASE_METHOD(ChangeLogTest, "a reader with a name goes on where it has acknowledged",
                 "[c_api]") {
  for (const int64_t id : {50, 51, 52}) {
    GraphChanges changes;
    changes.new_nodes = {{"tag", {id}}};
    Write(changes);
  }
  CHECK(vicinity_change_log_size(ChangesOf("indexer").get()) == 3);
  CHECK(Cursors().empty());
  const VicinityChangeInfo second = InfoOf(ChangesOf("indexer"), 1);
  RequireOk(vicinity_graph_acknowledge(graph_.get(), 0, "indexer", second.version, second.term));
  const LogPtr left = ChangesOf("indexer");
  REQUIRE(vicinity_change_log_size(left.get()) == 1);
  CHECK(InfoOf(left, 0).version == 3);
  CHECK(vicinity_change_log_size(Changes(second.version, second.term).get()) == 1);
  CHECK(vicinity_change_log_size(Changes(second.version, -1).get()) == 1);

  const nlohmann::json cursors = Cursors();
  REQUIRE(cursors.size() == 1);
  CHECK(cursors[0]["name"] == "indexer");
  CHECK(cursors[0]["shard"] == 0);
  CHECK(cursors[0]["version"] == 2);
  CHECK(cursors[0]["behind"] == 1);
  CHECK(cursors[0]["unix_micros"] > 0);
  RequireOk(vicinity_graph_drop_cursor(graph_.get(), "indexer"));
  CHECK(Cursors().empty());
  CHECK(vicinity_change_log_size(ChangesOf("indexer").get()) == 3);
}

TEST_CASE_METHOD(ChangeLogTest, "what is wrong is told, and gives nothing", "[c_api]") {
  Write([] {
    GraphChanges changes;
    changes.new_nodes = {{"tag", {50}}};
    return changes;
  }());
  VicinityChangeLog* log = nullptr;
  VicinityGraph* const graph = graph_.get();
  CHECK(vicinity_graph_changes(graph, 1, 0, 0, 1, &log) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_changes(graph, 0, -1, 0, 1, &log) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_changes(graph, 0, 0, -2, 1, &log) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_changes(graph, 0, 0, 0, 0, &log) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_changes(graph, 0, 1, 99, 1, &log) == VICINITY_OUT_OF_RANGE);
  CHECK(vicinity_graph_changes(nullptr, 0, 0, 0, 1, &log) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_changes_of(graph, 0, "", 1, &log) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_changes_of(graph, 0, nullptr, 1, &log) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_acknowledge(graph, 0, "indexer", 2, -1) == VICINITY_OUT_OF_RANGE);
  CHECK(vicinity_graph_acknowledge(graph, 0, "indexer", -1, 0) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_drop_cursor(graph, "") == VICINITY_INVALID_ARGUMENT);
  CHECK(log == nullptr);

  const LogPtr one = Changes(0, 0);
  VicinityChangeInfo info = {};
  CHECK(vicinity_change_log_change(one.get(), 0, &info) == VICINITY_INVALID_ARGUMENT);
  info.struct_size = sizeof(info);
  CHECK(vicinity_change_log_change(one.get(), 1, &info) == VICINITY_INVALID_ARGUMENT);
  VicinityChangePart part = {};
  part.struct_size = sizeof(part);
  CHECK(vicinity_change_log_part(one.get(), 0, 1, &part) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_change_log_part(one.get(), -1, 0, &part) == VICINITY_INVALID_ARGUMENT);
  DLManagedTensor* tensor = nullptr;
  CHECK(vicinity_change_log_tensor(one.get(), 0, 0, 3, &tensor) == VICINITY_INVALID_ARGUMENT);
  CHECK(tensor == nullptr);
  CHECK(vicinity_change_log_size(nullptr) == 0);
}

class ReadOnlyLogTest : public ChangeLogTest {
 public:
  ReadOnlyLogTest() : ChangeLogTest(SmallCluster::Kind::kReadOnly) {}
};

TEST_CASE_METHOD(ReadOnlyLogTest, "in a graph that is read-only nothing changes", "[c_api]") {
  VicinityChangeLog* log = nullptr;
  char* json = nullptr;
  CHECK(vicinity_graph_changes(graph_.get(), 0, 0, 0, 1, &log) == VICINITY_FAILED_PRECONDITION);
  CHECK(vicinity_graph_cursors(graph_.get(), &json) == VICINITY_FAILED_PRECONDITION);
  CHECK(json == nullptr);
}

}  // namespace
}  // namespace vicinity
