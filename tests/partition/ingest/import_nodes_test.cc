// Node types, imported whole: ids, columns, labels, splits, and what is refused.
#include "partition/ingest/import_nodes.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/ingest/ingest_report.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/importing.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::Bytes;
using testing::ImportFolder;
using testing::NpyBytes;
using testing::Values;

const NodeTable& Nodes(const Dataset& dataset) { return dataset.shard({0})->nodes({0}); }

std::string AllRows(const ColumnView& column) {
  return std::string(column.data, static_cast<size_t>(column.num_rows * column.row_bytes));
}

TEST_CASE("a type with ids, columns of several types, labels and splits", "[import]") {
  const ImportFolder folder;
  folder.Write("papers.tsv", "n7\t2\nn3\t0\nn\"5\t-1\n");
  folder.Write("x.npy", NpyBytes("<f8", "(3, 2)", Bytes<double>({1, 2, 3, 4, 5, 6})));
  folder.Write("year.csv", "year\n1999\n2005\n2020\n");
  folder.Write("train.txt", "n3\n");
  folder.Write("test.npy", NpyBytes("|b1", "(3,)", std::string("\1\0\0", 3)));
  VICINITY_ASSERT_OK_AND_ASSIGN(const IngestReport report, folder.Import(R"(
      name: "papers"
      nodes {
        name: "paper"
        ids { path: "papers.tsv" columns: 0 }
        columns { name: "x" array { path: "x.npy" } cast: FLOAT16 }
        columns { name: "year" array { path: "year.csv" header: true } cast: INT16 }
        label { array { path: "papers.tsv" columns: 1 } }
        train { ids { path: "train.txt" } }
        test { mask { path: "test.npy" } }
      })"));
  REQUIRE(report.nodes.size() == 1);
  CHECK(report.nodes[0].name == "paper");
  CHECK(report.nodes[0].count == 3);
  CHECK(report.nodes[0].isolated == 3);
  CHECK(report.nodes[0].num_classes == 3);
  CHECK(report.nodes[0].labelled == 2);
  CHECK(report.nodes[0].train == 1);
  CHECK(report.nodes[0].validation == 0);
  CHECK(report.nodes[0].test == 1);
  CHECK(report.edges.empty());

  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open());
  const NodeTypeSpec& type = dataset->schema().node_types[0];
  CHECK(type.id_kind == IdKind::kString);
  REQUIRE(type.columns.size() == 4);
  CHECK(type.columns[0].dtype == DType::kFloat16);
  CHECK(type.columns[1].dtype == DType::kInt16);
  CHECK(type.columns[2].dtype == DType::kInt32);
  CHECK(type.label_column == "label");
  CHECK(type.split_column == "split");
  CHECK(type.num_classes == 3);
  const NodeTable& nodes = Nodes(*dataset);
  CHECK(nodes.names.row(0) == "n7");
  CHECK(nodes.names.row(2) == "n\"5");
  CHECK(Values<uint16_t>(AllRows(nodes.columns[0])) ==
        std::vector<uint16_t>{0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600});
  CHECK(Values<int16_t>(AllRows(nodes.columns[1])) == std::vector<int16_t>{1999, 2005, 2020});
  CHECK(Values<int32_t>(AllRows(nodes.columns[2])) == std::vector<int32_t>{2, 0, -1});
  CHECK(Values<uint8_t>(AllRows(nodes.columns[3])) == std::vector<uint8_t>{3, 1, 0});
}

TEST_CASE("several classes at once, or a real number, are a target", "[import]") {
  const ImportFolder folder;
  folder.Write("many.npy", NpyBytes("|b1", "(2, 3)", std::string("\1\0\1\0\0\1", 6)));
  folder.Write("price.csv", "1.5\nNA\n");
  folder.Write("y.csv", "1\n0\n");
  const auto type = [&folder](const std::string& columns, const std::string& output) {
    VICINITY_REQUIRE_OK(folder.Import("nodes { name: 'n' count: 2 " + columns + " }", output));
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open(output));
    return dataset->schema().node_types[0];
  };
  const NodeTypeSpec many =
      type("columns { name: 'many' array { path: 'many.npy' } } target_column: 'many'", "many");
  CHECK(many.target_column == "many");
  CHECK(many.columns[0].dtype == DType::kBool);
  CHECK(many.columns[0].shape == std::vector<int64_t>{3});
  const NodeTypeSpec price = type(
      "columns { name: 'price' array { path: 'price.csv' } } target_column: 'price' "
      "label { array { path: 'y.csv' } }",
      "price");
  CHECK(price.target_column == "price");
  CHECK(price.columns[0].dtype == DType::kFloat32);
  CHECK(price.label_column == "label");
  CHECK_THAT(folder.Refusal("nodes { name: 'n' count: 2 target_column: 'many' }"),
             Catch::Contains("target_column many"));
  // Who takes them for labels is told.
  CHECK_THAT(folder.Refusal("nodes { name: 'n' count: 2 label { array { path: 'many.npy' } } }"),
             Catch::Contains("3 values a row") && Catch::Contains("target_column"));
  CHECK_THAT(folder.Refusal("nodes { name: 'n' count: 2 label { array { path: 'price.csv' } } }"),
             Catch::Contains("price.csv:1: 1.5") && Catch::Contains("target_column"));
}

TEST_CASE("the kind of ids is told, or seen from the first", "[import]") {
  const ImportFolder folder;
  folder.Write("ids.csv", "7\n-3\n");
  folder.Write("ids.npy", NpyBytes("<i4", "(2,)", Bytes<int32_t>({7, -3})));
  const auto kind = [&folder](const std::string& nodes, const std::string& output) {
    VICINITY_REQUIRE_OK(folder.Import("nodes { name: 'n' " + nodes + " }", output));
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open(output));
    return dataset->schema().node_types[0].id_kind;
  };
  CHECK(kind("count: 2", "a") == IdKind::kDense);
  CHECK(kind("ids { path: 'ids.csv' }", "b") == IdKind::kInt64);
  CHECK(kind("ids { path: 'ids.npy' }", "c") == IdKind::kInt64);
  CHECK(kind("ids { path: 'ids.csv' } id_kind: STRING", "d") == IdKind::kString);
  folder.Write("ids.csv", "n7\n8\n");
  CHECK(kind("ids { path: 'ids.csv' } count: 2", "e") == IdKind::kString);
}

TEST_CASE("an empty type and a graph without features or labels are ordinary", "[import]") {
  const ImportFolder folder;
  folder.Write("none.csv", "# nobody yet\n");
  VICINITY_ASSERT_OK_AND_ASSIGN(const IngestReport report, folder.Import(R"(
      nodes { name: "paper" count: 5 }
      nodes { name: "author" }
      nodes {
        name: "venue"
        ids { path: "none.csv" }
        columns { name: "x" array { path: "none.csv" } }
        label { array { path: "none.csv" } }
        train { ids { path: "none.csv" } }
      }
      edges { source: "author" relation: "wrote" target: "paper" ends { path: "none.csv" } })"));
  CHECK(report.nodes[0].count == 5);
  CHECK(report.nodes[1].count == 0);
  CHECK(report.nodes[2].count == 0);
  CHECK(report.nodes[2].labelled == 0);
  CHECK(report.edges[0].stored == 0);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open());
  CHECK(dataset->book().num_nodes({1}) == 0);
}

TEST_CASE("descriptions that contradict themselves are refused", "[import]") {
  const ImportFolder folder;
  folder.Write("two.csv", "1\n2\n");
  folder.Write("pairs.csv", "1,2\n");
  for (const std::string nodes : {
           "name: 'n' count: -1",
           "name: 'n' id_kind: STRING",
           "name: 'n' id_kind: INTEGER count: 5",
           "name: 'n' id_kind: DENSE ids { path: 'two.csv' }",
           "name: 'n' ids { path: 'two.csv' } ids_from_edges: true",
           "name: 'n' ids { path: 'two.csv' } count: 3",
           "name: 'n' ids { path: 'pairs.csv' }",
           "name: 'n' count: 1 num_classes: -1",
           "name: 'n' count: 1 columns { name: 'x' }",
           "name: 'n' count: 1 columns { name: '' array { path: 'pairs.csv' } }",
           "name: 'n' count: 1 label { array { path: 'pairs.csv' } }",
           "name: '' count: 1",
       }) {
    INFO(nodes);
    const std::string refusal = folder.Refusal("nodes { " + nodes + " }");
    CHECK_THAT(refusal, !Catch::StartsWith("not an InvalidArgument"));
  }
  CHECK_THAT(folder.Refusal("nodes { name: 'n' } nodes { name: 'n' }"), Catch::Contains("'n'"));
  CHECK_THAT(folder.Refusal(""), Catch::Contains("no `nodes`"));
}

TEST_CASE("feature rows that do not match the nodes are refused with both numbers", "[import]") {
  const ImportFolder folder;
  folder.Write("x.npy", NpyBytes("<f4", "(4, 2)", std::string(32, '\0')));
  folder.Write("x.csv", "1\n2\n3\n4\n");
  for (const std::string file : {"x.npy", "x.csv"}) {
    const std::string refusal = folder.Refusal(
        "nodes { name: 'paper' count: 5 columns { name: 'x' array { path: '" + file + "' } } }");
    CHECK_THAT(refusal, Catch::StartsWith("node type 'paper'") && Catch::Contains(file) &&
                            Catch::Contains("4 rows") && Catch::Contains("5"));
  }
}

TEST_CASE("a cast that would change a value is refused with the value and its row", "[import]") {
  const ImportFolder folder;
  folder.Write("x.npy", NpyBytes("<i8", "(3,)", Bytes<int64_t>({1, 40000, 3})));
  CHECK_THAT(folder.Refusal("nodes { name: 'n' count: 3 columns { name: 'x' "
                            "array { path: 'x.npy' } cast: INT16 } }"),
             Catch::Contains("x.npy") && Catch::Contains("row 1") && Catch::Contains("40000"));
  CHECK_THAT(folder.Refusal("nodes { name: 'n' count: 3 label { "
                            "array { path: 'x.npy' } cast: INT16 } }"),
             Catch::Contains("40000") && Catch::Contains("int16"));
}

TEST_CASE("doubled ids are refused with the id and both places", "[import]") {
  const ImportFolder folder;
  folder.Write("ids.csv", "a\nb\na\n");
  CHECK_THAT(folder.Refusal("nodes { name: 'n' ids { path: 'ids.csv' } }"),
             Catch::Contains("id a") && Catch::Contains("ids.csv:3") && Catch::Contains("row 0"));
}

TEST_CASE("more nodes than memory are refused, not tried", "[import]") {
  const ImportFolder folder;
  VICINITY_CHECK_CODE(folder.Import("nodes { name: 'n' count: 4000000000000000000 }"),
                      absl::StatusCode::kResourceExhausted);
}

TEST_CASE("a file that is missing is not found", "[import]") {
  const ImportFolder folder;
  const auto report = folder.Import("nodes { name: 'n' ids { path: 'none.csv' } }");
  VICINITY_CHECK_CODE(report, absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(report.status().message()), Catch::Contains("none.csv"));
}

}  // namespace
}  // namespace vicinity
