#include "client/train/feature_columns.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/client/train/random_batch.h"

namespace vicinity {

using testing::TwoTypeSchema;

TEST_CASE("the only column that is neither label nor split is the features", "[feature_columns]") {
  const Result<std::vector<int>> chosen = ChooseFeatureColumns(TwoTypeSchema(), "");
  REQUIRE(chosen.ok());
  CHECK(chosen.value() == std::vector<int>{0, 0});
}

TEST_CASE("a target is no feature: a model must not see what it is to learn", "[feature_columns]") {
  Schema schema = TwoTypeSchema();
  schema.node_types[0].columns.push_back({"price", DType::kFloat32, {}});
  schema.node_types[0].target_column = "price";
  const Result<std::vector<int>> chosen = ChooseFeatureColumns(schema, "");
  REQUIRE(chosen.ok());
  CHECK(chosen.value() == std::vector<int>{0, 0});
}

TEST_CASE("a named column is taken where it exists", "[feature_columns]") {
  Schema schema = TwoTypeSchema();
  schema.node_types[0].columns.push_back({"wide", DType::kFloat16, {9}});
  const Result<std::vector<int>> chosen = ChooseFeatureColumns(schema, "wide");
  REQUIRE(chosen.ok());
  CHECK(chosen.value() == std::vector<int>{3, -1});
}

TEST_CASE("a type without features is left out", "[feature_columns]") {
  Schema schema = TwoTypeSchema();
  schema.node_types[1].columns.clear();
  const Result<std::vector<int>> chosen = ChooseFeatureColumns(schema, "");
  REQUIRE(chosen.ok());
  CHECK(chosen.value() == std::vector<int>{0, -1});
}

TEST_CASE("a graph without features is an error that lists its columns", "[feature_columns]") {
  Schema schema = TwoTypeSchema();
  schema.node_types[0].columns.erase(schema.node_types[0].columns.begin());
  schema.node_types[1].columns.clear();
  const Result<std::vector<int>> chosen = ChooseFeatureColumns(schema, "");
  REQUIRE(chosen.error().code() == ErrorCode::kNotFound);
  CHECK(chosen.error().message().find("item (label, split), tag (none)") != std::string::npos);
  CHECK(ChooseFeatureColumns(TwoTypeSchema(), "fest").error().code() == ErrorCode::kNotFound);
}

TEST_CASE("several candidates must be chosen from", "[feature_columns]") {
  Schema schema = TwoTypeSchema();
  schema.node_types[1].columns.push_back({"other", DType::kFloat32, {2}});
  CHECK(ChooseFeatureColumns(schema, "").error().code() == ErrorCode::kInvalidArgument);
  CHECK(ChooseFeatureColumns(schema, "feat").ok());
}

TEST_CASE("seeds are of the type that has labels and a split", "[feature_columns]") {
  Schema schema = TwoTypeSchema();
  CHECK(ChooseSeedType(schema, "").value() == 0);
  CHECK(ChooseSeedType(schema, "item").value() == 0);
  CHECK(ChooseSeedType(schema, "tag").error().code() == ErrorCode::kNotFound);
  CHECK(ChooseSeedType(schema, "tad").error().code() == ErrorCode::kNotFound);
  schema.node_types[1].label_column = schema.node_types[1].split_column = "feat";
  CHECK(ChooseSeedType(schema, "").error().code() == ErrorCode::kInvalidArgument);
  CHECK(ChooseSeedType(schema, "tag").value() == 1);
  for (NodeTypeSpec& type : schema.node_types) type.label_column.clear();
  CHECK(ChooseSeedType(schema, "").error().code() == ErrorCode::kNotFound);
}

}  // namespace vicinity
