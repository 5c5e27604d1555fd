#include "partition/schema/edge_conditions.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/status/status.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("a condition is for the edge types that have all its columns", "[edge_conditions]") {
  Schema schema = testing::TypedGraph(5, 5, 5, 1).schema;
  schema.edge_types[1].columns = {
      {"whole", DType::kInt64, {}}, {"half", DType::kFloat16, {}}, {"wide", DType::kInt64, {2}}};
  schema.edge_types[3].columns = {{"whole", DType::kInt64, {}}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto both, ResolveByEdgeType(schema, "whole > 1"));
  CHECK(both[0] == nullptr);
  CHECK(both[1] != nullptr);
  CHECK(both[3] != nullptr);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto one, ResolveByEdgeType(schema, "whole > 1 or half > 1"));
  CHECK(one[1] != nullptr);
  CHECK(one[3] == nullptr);
  VICINITY_CHECK_CODE(ResolveByEdgeType(schema, "wide > 1"), absl::StatusCode::kInvalidArgument);

  SamplingSpec spec = SamplingSpec::Uniform(schema, {3});
  const auto problem = [&](const std::string& where) {
    spec.where = where;
    return SpecProblem(schema, spec);
  };
  CHECK(problem("whole > 1") == "");
  CHECK_THAT(problem("whole >"), Catch::Contains("where: condition `whole >`: expected a number"));
  CHECK_THAT(problem("whole > 1 and year > 1"),
             Catch::Contains("where: no edge type that is followed has all the columns of") &&
                 Catch::Contains("half of"));
  CHECK_THAT(problem("wide > 1"), Catch::Contains("column wide has 2 values"));
  spec.fanouts[0] = {3, 0, 3, 0, 3};
  CHECK_THAT(problem("whole > 1"), Catch::Contains("no edge type that is followed"));
}

}  // namespace
}  // namespace vicinity
