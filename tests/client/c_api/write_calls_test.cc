// The calls of client/c_api/vicinity.h that write a live graph, over real servers.
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/c_api/vicinity.h"
#include "client/graph.h"
#include "tests/client/c_api/open_graph.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity {
namespace {

using testing::GraphPtr;
using testing::RequireOk;
using testing::ShapeOf;
using testing::SmallCluster;
using testing::TensorPtr;
using testing::ValuesOf;
using ChangesPtr = std::unique_ptr<VicinityChanges, decltype(&vicinity_changes_release)>;
using WriterPtr = std::unique_ptr<VicinityWriter, decltype(&vicinity_writer_release)>;
using WrittenPtr = std::unique_ptr<VicinityWritten, decltype(&vicinity_written_release)>;

// Users, items and tags on two servers, a graph and its writer.
class WriteCallsTest {
 public:
  WriteCallsTest() : cluster_(testing::TypedGraph(40, 20, 5, 1), 2, 2, SmallCluster::Kind::kLive) {
    const std::string options = R"({"cluster_file": ")" + cluster_.cluster_file() +
                                R"(", "call_timeout_ms": 2000, "call_budget_ms": 2000})";
    VicinityGraph* graph = nullptr;
    RequireOk(vicinity_graph_open(options.c_str(), &graph));
    graph_ = GraphPtr(graph);
    writer_ = NewWriter(R"({"durability": "buffered", "give_up_after_ms": 0})");
  }

 protected:
  WriterPtr NewWriter(const char* options) const {
    VicinityWriter* writer = nullptr;
    RequireOk(vicinity_writer_create(graph_.get(), options, &writer));
    return WriterPtr(writer, &vicinity_writer_release);
  }
  static ChangesPtr NewChanges() {
    VicinityChanges* changes = nullptr;
    RequireOk(vicinity_changes_create(&changes));
    return ChangesPtr(changes, &vicinity_changes_release);
  }
  WrittenPtr Write(const ChangesPtr& changes) const {
    VicinityWritten* written = nullptr;
    RequireOk(vicinity_writer_write(writer_.get(), changes.get(), &written));
    return WrittenPtr(written, &vicinity_written_release);
  }
  static TensorPtr PartOf(const WrittenPtr& written, int32_t part, int32_t index = 0) {
    DLManagedTensor* tensor = nullptr;
    RequireOk(vicinity_written_tensor(written.get(), part, index, &tensor));
    return TensorPtr(tensor);
  }
  static std::vector<int64_t> IdsOf(const WrittenPtr& written, int32_t part, int32_t index = 0) {
    return ValuesOf<int64_t>(*PartOf(written, part, index));
  }
  static nlohmann::json RefusedOf(const WrittenPtr& written) {
    char* text = nullptr;
    RequireOk(vicinity_written_refused(written.get(), &text));
    nlohmann::json refused = nlohmann::json::parse(text);
    vicinity_string_free(text);
    return refused;
  }
  std::vector<int64_t> Degrees(const char* edge_type, const std::vector<int64_t>& nodes) const {
    DLManagedTensor* degrees = nullptr;
    RequireOk(vicinity_graph_degrees(graph_.get(), edge_type, nodes.data(),
                                     static_cast<int64_t>(nodes.size()), &degrees));
    return ValuesOf<int64_t>(*TensorPtr(degrees));
  }
  std::vector<int64_t> OwnersOf(const std::vector<int64_t>& items) const {
    DLManagedTensor* owners = nullptr;
    RequireOk(vicinity_graph_owner_of(graph_.get(), "item", items.data(),
                                      static_cast<int64_t>(items.size()), &owners));
    const std::vector<int32_t> shards = ValuesOf<int32_t>(*TensorPtr(owners));
    return {shards.begin(), shards.end()};
  }
  int64_t ResolveTag(int64_t id) const {
    DLManagedTensor* node = nullptr;
    RequireOk(vicinity_graph_resolve(graph_.get(), "tag", &id, 1, &node));
    return ValuesOf<int64_t>(*TensorPtr(node)).at(0);
  }

  SmallCluster cluster_;
  GraphPtr graph_;
  WriterPtr writer_{nullptr, &vicinity_writer_release};
};

TEST_CASE_METHOD(WriteCallsTest, "what is written is read, and what is refused is told",
                 "[write_calls]") {
  const ChangesPtr changes = NewChanges();
  const int64_t tags[] = {777, 2, 778};
  RequireOk(vicinity_changes_add_nodes(changes.get(), "tag", tags, 3));
  const int64_t users[] = {1, 2, 3};
  const int64_t items[] = {5, 6, 5};
  const float weights[] = {0.5F, -1, 2};
  const std::vector<int64_t> before = Degrees("user:buys:item", {5, 6});
  RequireOk(vicinity_changes_add_edges(changes.get(), "user:buys:item", users, items, 3));
  RequireOk(vicinity_changes_column(changes.get(), "weight", "float32", weights, sizeof(weights)));
  const WrittenPtr written = Write(changes);
  CHECK(vicinity_written_num_applied(written.get()) == 4);

  const std::vector<int64_t> nodes = IdsOf(written, VICINITY_WRITTEN_NODE_IDS);
  REQUIRE(nodes.size() == 3);
  CHECK(nodes[1] == -1);
  CHECK(ResolveTag(777) == nodes[0]);
  CHECK(ResolveTag(778) == nodes[2]);
  const std::vector<int64_t> edges = IdsOf(written, VICINITY_WRITTEN_EDGE_IDS);
  CHECK(edges.at(0) >= 160);
  CHECK(edges.at(1) == -1);
  CHECK(Degrees("user:buys:item", {5, 6}) == std::vector<int64_t>{before[0] + 2, before[1]});

  const nlohmann::json refused = RefusedOf(written);
  REQUIRE(refused.size() == 2);
  CHECK(refused[0]["kind"] == "new_nodes");
  CHECK(refused[0]["row"] == 1);
  CHECK(refused[0]["code"] == VICINITY_ALREADY_EXISTS);
  CHECK(refused[1]["kind"] == "new_edges");
  CHECK(refused[1]["part"] == 0);
  CHECK(refused[1]["code"] == VICINITY_INVALID_ARGUMENT);
  CHECK_THAT(refused[1]["message"].get<std::string>(), Catch::Contains("weight"));
  CHECK(ShapeOf(*PartOf(written, VICINITY_WRITTEN_UNSURE)) == std::vector<int64_t>{0, 3});

  DLManagedTensor* now = nullptr;
  RequireOk(vicinity_graph_versions(graph_.get(), &now));
  const std::vector<int64_t> versions = ValuesOf<int64_t>(*TensorPtr(now));
  const std::vector<int32_t> shards = ValuesOf<int32_t>(*PartOf(written, VICINITY_WRITTEN_SHARDS));
  const std::vector<int64_t> at = IdsOf(written, VICINITY_WRITTEN_VERSIONS);
  REQUIRE(shards.size() == at.size());
  for (size_t i = 0; i < shards.size(); ++i) CHECK(versions.at(2 * shards[i]) == at[i]);
}

TEST_CASE_METHOD(WriteCallsTest, "values, edges and nodes change and go", "[write_calls]") {
  const int64_t user = 4;
  const std::vector<float> features = {1, 2, 3, 4, 5};
  ChangesPtr changes = NewChanges();
  RequireOk(vicinity_changes_update_nodes(changes.get(), "user", &user, 1));
  RequireOk(vicinity_changes_column(changes.get(), "features", "float32", features.data(), 20));
  const int64_t clicks[] = {8, 9};
  const int64_t end = 2;
  RequireOk(
      vicinity_changes_ragged(changes.get(), "clicks", "int64", &end, nullptr, 0, clicks, 16));
  const int64_t item = 5;
  const float weight = 0.5F;
  RequireOk(vicinity_changes_add_edges(changes.get(), "user:buys:item", &user, &item, 1));
  RequireOk(vicinity_changes_column(changes.get(), "weight", "float32", &weight, 4));
  const WrittenPtr written = Write(changes);
  CHECK(vicinity_written_num_applied(written.get()) == 2);
  DLManagedTensor *rows = nullptr, *indices = nullptr, *values = nullptr;
  RequireOk(vicinity_graph_fetch(graph_.get(), "user", "features", &user, 1, &rows));
  CHECK(ValuesOf<float>(*TensorPtr(rows)) == features);
  RequireOk(vicinity_graph_fetch_ragged(graph_.get(), "user", "clicks", &user, 1, &rows, &indices,
                                        &values));
  CHECK(ValuesOf<int64_t>(*TensorPtr(rows)) == std::vector<int64_t>{2});
  CHECK(ValuesOf<int64_t>(*TensorPtr(values)) == std::vector<int64_t>{8, 9});

  const int64_t edge = IdsOf(written, VICINITY_WRITTEN_EDGE_IDS).at(0);
  const std::vector<int64_t> with = Degrees("user:buys:item", {item});
  changes = NewChanges();
  const float heavy = 7;
  RequireOk(vicinity_changes_update_edges(changes.get(), "user:buys:item", &item, &edge, 1));
  RequireOk(vicinity_changes_column(changes.get(), "weight", "float32", &heavy, 4));
  CHECK(vicinity_written_num_applied(Write(changes).get()) == 1);
  changes = NewChanges();
  RequireOk(vicinity_changes_remove_edges(changes.get(), "user:buys:item", &item, &edge, 1));
  const int64_t tag = ResolveTag(3);
  RequireOk(vicinity_changes_remove_nodes(changes.get(), "tag", &tag, 1));
  CHECK(vicinity_written_num_applied(Write(changes).get()) == 2);
  CHECK(Degrees("user:buys:item", {item})[0] == with[0] - 1);
  CHECK(ResolveTag(3) == -1);
}

TEST_CASE_METHOD(WriteCallsTest, "new nodes have names", "[write_calls]") {
  const ChangesPtr changes = NewChanges();
  const int64_t ends[] = {2, 3};
  RequireOk(vicinity_changes_add_named_nodes(changes.get(), "item", "abc", ends, 2));
  const std::vector<uint16_t> features(12);
  const double prices[] = {1, 2};
  const int64_t none[] = {0, 0};
  RequireOk(vicinity_changes_column(changes.get(), "features", "float16", features.data(), 24));
  RequireOk(vicinity_changes_column(changes.get(), "price", "float64", prices, 16));
  RequireOk(vicinity_changes_column(changes.get(), "nothing", "int8", nullptr, 0));
  RequireOk(
      vicinity_changes_ragged(changes.get(), "words", "float32", none, nullptr, 0, nullptr, 0));
  RequireOk(vicinity_changes_ragged(changes.get(), "title", "uint8", ends, nullptr, 0, "xyz", 3));
  const std::vector<int64_t> nodes = IdsOf(Write(changes), VICINITY_WRITTEN_NODE_IDS);
  DLManagedTensor* found = nullptr;
  RequireOk(vicinity_graph_resolve_names(graph_.get(), "item", "cab", none + 1, 1, &found));
  CHECK(ValuesOf<int64_t>(*TensorPtr(found)) == std::vector<int64_t>{-1});
  RequireOk(vicinity_graph_resolve_names(graph_.get(), "item", "abc", ends, 2, &found));
  CHECK(ValuesOf<int64_t>(*TensorPtr(found)) == nodes);
}

TEST_CASE_METHOD(WriteCallsTest, "a write that fails gives what is known of the rows",
                 "[write_calls]") {
  const std::vector<int64_t> items = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<int64_t> owners = OwnersOf(items);
  cluster_.Stop(1);
  const ChangesPtr changes = NewChanges();
  const std::vector<float> weights(8, 1);
  RequireOk(
      vicinity_changes_add_edges(changes.get(), "user:buys:item", items.data(), items.data(), 8));
  RequireOk(vicinity_changes_column(changes.get(), "weight", "float32", weights.data(), 32));
  VicinityWritten* given = nullptr;
  const int32_t code = vicinity_writer_write(writer_.get(), changes.get(), &given);
  CHECK(code == VICINITY_UNAVAILABLE);
  CHECK_THAT(vicinity_last_error(), Catch::Contains("of 8 nodes and edges"));
  REQUIRE(given != nullptr);
  const WrittenPtr written(given, &vicinity_written_release);
  std::vector<int64_t> not_known;
  for (const int32_t part : {VICINITY_WRITTEN_UNSURE, VICINITY_WRITTEN_UNSENT}) {
    const std::vector<int64_t> rows = IdsOf(written, part);
    for (size_t i = 0; i + 2 < rows.size(); i += 3) {
      CHECK(rows[i] == VICINITY_NEW_EDGES);
      CHECK(rows[i + 1] == 0);
      not_known.push_back(rows[i + 2]);
    }
  }
  std::vector<int64_t> expected;
  for (const int64_t item : items) {
    if (owners[item] == 1) expected.push_back(item);
  }
  CHECK(not_known == expected);
  CHECK(vicinity_written_num_applied(written.get()) == 8 - static_cast<int64_t>(expected.size()));
}

TEST_CASE_METHOD(WriteCallsTest, "what does not fit the graph is refused before anything is sent",
                 "[write_calls]") {
  const ChangesPtr changes = NewChanges();
  const int64_t ids[] = {1, 2};
  RequireOk(vicinity_changes_add_nodes(changes.get(), "user", ids, 2));
  const WrittenPtr other = Write(NewChanges());
  VicinityWritten* written = other.get();
  CHECK(vicinity_writer_write(writer_.get(), changes.get(), &written) == VICINITY_INVALID_ARGUMENT);
  CHECK_THAT(vicinity_last_error(), Catch::Contains("new_nodes[0]"));
  CHECK(written == nullptr);
  const ChangesPtr unknown = NewChanges();
  RequireOk(vicinity_changes_remove_nodes(unknown.get(), "nobody", ids, 2));
  CHECK(vicinity_writer_write(writer_.get(), unknown.get(), &written) == VICINITY_NOT_FOUND);
}

TEST_CASE_METHOD(WriteCallsTest, "calls of writers refuse what is not given, or not there",
                 "[write_calls]") {
  VicinityWriter* writer = nullptr;
  CHECK(vicinity_writer_create(nullptr, "{}", &writer) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_writer_create(graph_.get(), nullptr, &writer) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_writer_create(graph_.get(), "{\"sync\": true}", &writer) ==
        VICINITY_INVALID_ARGUMENT);
  CHECK_THAT(vicinity_last_error(), Catch::Contains("durability"));
  const int64_t versions[] = {0, 0, 0, -1};
  VicinityGraph* at = nullptr;
  RequireOk(vicinity_graph_at(graph_.get(), versions, 2, &at));
  CHECK(vicinity_writer_create(GraphPtr(at).get(), "{}", &writer) == VICINITY_FAILED_PRECONDITION);
  CHECK(writer == nullptr);

  const ChangesPtr changes = NewChanges();
  VicinityWritten* none = nullptr;
  CHECK(vicinity_writer_write(nullptr, changes.get(), &none) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_writer_write(writer_.get(), nullptr, &none) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_writer_write(writer_.get(), changes.get(), nullptr) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_written_num_applied(nullptr) == 0);
  const WrittenPtr written = Write(changes);
  CHECK(PartOf(written, VICINITY_WRITTEN_SHARDS) != nullptr);
  DLManagedTensor* tensor = nullptr;
  for (const int32_t part :
       {int{VICINITY_WRITTEN_NODE_IDS}, int{VICINITY_WRITTEN_EDGE_IDS}, 6, -1}) {
    CHECK(vicinity_written_tensor(written.get(), part, 0, &tensor) == VICINITY_INVALID_ARGUMENT);
  }
  CHECK(vicinity_written_tensor(written.get(), VICINITY_WRITTEN_SHARDS, 1, &tensor) ==
        VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_written_tensor(nullptr, 0, 0, &tensor) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_written_refused(written.get(), nullptr) == VICINITY_INVALID_ARGUMENT);
  vicinity_changes_release(nullptr);
  vicinity_writer_release(nullptr);
  vicinity_written_release(nullptr);
}

TEST_CASE_METHOD(WriteCallsTest, "a writer outlives its graph", "[write_calls]") {
  graph_.reset();
  const ChangesPtr changes = NewChanges();
  const int64_t tag = 901;
  RequireOk(vicinity_changes_add_nodes(changes.get(), "tag", &tag, 1));
  CHECK(vicinity_written_num_applied(Write(changes).get()) == 1);
}

}  // namespace
}  // namespace vicinity
