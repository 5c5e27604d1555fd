#include "client/query/seed_input.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "client/query/query.h"
#include "client/query/query_steps.h"
#include "client/query/query_text.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

std::vector<ResolvedStep> StepsOf(const std::string& text) {
  const testing::MemoryGraph graph = testing::TypedGraph(10, 10, 5, 1);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Query query, ParseQuery(text));
  VICINITY_ASSERT_OK_AND_ASSIGN(std::vector<ResolvedStep> steps, ResolveQuery(graph.schema, query));
  return steps;
}

absl::StatusOr<SeedInput> InputOf(const std::string& text) { return FindSeedInput(StepsOf(text)); }

TEST_CASE("seeds go to the one input, wherever and however often it stands", "[query]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const SeedInput input,
      InputOf("all = nodes(user)\nsrc = nodes(item, $start)\nagain = nodes(item, $start)\n"));
  CHECK(input.name == "start");
  CHECK(input.node_type.value == 1);
}

TEST_CASE("a query without an input, with two, or with one of two types takes no seeds",
          "[query]") {
  for (const char* const text :
       {"all = nodes(user)\n", "a = nodes(user, $seeds)\nb = nodes(user, $others)\n",
        "a = nodes(user, $seeds)\nb = nodes(item, $seeds)\n"}) {
    CAPTURE(text);
    VICINITY_CHECK_CODE(InputOf(text).status(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("inputs are told in the order in which they first stand in the query", "[query]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const std::vector<SeedInput> inputs,
      FindInputs(StepsOf("a = nodes(user, $z)\nb = nodes(item, $b)\nc = nodes(user, $z)\n")));
  REQUIRE(inputs.size() == 2);
  CHECK(inputs[0].name == "z");
  CHECK(inputs[0].node_type.value == 0);
  CHECK(inputs[1].name == "b");
  CHECK(inputs[1].node_type.value == 1);
}

}  // namespace
}  // namespace vicinity
