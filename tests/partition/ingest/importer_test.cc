#include "partition/ingest/importer.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/dataset.h"
#include "partition/ingest/ingest_report.h"
#include "partition/schema/schema.h"
#include "partition/writing/audit.h"
#include "proto/cluster/text_proto.h"
#include "proto/common/checksum.h"
#include "proto/common/progress.h"
#include "proto/import.pb.h"
#include "tests/testing/graphs/importing.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::Bytes;
using testing::ImportFolder;
using testing::NpyBytes;

constexpr char kData[] = "tests/data/";

absl::StatusOr<IngestReport> ImportData(const std::string& name, const std::string& output) {
  proto::ImportDescription description;
  const std::string path = absl::StrCat(kData, name, ".textproto");
  VICINITY_REQUIRE_OK(ParseTextProto(path, testing::ReadInput(path), &description));
  return Import(description, kData, output, NoProgress());
}

TEST_CASE("cora imports with the counts that are known of it", "[import]") {
  const testing::TempDir dir;
  VICINITY_ASSERT_OK_AND_ASSIGN(const IngestReport report, ImportData("cora", dir.File("cora")));
  REQUIRE(report.nodes.size() == 1);
  CHECK(report.nodes[0].count == 2708);
  CHECK(report.nodes[0].isolated == 0);
  CHECK(report.nodes[0].num_classes == 7);
  CHECK(report.nodes[0].labelled == 2708);
  CHECK(report.nodes[0].train == 140);
  CHECK(report.nodes[0].validation == 500);
  CHECK(report.nodes[0].test == 1000);
  REQUIRE(report.edges.size() == 1);
  CHECK(report.edges[0].read == 10858);
  CHECK(report.edges[0].duplicates_dropped == 302);
  CHECK(report.edges[0].stored == 10556);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(dir.File("cora")));
  CHECK(dataset->manifest().name() == "cora");
  const NodeTypeSpec& papers = dataset->schema().node_types[0];
  CHECK(papers.columns[0].shape == std::vector<int64_t>{1433});
  CHECK(papers.columns[1].dtype == DType::kInt16);
  VICINITY_CHECK_OK(VerifyDataset(dir.File("cora"), NoProgress()));
}

TEST_CASE("tolokers imports with the counts that are known of it, in both directions", "[import]") {
  const testing::TempDir dir;
  VICINITY_ASSERT_OK_AND_ASSIGN(const IngestReport report, ImportData("tolokers", dir.File("t")));
  CHECK(report.nodes[0].count == 11758);
  CHECK(report.nodes[0].num_classes == 2);
  CHECK(report.nodes[0].train + report.nodes[0].validation + report.nodes[0].test == 11758);
  CHECK(report.edges[0].read == 519000);
  CHECK(report.edges[0].reversed == 519000);
  CHECK(report.edges[0].stored == 1038000);
  VICINITY_CHECK_OK(VerifyDataset(dir.File("t"), NoProgress()));
}

// A ragged column as files: the rows' bytes, apart.
std::string DescribeRagged(const testing::MemoryGraph& graph, NodeTypeId type, int column,
                           const ImportFolder& folder) {
  const RaggedSpec& spec = graph.schema.node_types[type.value].ragged[column];
  const std::string file = absl::StrCat("t", type.value, "r", column);
  std::vector<int64_t> offsets = {0};
  std::string indices;
  std::string values;
  for (int64_t i = 0; i < graph.num_nodes(type); ++i) {
    const std::string_view row = graph.ragged_row(type, column, i);
    const int64_t count = static_cast<int64_t>(row.size()) / spec.item_bytes();
    const size_t index_bytes = spec.is_sparse() ? count * sizeof(int32_t) : 0;
    offsets.push_back(offsets.back() + count);
    indices += row.substr(0, index_bytes);
    values += row.substr(index_bytes);
  }
  const auto array = [&](const std::string& part, const std::string& descr, int64_t rows,
                         const std::string& bytes) {
    const std::string path = absl::StrCat(file, part, ".npy");
    folder.Write(path, NpyBytes(descr, absl::StrCat("(", rows, ",)"), bytes));
    return absl::StrCat(part, " { path: '", path, "' } ");
  };
  const std::string descr = spec.dtype == DType::kInt64   ? "<i8"
                            : spec.dtype == DType::kUint8 ? "|u1"
                                                          : "<f4";
  std::string text = absl::StrCat(
      "ragged_columns { name: '", spec.name, "' ",
      array("offsets", "<i8", static_cast<int64_t>(offsets.size()), Bytes<int64_t>(offsets)),
      array("values", descr, offsets.back(), values));
  if (spec.is_sparse()) {
    absl::StrAppend(&text, array("indices", "<i4", offsets.back(), indices),
                    "num_columns: ", spec.num_columns, " ");
  }
  return text + "} ";
}

// Writes `graph` as files and returns the description that reads them back. Columns go through
// .npy and .npz, edges and string ids through text.
std::string Describe(const testing::MemoryGraph& graph, const ImportFolder& folder) {
  static constexpr const char* kDescr[] = {"",    "|b1", "|i1", "|u1", "<i2", "<i4",
                                           "<i8", "<f2", "",    "<f4", "<f8"};
  const auto array = [&folder](const std::string& file, const ColumnSpec& spec, int64_t rows,
                               const std::string& bytes) {
    std::string shape = absl::StrCat("(", rows, ",");
    for (const int64_t extent : spec.shape) absl::StrAppend(&shape, extent, ",");
    folder.Write(file, NpyBytes(kDescr[static_cast<int>(spec.dtype)], shape + ")", bytes));
    return absl::StrCat("{ path: '", file, "' }");
  };
  std::string text = "name: 'graph'\n";
  const auto id_text = [&graph](size_t type, int64_t position) {
    const testing::MemoryNodes& nodes = graph.nodes[type];
    const auto i = static_cast<size_t>(position);
    return nodes.names.empty() ? absl::StrCat(static_cast<int64_t>(nodes.keys[i])) : nodes.names[i];
  };
  for (size_t t = 0; t < graph.nodes.size(); ++t) {
    const NodeTypeSpec& type = graph.schema.node_types[t];
    const int64_t count = graph.num_nodes({static_cast<int32_t>(t)});
    absl::StrAppend(&text, "nodes { name: '", type.name, "' ");
    if (type.id_kind == IdKind::kDense) {
      absl::StrAppend(&text, "count: ", count, " ");
    } else {
      std::string ids;
      for (int64_t i = 0; i < count; ++i) absl::StrAppend(&ids, id_text(t, i), "\n");
      folder.Write(absl::StrCat("ids", t, ".csv"), ids);
      absl::StrAppend(&text, "id_kind: ", type.id_kind == IdKind::kString ? "STRING" : "INTEGER",
                      " ids { path: 'ids", t, ".csv' } ");
    }
    for (int c = 0; c < static_cast<int>(type.ragged.size()); ++c) {
      text += DescribeRagged(graph, {static_cast<int32_t>(t)}, c, folder);
    }
    for (size_t c = 0; c < type.columns.size(); ++c) {
      const ColumnSpec& column = type.columns[c];
      if (column.name == type.split_column) continue;
      const std::string file =
          array(absl::StrCat("n", t, "c", c, ".npy"), column, count, graph.nodes[t].columns[c]);
      absl::StrAppend(&text, column.name == type.label_column ? "label" : "columns", " { name: '",
                      column.name, "' array ", file, " } ");
    }
    absl::StrAppend(&text, "num_classes: ", type.num_classes, " ");
    if (!type.split_column.empty()) {
      const std::string& splits =
          graph.nodes[t].columns[static_cast<size_t>(type.FindColumn(type.split_column))];
      for (const auto& [name, value] :
           {std::pair("train", 1), std::pair("validation", 2), std::pair("test", 3)}) {
        std::string mask;
        for (const char split : splits) mask += split == value ? "1\n" : "0\n";
        folder.Write(absl::StrCat(name, t, ".txt"), mask);
        absl::StrAppend(&text, name, " { mask { path: '", name, t, ".txt' } } ");
      }
    }
    absl::StrAppend(&text, "}\n");
  }
  for (size_t t = 0; t < graph.edges.size(); ++t) {
    const EdgeTypeSpec& type = graph.schema.edge_types[t];
    std::string ends;
    for (size_t e = 0; e < graph.edges[t].sources.size(); ++e) {
      absl::StrAppend(
          &ends, id_text(static_cast<size_t>(type.source_type), graph.edges[t].sources[e]), "\t",
          id_text(static_cast<size_t>(type.target_type), graph.edges[t].targets[e]), "\n");
    }
    testing::WriteGzip(folder.dir().File(absl::StrCat("e", t, ".tsv.gz")), ends);
    absl::StrAppend(&text, "edges { source: '",
                    graph.schema.node_types[static_cast<size_t>(type.source_type)].name,
                    "' relation: '", type.relation, "' target: '",
                    graph.schema.node_types[static_cast<size_t>(type.target_type)].name,
                    "' ends { path: 'e", t, ".tsv.gz' } ");
    for (size_t c = 0; c < type.columns.size(); ++c) {
      if (const std::string& copied = type.columns[c].of_source; !copied.empty()) {
        absl::StrAppend(&text, "columns { name: '", type.columns[c].name, "' of_source: '", copied,
                        "' } ");
        continue;
      }
      absl::StrAppend(
          &text, "columns { name: '", type.columns[c].name, "' array ",
          array(absl::StrCat("e", t, "c", c, ".npy"), type.columns[c],
                static_cast<int64_t>(graph.edges[t].sources.size()), graph.edges[t].columns[c]),
          " } ");
    }
    absl::StrAppend(&text, "weight_column: '", type.weight_column, "' ");
    absl::StrAppend(&text, "}\n");
  }
  return text;
}

TEST_CASE("a graph that goes through files comes back as it was", "[import]") {
  const ImportFolder folder;
  testing::RandomGraphOptions options;
  options.weights = true;
  const int which = GENERATE(0, 1, 2, 3);
  if (which == 1) options.id_kind = IdKind::kInt64;
  if (which == 2) options.id_kind = IdKind::kString;
  testing::MemoryGraph graph =
      which == 3 ? testing::TypedGraph(60, 40, 7, 3) : testing::RandomGraph(options);
  for (size_t t = 0; t < graph.nodes.size(); ++t) {  // the salt is the importer's to choose
    graph.schema.node_types[t].key_salt = 0;
    for (size_t i = 0; i < graph.nodes[t].names.size(); ++i) {
      graph.nodes[t].keys[i] = Checksum(graph.nodes[t].names[i]);
    }
  }
  const std::string description = Describe(graph, folder);
  INFO(description);
  VICINITY_REQUIRE_OK(folder.Import(description));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open());
  CHECK(testing::Difference(graph, *dataset) == "");
  VICINITY_CHECK_OK(VerifyDataset(folder.dir().File("out"), NoProgress()));
}

// Edges have all columns of their sources, too, joined here.
void AddCopies(testing::MemoryGraph* graph) {
  for (size_t e = 0; e < graph->edges.size(); ++e) {
    EdgeTypeSpec& type = graph->schema.edge_types[e];
    const NodeTypeSpec& source = graph->schema.node_types[static_cast<size_t>(type.source_type)];
    for (size_t c = 0; c < source.columns.size(); ++c) {
      ColumnSpec copy = source.columns[c];
      copy.of_source = copy.name;
      copy.name = "source-" + copy.name;
      type.columns.push_back(copy);
      std::string& rows = graph->edges[e].columns.emplace_back();
      for (const int64_t node : graph->edges[e].sources) {
        rows += graph->row({type.source_type}, static_cast<int>(c), node);
      }
    }
  }
}

TEST_CASE("edges with copies of all columns of their sources have each its source's rows",
          "[import]") {
  const ImportFolder folder;
  testing::RandomGraphOptions options;
  options.weights = true;
  const int which = GENERATE(0, 1, 2);
  if (which == 1) options.id_kind = IdKind::kInt64;
  testing::MemoryGraph graph =
      which == 2 ? testing::TypedGraph(60, 40, 7, 3) : testing::RandomGraph(options);
  for (size_t t = 0; t < graph.nodes.size(); ++t) {  // the salt is the importer's to choose
    graph.schema.node_types[t].key_salt = 0;
    for (size_t i = 0; i < graph.nodes[t].names.size(); ++i) {
      graph.nodes[t].keys[i] = Checksum(graph.nodes[t].names[i]);
    }
  }
  AddCopies(&graph);
  const std::string description = Describe(graph, folder);
  INFO(description);
  VICINITY_REQUIRE_OK(folder.Import(description));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open());
  CHECK(testing::Difference(graph, *dataset) == "");
  VICINITY_CHECK_OK(VerifyDataset(folder.dir().File("out"), NoProgress()));
}

TEST_CASE("an output that is there already is left alone", "[import]") {
  const ImportFolder folder;
  folder.Write("out", "mine");
  VICINITY_CHECK_CODE(folder.Import("nodes { name: 'n' count: 1 }"),
                      absl::StatusCode::kAlreadyExists);
  CHECK(testing::ReadInput(folder.dir().File("out")) == "mine");
}

TEST_CASE("a refused import leaves nothing behind", "[import]") {
  const ImportFolder folder;
  folder.Write("x.csv", "1\nx\n");
  folder.Write("edges.csv", "0,1\n");
  CHECK_THAT(folder.Refusal("nodes { name: 'n' count: 2 columns { name: 'x' array { path: 'x.csv' "
                            "} } } edges { source: 'n' relation: 'r' target: 'n' "
                            "ends { path: 'edges.csv' } }"),
             Catch::Contains("x.csv") && Catch::Contains("line 2"));
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.dir().path())) {
    INFO(entry.path());
    CHECK(entry.path().extension() == ".csv");
    ++files;
  }
  CHECK(files == 2);
}

TEST_CASE("reverses that clash with a type of the user's are refused", "[import]") {
  const ImportFolder folder;
  folder.Write("e.csv", "0,1\n");
  CHECK_THAT(folder.Refusal("add_reverse: true nodes { name: 'n' count: 2 } "
                            "edges { source: 'n' relation: 'r' target: 'n' ends { path: 'e.csv' } }"
                            "edges { source: 'n' relation: 'rev_r' target: 'n' "
                            "ends { path: 'e.csv' } }"),
             Catch::Contains("rev_r"));
}

TEST_CASE("reverses cannot both join their type and be one of their own", "[import]") {
  const ImportFolder folder;
  folder.Write("e.csv", "0,1\n");
  CHECK_THAT(
      folder.Refusal("add_reverse: true add_reverse_apart: true nodes { name: 'n' count: 2 }"
                     "edges { source: 'n' relation: 'r' target: 'n' ends { path: 'e.csv' } }"),
      Catch::Contains("add_reverse and add_reverse_apart"));
}

TEST_CASE("of several types reverses are the same, said one way or the other", "[import]") {
  const ImportFolder folder;
  folder.Write("e.csv", "0,1\n1,0\n2,1\n");
  const std::string types =
      " nodes { name: 'a' count: 3 } nodes { name: 'b' count: 2 }"
      "edges { source: 'a' relation: 'r' target: 'b' ends { path: 'e.csv' } }";
  VICINITY_REQUIRE_OK(folder.Import("add_reverse: true" + types, "joined").status());
  VICINITY_REQUIRE_OK(folder.Import("add_reverse_apart: true" + types, "apart").status());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto joined, folder.Open("joined"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto apart, folder.Open("apart"));
  CHECK(joined->schema().edge_types.size() == 2);
  CHECK(joined->fingerprint() == apart->fingerprint());
}

TEST_CASE("no damage to the files of a description crashes an import", "[import]") {
  const ImportFolder folder;
  testing::RandomGraphOptions options;
  options.num_nodes = 20;
  options.num_edges = 40;
  options.id_kind = IdKind::kString;
  const testing::MemoryGraph graph = testing::RandomGraph(options);
  const std::string description = Describe(graph, folder);
  const std::vector<std::string> files = {"ids0.csv", "n0c0.npy", "n0c1.npy", "train0.txt"};
  int refused = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string& file = files[seed % files.size()];
    const std::string good = testing::ReadInput(folder.dir().File(file));
    folder.Write(file, testing::Mutated(good, seed));
    const std::string output = absl::StrCat("out", seed);
    const auto report = folder.Import(description, output);
    refused += !report.ok();
    // What is accepted is a whole dataset.
    if (report.ok()) VICINITY_CHECK_OK(VerifyDataset(folder.dir().File(output), NoProgress()));
    folder.Write(file, good);
  }
  CHECK(refused > 50);
}

}  // namespace
}  // namespace vicinity
