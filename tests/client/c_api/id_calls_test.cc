// The calls of client/c_api/vicinity.h that concern ids.
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
using testing::TensorPtr;
using testing::ValuesOf;

constexpr int32_t kItem = 1;  // its ids are names

TEST_CASE("integer ids become global ids and back", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> expected = *open.plain().NodesOf(0, Split::kTrain);
  DLManagedTensor* tensor = nullptr;
  RequireOk(vicinity_graph_user_ids(open.graph(), "user", expected.data(),
                                    static_cast<int64_t>(expected.size()), &tensor));
  const std::vector<int64_t> user_ids = ValuesOf<int64_t>(*TensorPtr(tensor));
  CHECK(user_ids == *open.plain().UserIds(0, expected));
  RequireOk(vicinity_graph_resolve(open.graph(), "user", user_ids.data(),
                                   static_cast<int64_t>(user_ids.size()), &tensor));
  CHECK(ValuesOf<int64_t>(*TensorPtr(tensor)) == expected);
}

TEST_CASE("names become global ids and back, one that is none -1", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> nodes = {4, 0, 79};
  DLManagedTensor* text = nullptr;
  DLManagedTensor* tensor = nullptr;
  RequireOk(vicinity_graph_user_names(open.graph(), "item", nodes.data(), 3, &text, &tensor));
  const std::vector<char> letters = ValuesOf<char>(*TensorPtr(text));
  std::vector<int64_t> ends = ValuesOf<int64_t>(*TensorPtr(tensor));
  std::string joined;
  const std::vector<std::string> names = *open.plain().UserNames(kItem, nodes);
  for (const std::string& name : names) joined += name;
  CHECK(std::string(letters.begin(), letters.end()) == joined);
  CHECK(ends.back() == static_cast<int64_t>(joined.size()));

  joined += "nobody";
  ends.push_back(static_cast<int64_t>(joined.size()));
  RequireOk(
      vicinity_graph_resolve_names(open.graph(), "item", joined.data(), ends.data(), 4, &tensor));
  CHECK(ValuesOf<int64_t>(*TensorPtr(tensor)) == std::vector<int64_t>{4, 0, 79, -1});
}

TEST_CASE("wrong calls about ids are refused with a text", "[c_api]") {
  const OpenGraph open;
  DLManagedTensor* tensor = nullptr;
  DLManagedTensor* text = nullptr;
  const int64_t one = 1;
  const int64_t falling[] = {3, 1};
  const int64_t negative = -1;
  const std::vector<int32_t> codes = {
      vicinity_graph_resolve(open.graph(), "user", nullptr, 3, &tensor),
      vicinity_graph_resolve(open.graph(), "user", &one, -1, &tensor),
      vicinity_graph_resolve(nullptr, "user", &one, 1, &tensor),
      vicinity_graph_resolve(open.graph(), "item", &one, 1, &tensor),
      vicinity_graph_user_ids(open.graph(), "item", &one, 1, &tensor),
      vicinity_graph_user_ids(open.graph(), "user", &one, 1, nullptr),
      vicinity_graph_user_names(open.graph(), "user", &one, 1, &text, &tensor),
      vicinity_graph_user_names(open.graph(), "item", &one, 1, nullptr, &tensor),
      vicinity_graph_resolve_names(open.graph(), "user", "a", &one, 1, &tensor),
      vicinity_graph_resolve_names(open.graph(), "item", nullptr, &one, 1, &tensor),
      vicinity_graph_resolve_names(open.graph(), "item", "abc", falling, 2, &tensor),
      vicinity_graph_resolve_names(open.graph(), "item", "abc", &negative, 1, &tensor),
  };
  for (const int32_t code : codes) CHECK(code == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_resolve(open.graph(), "items", &one, 1, &tensor) == VICINITY_NOT_FOUND);
  CHECK(tensor == nullptr);
  CHECK(text == nullptr);
}

}  // namespace
}  // namespace vicinity
