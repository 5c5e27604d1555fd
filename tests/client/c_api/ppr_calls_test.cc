// The call of client/c_api/vicinity.h that concerns personalised PageRank.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
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

TEST_CASE("scores are those of the C++ interface", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> seeds = {4, 0, 4, 7};
  PprSpec spec;
  spec.edge_types = {1, 0, 3};
  spec.alpha = 0.25;
  spec.eps = 1e-3;
  spec.top = 6;
  spec.node_type = 1;
  spec.max_neighbors = 2;
  spec.weighted_by = "weight";
  const PprScores expected = *open.plain().PersonalizedPageRank(0, seeds, spec, {3, 1, 5});
  REQUIRE((*open.plain().PersonalizedPageRank(0, seeds, spec, {4, 1, 5})).nodes != expected.nodes);
  const char* const types = "item:bought_by:user,user:buys:item,user:knows:user";
  const char* const options = R"({"alpha": 0.25, "eps": 0.001, "node_type": "item",
                                  "max_neighbors": 2, "weighted_by": "weight", "run_seed": 3, "epoch": 1, "step": 5})";
  DLManagedTensor* nodes = nullptr;
  DLManagedTensor* scores = nullptr;
  DLManagedTensor* residuals = nullptr;
  RequireOk(vicinity_graph_ppr(open.graph(), "user", seeds.data(), 4, 6, types, options, &nodes,
                               &scores, &residuals));
  const TensorPtr all[] = {TensorPtr(nodes), TensorPtr(scores), TensorPtr(residuals)};
  CHECK(ShapeOf(*nodes) == std::vector<int64_t>{4, 6});
  CHECK(ValuesOf<int64_t>(*nodes) == expected.nodes);
  CHECK(ShapeOf(*scores) == std::vector<int64_t>{4, 6});
  CHECK(ValuesOf<double>(*scores) == expected.scores);
  CHECK(ShapeOf(*residuals) == std::vector<int64_t>{4});
  CHECK(ValuesOf<double>(*residuals) == expected.residuals);
}

TEST_CASE("without edge types all are followed, and residuals need not be taken", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> seeds = {4, 0};
  PprSpec spec;
  spec.top = 5;
  const PprScores expected = *open.plain().PersonalizedPageRank(0, seeds, spec);
  DLManagedTensor* nodes = nullptr;
  DLManagedTensor* scores = nullptr;
  RequireOk(vicinity_graph_ppr(open.graph(), "user", seeds.data(), 2, 5, "", "{}", &nodes, &scores,
                               nullptr));
  const TensorPtr both[] = {TensorPtr(nodes), TensorPtr(scores)};
  CHECK(ValuesOf<int64_t>(*nodes) == expected.nodes);
  CHECK(ValuesOf<double>(*scores) == expected.scores);
}

TEST_CASE("wrong asks for scores are refused with a text", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> seeds = {4, 0};
  DLManagedTensor* nodes = nullptr;
  DLManagedTensor* scores = nullptr;
  const auto code = [&](const char* type, int64_t top, const char* edge_types,
                        const char* options) {
    return vicinity_graph_ppr(open.graph(), type, seeds.data(), 2, top, edge_types, options, &nodes,
                              &scores, nullptr);
  };
  CHECK(code("shop", 3, "", "{}") == VICINITY_NOT_FOUND);
  CHECK(code("user", 3, "sells", "{}") == VICINITY_NOT_FOUND);
  CHECK(code("user", 3, "", R"({"node_type": "shop"})") == VICINITY_NOT_FOUND);
  CHECK(code("user", 0, "", "{}") == VICINITY_INVALID_ARGUMENT);
  CHECK(code("user", 3, "user:buys:item", "{}") == VICINITY_INVALID_ARGUMENT);
  CHECK_THAT(std::string(vicinity_last_error()), Catch::Contains("leads to seeds"));
  CHECK(code("user", 3, "", R"({"alpha": 1})") == VICINITY_INVALID_ARGUMENT);
  CHECK(code("user", 3, "", R"({"p": 1})") == VICINITY_INVALID_ARGUMENT);
  CHECK(code("user", 3, nullptr, "{}") == VICINITY_INVALID_ARGUMENT);
  CHECK(nodes == nullptr);
}

}  // namespace
}  // namespace vicinity
