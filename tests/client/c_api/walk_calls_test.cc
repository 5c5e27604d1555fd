// The calls of client/c_api/vicinity.h that concern walks.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client/c_api/vicinity.h"
#include "client/graph.h"
#include "tests/client/c_api/open_graph.h"

namespace vicinity {
namespace {

using testing::OpenGraph;
using testing::RequireOk;
using testing::ShapeOf;
using testing::TensorPtr;
using testing::ValuesOf;

TEST_CASE("walks are those of the C++ interface", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> starts = {4, 0, 4, 7};
  WalkSpec spec;
  spec.metapath = {1, 0};  // user, the item that it bought, who bought that
  spec.length = 3;
  spec.weighted_by = "weight";
  spec.restart_prob = 0.125;
  const Walks expected = *open.plain().Walk(starts, spec, {3, 1, 5}, true);
  DLManagedTensor* nodes = nullptr;
  DLManagedTensor* edge_ids = nullptr;
  const char* const options =
      R"({"weighted_by": "weight", "restart_prob": 0.125, "run_seed": 3, "epoch": 1, "step": 5})";
  RequireOk(vicinity_graph_walk(open.graph(), "item:bought_by:user,user:buys:item", starts.data(),
                                4, 3, options, &nodes, &edge_ids));
  const TensorPtr both[] = {TensorPtr(nodes), TensorPtr(edge_ids)};
  CHECK(ShapeOf(*nodes) == std::vector<int64_t>{4, 4});
  CHECK(ValuesOf<int64_t>(*nodes) == expected.nodes);
  CHECK(ShapeOf(*edge_ids) == std::vector<int64_t>{4, 3});
  CHECK(ValuesOf<int64_t>(*edge_ids) == expected.edge_ids);

  DLManagedTensor* alone = nullptr;
  RequireOk(vicinity_graph_walk(open.graph(), "item:bought_by:user,user:buys:item", starts.data(),
                                4, 3, options, &alone, nullptr));
  CHECK(ValuesOf<int64_t>(*TensorPtr(alone)) == expected.nodes);
}

TEST_CASE("the most visited nodes are those of the C++ interface", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> starts = {4, 0, 7};
  VisitSpec spec;
  spec.walk.metapath = {1, 0};
  spec.walk.length = 4;
  spec.walk.restart_prob = 0.125;
  spec.num_walks = 20;
  spec.top = 3;
  spec.exclude_start = true;
  const TopVisited expected = *open.plain().MostVisited(starts, spec, {3, 1, 5});
  spec.node_type = 1;
  const TopVisited items = *open.plain().MostVisited(starts, spec, {3, 1, 5});
  REQUIRE(items.nodes != expected.nodes);
  DLManagedTensor* nodes = nullptr;
  DLManagedTensor* counts = nullptr;
  const auto ask = [&](const std::string& type) {
    const std::string options = R"({"restart_prob": 0.125, "run_seed": 3, "epoch": 1, "step": 5,
                                    "exclude_start": true, "node_type": ")" +
                                type + "\"}";
    return vicinity_graph_top_visited(open.graph(), "item:bought_by:user,user:buys:item",
                                      starts.data(), 3, 4, 20, 3, options.c_str(), &nodes, &counts);
  };
  for (const auto& [type, visited] : {std::pair{"", expected}, std::pair{"item", items}}) {
    RequireOk(ask(type));
    const TensorPtr both[] = {TensorPtr(nodes), TensorPtr(counts)};
    CHECK(ShapeOf(*nodes) == std::vector<int64_t>{3, 3});
    CHECK(ValuesOf<int64_t>(*nodes) == visited.nodes);
    CHECK(ShapeOf(*counts) == std::vector<int64_t>{3, 3});
    CHECK(ValuesOf<int64_t>(*counts) == visited.counts);
  }
  CHECK(ask("shop") == VICINITY_NOT_FOUND);
  CHECK(ask("tag") == VICINITY_INVALID_ARGUMENT);
  CHECK_THAT(std::string(vicinity_last_error()),
             Catch::Contains("never come to nodes of type tag"));
}

TEST_CASE("wrong walks are refused with a text", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> starts = {4, 0};
  DLManagedTensor* nodes = nullptr;
  const auto code = [&](const char* metapath, int64_t length, const char* options) {
    return vicinity_graph_walk(open.graph(), metapath, starts.data(), 2, length, options, &nodes,
                               nullptr);
  };
  CHECK(code("", 3, "{}") == VICINITY_INVALID_ARGUMENT);
  CHECK_THAT(std::string(vicinity_last_error()), Catch::Contains("edge types: name those"));
  CHECK(code("user:buys", 3, "{}") == VICINITY_NOT_FOUND);
  CHECK(code("user:buys:item", 3, "{}") == VICINITY_INVALID_ARGUMENT);
  CHECK_THAT(std::string(vicinity_last_error()), Catch::Contains("begins at item"));
  CHECK(code("user:knows:user", -1, "{}") == VICINITY_INVALID_ARGUMENT);
  CHECK(code("user:knows:user", 3, R"({"fanouts": [4]})") == VICINITY_INVALID_ARGUMENT);
  CHECK(code("user:knows:user", 3, R"({"q": 0})") == VICINITY_INVALID_ARGUMENT);
  CHECK(code(nullptr, 3, "{}") == VICINITY_INVALID_ARGUMENT);
  CHECK(nodes == nullptr);
}

}  // namespace
}  // namespace vicinity
