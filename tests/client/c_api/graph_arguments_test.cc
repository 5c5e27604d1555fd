#include "client/c_api/graph_arguments.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::c_api {
namespace {

TEST_CASE("types are found by name, others answered with those there are", "[graph_arguments]") {
  const Schema schema = testing::TypedGraph(3, 3, 3, 1).schema;
  CHECK(*FindNodeType(schema, "item") == 1);
  CHECK(*FindEdgeType(schema, "user:buys:item") == 0);
  CHECK(FindNodeType(schema, "items").error().code() == ErrorCode::kNotFound);
  CHECK_THAT(FindNodeType(schema, "items").error().message(), Catch::Contains("user item tag"));
  CHECK_THAT(FindEdgeType(schema, "buys").error().message(), Catch::Contains("user:buys:item"));
}

TEST_CASE("ids are copied, and null with ids is refused", "[graph_arguments]") {
  const std::vector<int64_t> ids = {5, 3};
  CHECK(*CopyIds(ids.data(), 2) == ids);
  CHECK(CopyIds(nullptr, 0)->empty());
  CHECK(CopyIds(nullptr, 1).error().code() == ErrorCode::kInvalidArgument);
  CHECK(CopyIds(ids.data(), -1).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("names end where the list says", "[graph_arguments]") {
  CHECK(*CopyNames("abc", {1, 1, 3}) == std::vector<std::string>{"a", "", "bc"});
  CHECK(CopyNames("abc", {2, 1}).error().code() == ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity::c_api
