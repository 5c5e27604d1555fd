#include "partition/schema/schema.h"

#include <catch2/catch.hpp>

namespace vicinity {
namespace {

Schema TwoTypes() {
  Schema schema;
  schema.node_types = {{"user", IdKind::kInt64, 0, {}, "", 0, ""},
                       {"item", IdKind::kString, 0, {}, "", 0, ""}};
  schema.edge_types = {{0, "buys", 1, {}},
                       {0, "knows", 0, {}},
                       {1, "likes", 0, {}},
                       {0, "likes", 1, {}},
                       {0, "likes", 0, {}}};
  return schema;
}

TEST_CASE("a row has the bytes that its shape and type make", "[partition]") {
  CHECK(ColumnSpec{"a", DType::kFloat32, {}}.row_bytes() == 4);
  CHECK(ColumnSpec{"a", DType::kFloat16, {128}}.row_bytes() == 256);
  CHECK(ColumnSpec{"a", DType::kInt64, {2, 3}}.row_bytes() == 48);
  CHECK(ColumnSpec{"a", DType::kBool, {5, 0}}.row_bytes() == 0);
  CHECK(ColumnSpec{"a", DType::kInt8, {7}}.num_values() == 7);
}

TEST_CASE("every dtype has a size and a name", "[partition]") {
  const int64_t bytes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8};
  const char* names[] = {"bool",  "int8",    "uint8",    "int16",   "int32",
                         "int64", "float16", "bfloat16", "float32", "float64"};
  for (int i = 0; i < 10; ++i) {
    CHECK(DTypeBytes(static_cast<DType>(i + 1)) == bytes[i]);
    CHECK(DTypeName(static_cast<DType>(i + 1)) == names[i]);
  }
}

TEST_CASE("types and columns are found by name", "[partition]") {
  Schema schema = TwoTypes();
  schema.node_types[1].columns = {{"x", DType::kInt8, {}}, {"y", DType::kInt8, {}}};
  CHECK(schema.FindNodeType("item") == 1);
  CHECK(schema.FindNodeType("tag") == -1);
  CHECK(schema.node_types[1].FindColumn("y") == 1);
  CHECK(schema.node_types[1].FindColumn("z") == -1);
}

TEST_CASE("columns with a role are told from those that may be features", "[partition]") {
  NodeTypeSpec type;
  for (const char* const name : {"x", "y", "s", "t"})
    type.columns.push_back({name, DType::kInt8, {}});
  CHECK_FALSE(type.HasRole("y"));
  type.label_column = "y";
  type.split_column = "s";
  type.target_column = "t";
  CHECK_FALSE(type.HasRole("x"));
  for (const char* const name : {"y", "s", "t"}) CHECK(type.HasRole(name));
}

TEST_CASE("an edge type is found by its full name, and by its relation where only one has it",
          "[partition]") {
  const Schema schema = TwoTypes();
  for (int e = 0; e < 5; ++e) CHECK(schema.FindEdgeType(schema.EdgeTypeName(e)) == e);
  CHECK(schema.EdgeTypeName(0) == "user:buys:item");
  CHECK(schema.FindEdgeType("buys") == 0);
  CHECK(schema.FindEdgeType("knows") == 1);
  CHECK(schema.FindEdgeType("likes") == -1);
  CHECK(schema.FindEdgeType("hates") == -1);
  CHECK(schema.FindEdgeType("item:buys:user") == -1);
}

}  // namespace
}  // namespace vicinity
