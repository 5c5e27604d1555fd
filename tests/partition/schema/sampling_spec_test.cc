#include "partition/schema/sampling_spec.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace vicinity {
namespace {

Schema TwoRelations() {
  Schema schema;
  schema.node_types.resize(1);
  schema.node_types[0].name = "node";
  schema.edge_types = {{0, "a", 0, {}}, {0, "b", 0, {}}};
  return schema;
}

TEST_CASE("the same fanouts along every edge type", "[partition]") {
  const SamplingSpec spec = SamplingSpec::Uniform(TwoRelations(), {15, 10, kAllNeighbors});
  CHECK(spec.num_hops() == 3);
  CHECK(spec.fanouts == std::vector<std::vector<int64_t>>{{15, 15}, {10, 10}, {-1, -1}});
  CHECK(SpecProblem(TwoRelations(), spec).empty());
}

TEST_CASE("a fanout of 0 leaves one edge type out of a hop", "[partition]") {
  SamplingSpec spec;
  spec.fanouts = {{0, 5}, {kMaxFanout, 0}};
  CHECK(SpecProblem(TwoRelations(), spec).empty());
}

TEST_CASE("a spec that cannot be sampled is refused with its value", "[partition]") {
  const auto [fanouts, value] = GENERATE(table<std::vector<std::vector<int64_t>>, std::string>({
      {{}, "no hops"},
      {std::vector<std::vector<int64_t>>(9, {1, 1}), "9"},
      {{{1, 1}, {0, 0}}, "hop 1"},
      {{{5}}, "1 fanouts for 2"},
      {{{5, 5, 5}}, "3 fanouts for 2"},
      {{{5, -2}}, "-2 of node:b:node"},
      {{{(1 << 20) + 1, 5}}, "1048577"},
      {{{INT64_MIN, 5}}, "-9223372036854775808"},
  }));
  SamplingSpec spec;
  spec.fanouts = fanouts;
  CHECK_THAT(SpecProblem(TwoRelations(), spec), Catch::Contains(value));
}

TEST_CASE("an induced subgraph of the seeds alone has no hops, and follows every edge type",
          "[partition]") {
  SamplingSpec spec;
  spec.subgraph = Subgraph::kInduced;
  CHECK(SpecProblem(TwoRelations(), spec).empty());
  CHECK(IsFollowed(spec, 0));
  CHECK(IsFollowed(spec, 1));
  spec.fanouts = {{0, 5}};
  CHECK_FALSE(IsFollowed(spec, 0));
  spec.fanouts.clear();
  Schema schema = TwoRelations();
  schema.edge_types.clear();
  CHECK_FALSE(SpecProblem(schema, spec).empty());
}

TEST_CASE("draws are by weight along the edge types whose weight column has the name",
          "[partition]") {
  Schema schema = TwoRelations();
  schema.edge_types[1].columns = {{"w", DType::kFloat32, {}}};
  schema.edge_types[1].weight_column = "w";
  SamplingSpec spec = SamplingSpec::Uniform(schema, {5});
  CHECK_FALSE(IsWeighted(schema, spec, 1));
  spec.weighted_by = "w";
  CHECK(SpecProblem(schema, spec).empty());
  CHECK_FALSE(IsWeighted(schema, spec, 0));
  CHECK(IsWeighted(schema, spec, 1));
  spec.fanouts = {{5, 0}};  // the only one with weights is not followed
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("w of node:b:node"));
  spec = SamplingSpec::Uniform(schema, {5});
  spec.weighted_by = "other";
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("other"));
}

TEST_CASE("a graph without edge types has nothing to sample", "[partition]") {
  Schema schema = TwoRelations();
  schema.edge_types.clear();
  CHECK_FALSE(SpecProblem(schema, SamplingSpec::Uniform(schema, {5})).empty());
}

TEST_CASE("times are a column of one int64 a row, of disjoint trees", "[partition]") {
  Schema schema = TwoRelations();
  schema.edge_types[1].columns = {{"w", DType::kFloat32, {}}, {"time", DType::kInt64, {}}};
  SamplingSpec spec = SamplingSpec::Uniform(schema, {5});
  CHECK(TimeColumnOf(schema, spec, 1) == -1);
  spec.time_column = "time";
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("disjoint"));
  spec.disjoint = true;
  CHECK(SpecProblem(schema, spec).empty());
  CHECK(TimeColumnOf(schema, spec, 0) == -1);  // without such a column: at any time
  CHECK(TimeColumnOf(schema, spec, 1) == 1);
  spec.temporal_strategy = TemporalStrategy::kLast;
  CHECK(SpecProblem(schema, spec).empty());
  spec.replace = true;
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("without replacement"));
  spec.replace = false;
  spec.fanouts = {{5, 0}};  // the only one with times is not followed
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("time of node:b:node"));
  spec.fanouts = {{5, 5}};
  spec.time_column = "w";
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("w of node:b:node"));
  spec.time_column = "when";
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("when"));
  // A type whose times are of another type is not drawn at any time without a word.
  spec.time_column = "time";
  schema.edge_types[0].columns = {{"time", DType::kFloat64, {}}};
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("time of node:a:node"));
  spec.time_column.clear();
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("time_column"));
}

TEST_CASE("windows and paths are of draws by time", "[partition]") {
  Schema schema = TwoRelations();
  schema.edge_types[1].columns = {{"time", DType::kInt64, {}}};
  SamplingSpec spec = SamplingSpec::Uniform(schema, {5, 5});
  spec.disjoint = true;
  spec.time_window = 0;
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("time_window 0 needs a time_column"));
  spec.time_column = "time";
  CHECK(SpecProblem(schema, spec).empty());
  spec.time_window = std::numeric_limits<int64_t>::max();
  CHECK(SpecProblem(schema, spec).empty());
  spec.time_window = -2;
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("-2"));
  spec.time_window = -1;
  spec.time_follows = TimeFollows::kPath;
  spec.temporal_strategy = TemporalStrategy::kLast;
  CHECK(SpecProblem(schema, spec).empty());
  spec.subgraph = Subgraph::kInduced;
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("induced"));
  spec.subgraph = Subgraph::kDirectional;
  spec.temporal_strategy = TemporalStrategy::kUniform;
  spec.time_column.clear();
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("path needs a time_column"));
}

TEST_CASE("LABOR draws go with all but replacement and the latest edges", "[partition]") {
  Schema schema = TwoRelations();
  schema.edge_types[1].columns = {{"w", DType::kFloat32, {}}, {"time", DType::kInt64, {}}};
  schema.edge_types[1].weight_column = "w";
  SamplingSpec spec = SamplingSpec::Uniform(schema, {5, kAllNeighbors});
  spec.draws = Draws::kLabor;
  CHECK(SpecProblem(schema, spec).empty());
  spec.weighted_by = "w";
  spec.time_column = "time";
  spec.disjoint = true;
  spec.where = "time > 3";
  spec.subgraph = Subgraph::kInduced;
  spec.layer_dependency = true;
  spec.batch_dependency = 64;
  CHECK(SpecProblem(schema, spec).empty());
  spec.batch_dependency = 0;
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("batch_dependency 0"));
  spec.batch_dependency = 64;
  spec.replace = true;
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("without replacement"));
  spec.replace = false;
  spec.weighted_by.clear();
  spec.temporal_strategy = TemporalStrategy::kLast;
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("last"));
  spec = SamplingSpec::Uniform(schema, {5});
  spec.layer_dependency = true;
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("layer_dependency"));
  spec.layer_dependency = false;
  spec.batch_dependency = 2;
  CHECK_THAT(SpecProblem(schema, spec), Catch::Contains("batch_dependency 2"));
}

}  // namespace
}  // namespace vicinity
