#include "partition/dataset/schema_proto.h"

#include <google/protobuf/text_format.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

proto::Schema FromText(const std::string& text) {
  proto::Schema schema;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &schema));
  return schema;
}

TEST_CASE("a schema survives its protobuf form", "[partition]") {
  const Schema schema = testing::TypedGraph(1, 1, 1, 1).schema;
  const proto::Schema stored = SchemaToProto(schema);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Schema back, SchemaFromProto(stored));
  CHECK(SchemaToProto(back).DebugString() == stored.DebugString());
  CHECK(back.node_types[1].columns[0].shape == std::vector<int64_t>{2, 3});
  CHECK(back.edge_types[0].target_type == 1);
}

TEST_CASE("a target is any column, and survives its protobuf form", "[partition]") {
  const proto::Schema stored = FromText(
      "node_types { name: 'a' id_kind: DENSE columns { name: 't' dtype: FLOAT32 shape: 3 }"
      " target_column: 't' }");
  VICINITY_ASSERT_OK_AND_ASSIGN(const Schema schema, SchemaFromProto(stored));
  CHECK(schema.node_types[0].target_column == "t");
  CHECK(SchemaToProto(schema).DebugString() == stored.DebugString());
}

TEST_CASE("a copy of a column of the source nodes survives its protobuf form", "[partition]") {
  const proto::Schema stored = FromText(
      "node_types { name: 'a' id_kind: DENSE columns { name: 't' dtype: INT64 shape: 2 } }"
      " node_types { name: 'b' id_kind: DENSE }"
      " edge_types { source: 'a' relation: 'r' target: 'b'"
      " columns { name: 'of_a' dtype: INT64 shape: 2 of_source: 't' } }");
  VICINITY_ASSERT_OK_AND_ASSIGN(const Schema schema, SchemaFromProto(stored));
  CHECK(schema.edge_types[0].columns[0].of_source == "t");
  CHECK(SchemaToProto(schema).DebugString() == stored.DebugString());
}

TEST_CASE("a schema that makes no sense is refused, and the text names the culprit",
          "[partition]") {
  const auto [text, culprit] = GENERATE(table<std::string, std::string>({
      {"", "node types"},
      {"node_types { name: '' id_kind: DENSE }", "\"\""},
      {"node_types { name: 'a.b' id_kind: DENSE }", "a.b"},
      {"node_types { name: 'a/b' id_kind: DENSE }", "a/b"},
      {"node_types { name: 'a' }", "id_kind"},
      {"node_types { name: 'a' id_kind: DENSE } node_types { name: 'a' id_kind: DENSE }",
       "named a"},
      {"node_types { name: 'a' id_kind: DENSE columns { name: 'x' } }", "column x"},
      {"node_types { name: 'a' id_kind: DENSE columns { name: 'x:' dtype: INT8 } }", "x:"},
      {"node_types { name: 'a' id_kind: DENSE columns { name: 'x' dtype: INT8 }"
       " columns { name: 'x' dtype: INT8 } }",
       "named x"},
      {"node_types { name: 'a' id_kind: DENSE columns { name: 'x' dtype: INT8 shape: -1 } }",
       "column x"},
      {"node_types { name: 'a' id_kind: DENSE columns { name: 'x' dtype: INT8"
       " shape: 4294967296 shape: 4294967296 } }",
       "column x"},
      {"node_types { name: 'a' id_kind: DENSE columns { name: 'x' dtype: INT8"
       " shape: 0 shape: 9000000000000000000 shape: 9000000000000000000 } }",
       "column x"},
      {"node_types { name: 'a' id_kind: DENSE label_column: 'y' }", "label_column y"},
      {"node_types { name: 'a' id_kind: DENSE columns { name: 'y' dtype: FLOAT32 }"
       " label_column: 'y' }",
       "label_column y"},
      {"node_types { name: 'a' id_kind: DENSE num_classes: -3 }", "-3"},
      {"node_types { name: 'a' id_kind: DENSE split_column: 's' }", "split_column s"},
      {"node_types { name: 'a' id_kind: DENSE target_column: 't' }", "target_column t"},
      {"node_types { name: 'a' id_kind: DENSE columns { name: 's' dtype: INT8 }"
       " split_column: 's' }",
       "split_column s"},
      {"node_types { name: 'a' id_kind: DENSE columns { name: 's' dtype: UINT8 shape: 2 }"
       " split_column: 's' }",
       "split_column s"},
      {"node_types { name: 'a' id_kind: DENSE }"
       " edge_types { source: 'b' relation: 'r' target: 'a' }",
       "b:r:a"},
      {"node_types { name: 'a' id_kind: DENSE }"
       " edge_types { source: 'a' relation: 'r' target: 'c' }",
       "named c"},
      {"node_types { name: 'a' id_kind: DENSE }"
       " edge_types { source: 'a' relation: '' target: 'a' }",
       "a::a"},
      {"node_types { name: 'a' id_kind: DENSE }"
       " edge_types { source: 'a' relation: 'r' target: 'a' }"
       " edge_types { source: 'a' relation: 'r' target: 'a' }",
       "a:r:a"},
      {"node_types { name: 'a' id_kind: DENSE }"
       " edge_types { source: 'a' relation: 'r' target: 'a' weight_column: 'w' }",
       "weight_column w: no such column"},
      {"node_types { name: 'a' id_kind: DENSE }"
       " edge_types { source: 'a' relation: 'r' target: 'a' weight_column: 'w'"
       " columns { name: 'w' dtype: INT32 } }",
       "weight_column w: not one float32"},
      {"node_types { name: 'a' id_kind: DENSE }"
       " edge_types { source: 'a' relation: 'r' target: 'a' weight_column: 'w'"
       " columns { name: 'w' dtype: FLOAT32 shape: 2 } }",
       "weight_column w: not one float32"},
      {"node_types { name: 'a' id_kind: DENSE columns { name: 'x' dtype: INT8 of_source: 'y' } }",
       "column x: of_source y: only edges have sources"},
      {"node_types { name: 'a' id_kind: DENSE ragged_columns { name: 'x.y' dtype: INT8 } }",
       "name \"x.y\""},
      {"node_types { name: 'a' id_kind: DENSE ragged_columns { name: 'x' } }",
       "ragged column x: unknown dtype 0"},
      {"node_types { name: 'a' id_kind: DENSE columns { name: 'x' dtype: INT8 }"
       " ragged_columns { name: 'x' dtype: INT8 } }",
       "two columns named x"},
      {"node_types { name: 'a' id_kind: DENSE ragged_columns { name: 'x' dtype: INT8 }"
       " ragged_columns { name: 'x' dtype: INT8 } }",
       "two columns named x"},
      {"node_types { name: 'a' id_kind: DENSE"
       " ragged_columns { name: 'x' dtype: INT8 num_columns: -1 } }",
       "ragged column x: -1 columns"},
      {"node_types { name: 'a' id_kind: DENSE"
       " ragged_columns { name: 'x' dtype: INT8 num_columns: 2147483648 } }",
       "ragged column x: 2147483648 columns"},
      // The target's column is not the source's.
      {"node_types { name: 'a' id_kind: DENSE }"
       " node_types { name: 'b' id_kind: DENSE columns { name: 't' dtype: INT8 } }"
       " edge_types { source: 'a' relation: 'r' target: 'b'"
       " columns { name: 'x' dtype: INT8 of_source: 't' } }",
       "column x: of_source t: node type a has no such column"},
      {"node_types { name: 'a' id_kind: DENSE columns { name: 't' dtype: INT8 } }"
       " edge_types { source: 'a' relation: 'r' target: 'a'"
       " columns { name: 'x' dtype: INT16 of_source: 't' } }",
       "column x: of_source t: that of node type a is int8[], and the copy is int16[]"},
      {"node_types { name: 'a' id_kind: DENSE columns { name: 't' dtype: INT8 shape: 2 } }"
       " edge_types { source: 'a' relation: 'r' target: 'a'"
       " columns { name: 'x' dtype: INT8 shape: 2 shape: 1 of_source: 't' } }",
       "int8[2], and the copy is int8[2,1]"},
  }));
  const absl::Status status = SchemaFromProto(FromText(text)).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()), Catch::Contains(culprit));
}

TEST_CASE("numbers that no enumerator has are refused", "[partition]") {
  proto::Schema schema = FromText("node_types { name: 'a' id_kind: DENSE }");
  schema.mutable_node_types(0)->set_id_kind(static_cast<proto::IdKind>(9));
  VICINITY_CHECK_CODE(SchemaFromProto(schema), absl::StatusCode::kInvalidArgument);
  schema = FromText("node_types { name: 'a' id_kind: DENSE columns { name: 'x' dtype: INT8 } }");
  schema.mutable_node_types(0)->mutable_columns(0)->set_dtype(static_cast<proto::DType>(99));
  VICINITY_CHECK_CODE(SchemaFromProto(schema), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("more types, columns or dimensions than the limits are refused", "[partition]") {
  proto::Schema many_types;
  for (size_t i = 0; i <= kMaxTypes; ++i) {
    many_types.add_node_types()->set_name(std::to_string(i));
    many_types.mutable_node_types(static_cast<int>(i))->set_id_kind(proto::DENSE);
  }
  VICINITY_CHECK_CODE(SchemaFromProto(many_types), absl::StatusCode::kInvalidArgument);
  many_types.mutable_node_types()->RemoveLast();
  VICINITY_CHECK_OK(SchemaFromProto(many_types));

  proto::Schema many_columns = FromText("node_types { name: 'a' id_kind: DENSE }");
  for (size_t i = 0; i <= kMaxColumns; ++i) {
    proto::Column* column = many_columns.mutable_node_types(0)->add_columns();
    column->set_name(std::to_string(i));
    column->set_dtype(proto::INT8);
  }
  VICINITY_CHECK_CODE(SchemaFromProto(many_columns), absl::StatusCode::kInvalidArgument);
  many_columns.mutable_node_types(0)->mutable_columns()->RemoveLast();
  VICINITY_CHECK_OK(SchemaFromProto(many_columns));
  VICINITY_CHECK_OK(CheckShape(DType::kInt8, std::vector<int64_t>(kMaxDimensions, 1)));
  VICINITY_CHECK_CODE(CheckShape(DType::kInt8, std::vector<int64_t>(kMaxDimensions + 1, 1)),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("the largest row is allowed and one byte more is not", "[partition]") {
  VICINITY_CHECK_OK(CheckShape(DType::kFloat64, {kMaxRowBytes / 8}));
  VICINITY_CHECK_OK(CheckShape(DType::kInt8, {kMaxRowBytes / 4, 4}));
  VICINITY_CHECK_OK(CheckShape(DType::kFloat64, {}));
  VICINITY_CHECK_OK(CheckShape(DType::kFloat64, {0}));
  VICINITY_CHECK_CODE(CheckShape(DType::kInt8, {kMaxRowBytes + 1}),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(CheckShape(DType::kInt16, {kMaxRowBytes / 4, 4}),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("names are 1 to 64 letters, digits, underscores and dashes", "[partition]") {
  for (const char* good : {"a", "A-b_9", "0"}) VICINITY_CHECK_OK(CheckName(good));
  VICINITY_CHECK_OK(CheckName(std::string(64, 'x')));
  for (const char* bad : {"", ".", "..", "a b", "a.b", "a:b", "a/b", "\xc3\xa9", "a\n"}) {
    VICINITY_CHECK_CODE(CheckName(bad), absl::StatusCode::kInvalidArgument);
  }
  VICINITY_CHECK_CODE(CheckName(std::string(65, 'x')), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(CheckName(std::string(1, '\0')), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
