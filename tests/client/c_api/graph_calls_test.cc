// The calls of client/c_api/vicinity.h that concern graphs.
#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/c_api/vicinity.h"
#include "client/graph.h"
#include "proto/common/ids.h"
#include "proto/version.h"
#include "tests/client/c_api/open_graph.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity {
namespace {

using testing::GraphPtr;
using testing::OpenGraph;
using testing::RequireOk;
using testing::ShapeOf;
using testing::TensorPtr;
using testing::ValuesOf;

TEST_CASE("the library tells its version and the names of codes", "[c_api]") {
  CHECK(std::string(vicinity_version()) == kVersion);
  CHECK(vicinity_abi_version() == VICINITY_ABI_VERSION);
  CHECK(std::string(vicinity_code_name(VICINITY_NOT_FOUND)) == "NOT_FOUND");
  CHECK(std::string(vicinity_code_name(VICINITY_NOT_READY)) == "NOT_READY");
  CHECK(vicinity_code_name(12345) != nullptr);
}

TEST_CASE("the library tells its options", "[c_api]") {
  char* text = nullptr;
  RequireOk(vicinity_options_describe(&text));
  const nlohmann::json described = nlohmann::json::parse(text);
  vicinity_string_free(text);
  CHECK(described["graph"][0]["name"] == "cluster_file");
  CHECK(described["loader"][0]["name"] == "fanouts");
  CHECK(vicinity_options_describe(nullptr) == VICINITY_INVALID_ARGUMENT);
}

TEST_CASE("nodes and rows are those of the C++ interface", "[c_api]") {
  const OpenGraph open;
  DLManagedTensor* tensor = nullptr;
  RequireOk(vicinity_graph_nodes(open.graph(), "user", "train", &tensor));
  const TensorPtr nodes(tensor);
  const std::vector<int64_t> expected = *open.plain().NodesOf(0, Split::kTrain);
  CHECK(ValuesOf<int64_t>(*nodes) == expected);

  RequireOk(vicinity_graph_fetch(open.graph(), "user", "features", expected.data(),
                                 static_cast<int64_t>(expected.size()), &tensor));
  const TensorPtr fetched(tensor);
  const Rows rows = *open.plain().Fetch(0, "features", expected);
  CHECK(ValuesOf<char>(*fetched) == std::vector<char>(rows.bytes.begin(), rows.bytes.end()));
  std::vector<int64_t> shape = {rows.num_rows};
  shape.insert(shape.end(), rows.spec.shape.begin(), rows.spec.shape.end());
  CHECK(ShapeOf(*fetched) == shape);
}

TEST_CASE("ragged rows are those of the C++ interface", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> items = {4, 0, 4};
  DLManagedTensor *row_ends = nullptr, *indices = nullptr, *values = nullptr;
  const auto fetch = [&](const char* type, const char* column) {
    return vicinity_graph_fetch_ragged(open.graph(), type, column, items.data(), 3, &row_ends,
                                       &indices, &values);
  };
  RequireOk(fetch("item", "words"));
  const RaggedRows words = *open.plain().FetchRagged(1, "words", items);
  CHECK(ValuesOf<int64_t>(*TensorPtr(row_ends)) == words.row_ends);
  CHECK(ValuesOf<int32_t>(*TensorPtr(indices)) == words.indices);
  CHECK(ValuesOf<char>(*TensorPtr(values)) ==
        std::vector<char>(words.values.begin(), words.values.end()));
  RequireOk(fetch("item", "title"));
  CHECK(indices == nullptr);
  CHECK(ShapeOf(*TensorPtr(row_ends)) == std::vector<int64_t>{3});
  CHECK(ValuesOf<char>(*TensorPtr(values)).size() ==
        open.plain().FetchRagged(1, "title", items)->values.size());
  CHECK(fetch("item", "price") == VICINITY_NOT_FOUND);
  CHECK(fetch("item", nullptr) == VICINITY_INVALID_ARGUMENT);
}

TEST_CASE("degrees are those of the C++ interface", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> items = {4, 0, 4};
  DLManagedTensor* tensor = nullptr;
  RequireOk(vicinity_graph_degrees(open.graph(), "user:buys:item", items.data(), 3, &tensor));
  CHECK(ValuesOf<int64_t>(*TensorPtr(tensor)) == *open.plain().Degrees(0, items));
  CHECK(vicinity_graph_degrees(open.graph(), "buys", items.data(), 3, &tensor) ==
        VICINITY_NOT_FOUND);
  CHECK(vicinity_graph_degrees(open.graph(), nullptr, items.data(), 3, &tensor) ==
        VICINITY_INVALID_ARGUMENT);
}

TEST_CASE("owners, and whether they are near, are those of the C++ interface", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> users = {299, 0, 150, 0};
  DLManagedTensor* tensor = nullptr;
  RequireOk(vicinity_graph_owner_of(open.graph(), "user", users.data(), 4, &tensor));
  const std::vector<int32_t> owners = ValuesOf<int32_t>(*TensorPtr(tensor));
  CHECK(owners == *open.plain().OwnersOf(0, users));
  CHECK(owners.front() == 1);
  CHECK(owners.back() == 0);
  RequireOk(vicinity_graph_is_local(open.graph(), "user", users.data(), 4, &tensor));
  CHECK(ValuesOf<uint8_t>(*TensorPtr(tensor)) == std::vector<uint8_t>(4, 1));
  const int64_t outside = 300;
  for (const auto& call : {vicinity_graph_owner_of, vicinity_graph_is_local}) {
    CHECK(call(open.graph(), "user", &outside, 1, &tensor) == VICINITY_INVALID_ARGUMENT);
    CHECK(call(open.graph(), "users", users.data(), 4, &tensor) == VICINITY_NOT_FOUND);
    CHECK(call(nullptr, "user", users.data(), 4, &tensor) == VICINITY_INVALID_ARGUMENT);
  }
}

TEST_CASE("a graph at its versions is the graph, and at others there is none", "[c_api]") {
  const OpenGraph open;
  DLManagedTensor* tensor = nullptr;
  RequireOk(vicinity_graph_versions(open.graph(), &tensor));
  const std::vector<int64_t> versions = ValuesOf<int64_t>(*TensorPtr(tensor));
  CHECK(versions == std::vector<int64_t>(2 * open.plain().num_shards(), 0));
  VicinityGraph* opened = nullptr;
  const auto count = static_cast<int64_t>(versions.size() / 2);
  RequireOk(vicinity_graph_at(open.graph(), versions.data(), count, &opened));
  const GraphPtr then(opened);
  const std::vector<int64_t> users = {299, 0, 150};
  RequireOk(vicinity_graph_degrees(then.get(), "user:knows:user", users.data(), 3, &tensor));
  CHECK(ValuesOf<int64_t>(*TensorPtr(tensor)) == *open.plain().Degrees(3, users));
  std::vector<int64_t> others = versions;
  for (const size_t place : {size_t{0}, others.size() - 1}) {  // a version, and a term
    others = versions;
    others[place] = 1;
    CHECK(vicinity_graph_at(open.graph(), others.data(), count, &opened) == VICINITY_OUT_OF_RANGE);
    others[place] = -2;
    CHECK(vicinity_graph_at(open.graph(), others.data(), count, &opened) ==
          VICINITY_INVALID_ARGUMENT);
  }
  CHECK(vicinity_graph_at(open.graph(), versions.data(), count - 1, &opened) ==
        VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_at(open.graph(), nullptr, count, &opened) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_versions(nullptr, &tensor) == VICINITY_INVALID_ARGUMENT);
}

TEST_CASE("a ranking is that of the C++ interface", "[c_api]") {
  testing::RoutedGraph on_disk(testing::TypedGraph(120, 80, 20, 6), 2);
  on_disk.Rank("default");
  VicinityGraph* opened = nullptr;
  const std::string options = R"({"directory": ")" + on_disk.directory() + "\"}";
  RequireOk(vicinity_graph_open(options.c_str(), &opened));
  const GraphPtr graph(opened);
  const std::vector<int32_t> home = {0, 1};
  DLManagedTensor* nodes = nullptr;
  DLManagedTensor* probabilities = nullptr;
  const auto ranked = [&](const char* name, int64_t num_home, const char* type, int64_t count) {
    return vicinity_graph_ranked(opened, name, home.data(), num_home, type, count, &nodes,
                                 &probabilities);
  };
  RequireOk(ranked("default", 2, "user", 4));
  std::vector<int64_t> first;
  for (int64_t position = 0; position < 4; ++position) {
    first.push_back(on_disk.GlobalIds(NodeTypeId{0})[position]);
  }
  CHECK(ValuesOf<int64_t>(*TensorPtr(nodes)) == first);  // as Rank() says
  const std::vector<float> chances = ValuesOf<float>(*TensorPtr(probabilities));
  CHECK(chances.size() == 4);
  CHECK(chances.front() == 1);
  RequireOk(ranked("default", 1, "item", 0));
  CHECK(ShapeOf(*TensorPtr(nodes)) == std::vector<int64_t>{80});
  CHECK(ShapeOf(*TensorPtr(probabilities)) == std::vector<int64_t>{80});
  CHECK(ranked("other", 2, "user", 4) == VICINITY_NOT_FOUND);
  CHECK(ranked("default", 2, "users", 4) == VICINITY_NOT_FOUND);
  CHECK(ranked("default", 0, "user", 4) == VICINITY_INVALID_ARGUMENT);
  CHECK(ranked("default", -1, "user", 4) == VICINITY_INVALID_ARGUMENT);
  CHECK(ranked("default", 2, "user", -4) == VICINITY_INVALID_ARGUMENT);
  CHECK(ranked(nullptr, 2, "user", 4) == VICINITY_INVALID_ARGUMENT);
}

TEST_CASE("edge ids are those of the C++ interface", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> users = {0, 1, 2, 3, 0};
  const std::vector<int64_t> items = {4, 0, 4, 1, 1};
  DLManagedTensor* tensor = nullptr;
  RequireOk(vicinity_graph_edge_ids(open.graph(), "user:buys:item", users.data(), items.data(), 5,
                                    &tensor));
  CHECK(ValuesOf<int64_t>(*TensorPtr(tensor)) == *open.plain().EdgeIds(0, users, items));
  CHECK(vicinity_graph_edge_ids(open.graph(), "sells", users.data(), items.data(), 5, &tensor) ==
        VICINITY_NOT_FOUND);
  CHECK(vicinity_graph_edge_ids(open.graph(), "user:buys:item", nullptr, items.data(), 5,
                                &tensor) == VICINITY_INVALID_ARGUMENT);
}

TEST_CASE("a graph tells what it has moved", "[c_api]") {
  const OpenGraph open;
  const int64_t node = 0;
  DLManagedTensor* tensor = nullptr;
  RequireOk(vicinity_graph_fetch(open.graph(), "user", "features", &node, 1, &tensor));
  vicinity_tensor_free(tensor);
  char* text = nullptr;
  RequireOk(vicinity_graph_stats(open.graph(), &text));
  CHECK(nlohmann::json::parse(text)["rows_local"] == 1);
  vicinity_string_free(text);
  RequireOk(vicinity_graph_metrics(open.graph(), &text));
  const nlohmann::json metrics = nlohmann::json::parse(text);
  vicinity_string_free(text);
  CHECK(metrics.size() == open.plain().metrics().size());
  RequireOk(vicinity_graph_metrics_text(open.graph(), &text));
  CHECK_THAT(text, Catch::Contains("# TYPE vicinity_client_rpcs_total counter\n"));
  vicinity_string_free(text);
  RequireOk(vicinity_graph_metrics_address(open.graph(), &text));
  CHECK(std::string(text).empty());
  vicinity_string_free(text);
  CHECK(vicinity_graph_metrics_text(nullptr, &text) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_metrics_address(open.graph(), nullptr) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_stats(nullptr, &text) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_metrics(open.graph(), nullptr) == VICINITY_INVALID_ARGUMENT);
}

TEST_CASE("no ids make an empty tensor", "[c_api]") {
  const OpenGraph open;
  DLManagedTensor* tensor = nullptr;
  RequireOk(vicinity_graph_fetch(open.graph(), "user", "features", nullptr, 0, &tensor));
  CHECK(ShapeOf(*TensorPtr(tensor))[0] == 0);
}

TEST_CASE("tensors outlive their graph, and may be shared", "[c_api]") {
  TensorPtr nodes;
  {
    const OpenGraph open;
    DLManagedTensor* tensor = nullptr;
    RequireOk(vicinity_graph_nodes(open.graph(), "item", "", &tensor));
    nodes.reset(tensor);
  }
  const std::vector<int64_t> values = ValuesOf<int64_t>(*nodes);
  DLManagedTensor* other = nullptr;
  RequireOk(vicinity_tensor_share(nodes.get(), &other));
  nodes.reset();
  CHECK(ValuesOf<int64_t>(*TensorPtr(other)) == values);
}

TEST_CASE("wrong calls about graphs are refused with a text", "[c_api]") {
  const OpenGraph open;
  VicinityGraph* graph = nullptr;
  DLManagedTensor* tensor = nullptr;
  char* json = nullptr;
  const int64_t beyond = int64_t{1} << 40;
  const std::vector<int32_t> codes = {
      vicinity_graph_open(nullptr, &graph),
      vicinity_graph_open("{}", nullptr),
      vicinity_graph_open("no json", &graph),
      vicinity_graph_open("{\"directory\": 3}", &graph),
      vicinity_graph_describe(nullptr, &json),
      vicinity_graph_describe(open.graph(), nullptr),
      vicinity_graph_nodes(nullptr, "user", "", &tensor),
      vicinity_graph_nodes(open.graph(), nullptr, "", &tensor),
      vicinity_graph_nodes(open.graph(), "user", nullptr, &tensor),
      vicinity_graph_nodes(open.graph(), "user", "", nullptr),
      vicinity_graph_nodes(open.graph(), "user", "traning", &tensor),
      vicinity_graph_fetch(open.graph(), "user", "features", &beyond, 1, &tensor),
      vicinity_graph_fetch(nullptr, "user", "features", &beyond, 1, &tensor),
      vicinity_tensor_share(nullptr, &tensor),
  };
  for (const int32_t code : codes) CHECK(code == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_nodes(open.graph(), "users", "", &tensor) == VICINITY_NOT_FOUND);
  CHECK_THAT(std::string(vicinity_last_error()), Catch::Contains("user"));
  CHECK(vicinity_graph_fetch(open.graph(), "user", "feature", &beyond, 1, &tensor) ==
        VICINITY_NOT_FOUND);
  CHECK(vicinity_graph_open("{\"directory\": \"/nowhere\"}", &graph) == VICINITY_NOT_FOUND);
  CHECK(graph == nullptr);
  CHECK(tensor == nullptr);
  CHECK(json == nullptr);
  vicinity_graph_close(nullptr);
  vicinity_tensor_free(nullptr);
  vicinity_string_free(nullptr);
}

}  // namespace
}  // namespace vicinity
