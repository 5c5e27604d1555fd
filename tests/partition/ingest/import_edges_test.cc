// Edge types, imported whole: ends, columns, reverses, and what is refused.
#include "partition/ingest/import_edges.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
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

// (source, edge id, weight) of a target's in-edges, in the order stored.
using InEdges = std::vector<std::tuple<int64_t, int64_t, float>>;

InEdges EdgesInto(const Dataset& dataset, EdgeTypeId type, int64_t target) {
  const EdgeTable& table = dataset.shard({0})->edges(type);
  InEdges edges;
  for (int64_t i = table.begin(target); i < table.begin(target) + table.degree(target); ++i) {
    const float weight = table.columns.empty() ? 0 : Values<float>(table.columns[0].row(i)).front();
    edges.emplace_back(table.sources[i], table.edge_ids[i], weight);
  }
  return edges;
}

constexpr EdgeTypeId kFirst = {0};
constexpr EdgeTypeId kSecond = {1};

TEST_CASE("edges of one type and their columns, with the reverses in the same type", "[import]") {
  const ImportFolder folder;
  folder.Write("edges.csv", "0,1,0.5\n2,1,1.5\n1,1,2.5\n0,1,3.5\n");
  const std::string description = R"(
      nodes { name: "n" count: 4 }
      edges {
        source: "n" relation: "r" target: "n"
        ends { path: "edges.csv" columns: 0 columns: 1 }
        columns { name: "w" array { path: "edges.csv" columns: 2 } }
      } )";
  VICINITY_ASSERT_OK_AND_ASSIGN(const IngestReport plain, folder.Import(description, "plain"));
  CHECK(plain.edges[0].name == "n:r:n");
  CHECK(plain.edges[0].read == 4);
  CHECK(plain.edges[0].stored == 4);
  CHECK(plain.edges[0].max_degree == 4);
  CHECK(plain.nodes[0].isolated == 1);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open("plain"));
  CHECK(EdgesInto(*dataset, kFirst, 1) ==
        InEdges{{0, 0, 0.5F}, {0, 3, 3.5F}, {1, 2, 2.5F}, {2, 1, 1.5F}});
  CHECK(EdgesInto(*dataset, kFirst, 0).empty());

  VICINITY_ASSERT_OK_AND_ASSIGN(
      const IngestReport both,
      folder.Import(description + "add_reverse: true dedup: true", "both"));
  CHECK(both.edges.size() == 1);
  CHECK(both.edges[0].reversed == 3);  // the self-loop is not doubled
  CHECK(both.edges[0].duplicates_dropped == 2);
  CHECK(both.edges[0].stored == 5);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto two_ways, folder.Open("both"));
  CHECK(EdgesInto(*two_ways, kFirst, 0) == InEdges{{1, 4, 0.5F}});
  CHECK(EdgesInto(*two_ways, kFirst, 1) == InEdges{{0, 0, 0.5F}, {1, 2, 2.5F}, {2, 1, 1.5F}});
  CHECK(EdgesInto(*two_ways, kFirst, 2) == InEdges{{1, 5, 1.5F}});

  VICINITY_ASSERT_OK_AND_ASSIGN(
      const IngestReport apart,
      folder.Import(description + "add_reverse_apart: true dedup: true", "apart"));
  REQUIRE(apart.edges.size() == 2);
  CHECK(apart.edges[0].stored == 3);
  CHECK(apart.edges[0].reversed == 0);
  CHECK(apart.edges[1].name == "n:rev_r:n");
  CHECK(apart.edges[1].read == 0);
  CHECK(apart.edges[1].reversed == 4);
  CHECK(apart.edges[1].stored == 3);  // the self-loop leads both ways
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto two_types, folder.Open("apart"));
  CHECK(EdgesInto(*two_types, kFirst, 1) == InEdges{{0, 0, 0.5F}, {1, 2, 2.5F}, {2, 1, 1.5F}});
  CHECK(EdgesInto(*two_types, kFirst, 0).empty());
  CHECK(EdgesInto(*two_types, kSecond, 0) == InEdges{{1, 0, 0.5F}});
  CHECK(EdgesInto(*two_types, kSecond, 1) == InEdges{{1, 2, 2.5F}});
  CHECK(EdgesInto(*two_types, kSecond, 2) == InEdges{{1, 1, 1.5F}});

  VICINITY_ASSERT_OK_AND_ASSIGN(const IngestReport dropped,
                                folder.Import(description + "drop_self_loops: true", "dropped"));
  CHECK(dropped.edges[0].self_loops_dropped == 1);
  CHECK(dropped.edges[0].stored == 3);
}

TEST_CASE("reverses of several types are types of their own, with ids and columns of the originals",
          "[import]") {
  const ImportFolder folder;
  folder.Write("users.csv", "70\n50\n");
  folder.Write("items.csv", "\"b,1\"\na\n");
  folder.Write("buys.csv", "50,a\n70,a\n50,\"b,1\"\n");
  folder.Write("w.npy", NpyBytes("<f4", "(3,)", Bytes<float>({0, 1, 2})));
  VICINITY_ASSERT_OK_AND_ASSIGN(const IngestReport report, folder.Import(R"(
      add_reverse: true
      drop_self_loops: true
      nodes { name: "user" ids { path: "users.csv" } }
      nodes { name: "item" ids { path: "items.csv" } }
      edges {
        source: "user" relation: "buys" target: "item"
        ends { path: "buys.csv" }
        columns { name: "w" array { path: "w.npy" } }
      })"));
  REQUIRE(report.edges.size() == 2);
  CHECK(report.edges[0].name == "user:buys:item");
  CHECK(report.edges[1].name == "item:rev_buys:user");
  CHECK(report.edges[0].self_loops_dropped == 0);  // node 0 and node 0 of two types are no loop
  CHECK(report.edges[1].read == 0);
  CHECK(report.edges[1].reversed == 3);
  CHECK(report.edges[1].stored == 3);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open());
  // By key: 50 (user 1) comes before 70 (user 0).
  CHECK(EdgesInto(*dataset, kFirst, 1) == InEdges{{1, 0, 0}, {0, 1, 1}});
  CHECK(EdgesInto(*dataset, kFirst, 0) == InEdges{{1, 2, 2}});
  CHECK(EdgesInto(*dataset, kSecond, 0) == InEdges{{1, 1, 1}});
  CHECK(EdgesInto(*dataset, kSecond, 1).size() == 2);
}

TEST_CASE("ends come as pairs or as two rows", "[import]") {
  const ImportFolder folder;
  folder.Write("pairs.npy", NpyBytes("<i4", "(3, 2)", Bytes<int32_t>({0, 1, 2, 3, 4, 5})));
  folder.Write("rows.npy", NpyBytes("<i8", "(2, 3)", Bytes<int64_t>({0, 2, 4, 1, 3, 5})));
  const std::string nodes =
      "nodes { name: 'n' count: 6 } edges { source: 'n' relation: 'r' "
      "target: 'n' ends { path: ";
  VICINITY_REQUIRE_OK(folder.Import(nodes + "'pairs.npy' } }", "pairs"));
  VICINITY_REQUIRE_OK(folder.Import(nodes + "'rows.npy' } transposed: true }", "rows"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto pairs, folder.Open("pairs"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto rows, folder.Open("rows"));
  CHECK(pairs->fingerprint() == rows->fingerprint());
  CHECK(EdgesInto(*rows, kFirst, 3) == InEdges{{2, 1, 0}});
  CHECK_THAT(folder.Refusal(nodes + "'rows.npy' } }"), Catch::Contains("transposed"));
}

TEST_CASE("nodes can be those that the edges name", "[import]") {
  const ImportFolder folder;
  folder.Write("snap.txt", "# FromNodeId ToNodeId\n30 10\n10 30\n7 30\n");
  const std::string edges =
      "edges { source: 'n' relation: 'r' target: 'n' ends { path: 'snap.txt' } }";
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const IngestReport report,
      folder.Import("nodes { name: 'n' id_kind: INTEGER ids_from_edges: true }" + edges, "ids"));
  CHECK(report.nodes[0].count == 3);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open("ids"));
  const NodeTable& nodes = dataset->shard({0})->nodes({0});
  CHECK(std::vector<uint64_t>(nodes.keys.begin(), nodes.keys.end()) ==
        std::vector<uint64_t>{30, 10, 7});
  CHECK(EdgesInto(*dataset, kFirst, 0) == InEdges{{2, 2, 0}, {1, 1, 0}});

  VICINITY_ASSERT_OK_AND_ASSIGN(
      const IngestReport dense,
      folder.Import("nodes { name: 'n' ids_from_edges: true count: 40 }" + edges, "dense"));
  CHECK(dense.nodes[0].count == 40);
  CHECK(dense.nodes[0].isolated == 37);
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const IngestReport names,
      folder.Import("nodes { name: 'n' id_kind: STRING ids_from_edges: true }" + edges, "names"));
  CHECK(names.nodes[0].count == 3);
  CHECK_THAT(folder.Refusal("nodes { name: 'n' ids_from_edges: true count: 5 }" + edges),
             Catch::Contains("31") && Catch::Contains("5"));
  folder.Write("snap.txt", "1 2\n-1 2\n");
  CHECK_THAT(folder.Refusal("nodes { name: 'n' ids_from_edges: true }" + edges),
             Catch::Contains("snap.txt:2") && Catch::Contains("-1"));
}

TEST_CASE("edges between names that begin with # are all there", "[import]") {
  const ImportFolder folder;
  folder.Write("tags.tsv", "# from\tto\n#cats\t#dogs\ncats\tdogs\n#dogs\tcats\ndogs\t#cats\n");
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const IngestReport report,
      folder.Import("nodes { name: 'tag' id_kind: STRING ids_from_edges: true } edges { source: "
                    "'tag' relation: 'r' target: 'tag' ends { path: 'tags.tsv' } }"));
  CHECK(report.edges[0].read == 4);
  CHECK(report.edges[0].stored == 4);
  CHECK(report.nodes[0].count == 4);
}

TEST_CASE("names that are not UTF-8 become no nodes", "[import]") {
  const ImportFolder folder;
  folder.Write("edges.tsv", "caf\xE9\ttea\ntea\tmilk\n");
  CHECK_THAT(
      folder.Refusal("nodes { name: 'n' id_kind: STRING ids_from_edges: true } edges { source: 'n' "
                     "relation: 'r' target: 'n' ends { path: 'edges.tsv' } }"),
      Catch::Contains("edges.tsv") && Catch::Contains("line 1") && Catch::Contains("caf\\xe9"));
  folder.Write("ids.csv", "tea\ncaf\xE9\n");
  CHECK_THAT(
      folder.Refusal("nodes { name: 'n' ids { path: 'ids.csv' } }"),
      Catch::Contains("ids.csv") && Catch::Contains("line 2") && Catch::Contains("caf\\xe9"));
}

TEST_CASE("edges out of range and to unknown ids are refused, ten listed with places, all counted",
          "[import]") {
  const ImportFolder folder;
  std::string text;
  for (int i = 0; i < 30; ++i) text += std::to_string(i) + " 0\n";
  folder.Write("edges.txt", text);
  const std::string edges =
      "edges { source: 'n' relation: 'r' target: 'n' ends { path: 'edges.txt' } }";
  const std::string dense = folder.Refusal("nodes { name: 'n' count: 5 }" + edges);
  CHECK_THAT(dense, Catch::StartsWith("edge type 'n:r:n'") && Catch::Contains("25 problems") &&
                        Catch::Contains("edges.txt:6: source") && Catch::Contains("0 .. 4") &&
                        Catch::Contains("edges.txt:15:") && !Catch::Contains("edges.txt:16:"));
  folder.Write("ids.csv", "0\n1\nx\n");
  const std::string names =
      folder.Refusal("nodes { name: 'n' ids { path: 'ids.csv' } id_kind: STRING }" + edges);
  CHECK_THAT(names, Catch::Contains("28 problems") && Catch::Contains("'2'"));
  folder.Write("edges.npy", NpyBytes("<i4", "(2, 2)", Bytes<int32_t>({0, 1, 0, -7})));
  CHECK_THAT(folder.Refusal("nodes { name: 'n' count: 5 } edges { source: 'n' relation: 'r' "
                            "target: 'n' ends { path: 'edges.npy' } }"),
             Catch::Contains("edges.npy: row 1") && Catch::Contains("target -7"));
}

TEST_CASE("a weight column makes edges that can be drawn by weight, reverses too", "[import]") {
  const ImportFolder folder;
  folder.Write("edges.csv", "0,1,0.5\n2,1,1.5\n1,1,0\n");
  const std::string description = R"(
      nodes { name: "n" count: 4 }
      edges {
        source: "n" relation: "r" target: "n"
        ends { path: "edges.csv" columns: 0 columns: 1 }
        columns { name: "w" array { path: "edges.csv" columns: 2 } }
        weight_column: "w"
      }
      add_reverse: true )";
  VICINITY_REQUIRE_OK(folder.Import(description, "weighted"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open("weighted"));
  CHECK(dataset->schema().edge_types[0].weight_column == "w");
  const EdgeTable& edges = dataset->shard({0})->edges(kFirst);
  REQUIRE(edges.weights.size() == 5);
  for (int64_t i = 0; i < 5; ++i) {
    CHECK(edges.weights[i].has_weight() == (edges.edge_ids[i] != 2));
  }
}

// That each edge's row of the column is `by_node` of its source.
template <typename T>
void CheckCopies(const EdgeTable& edges, size_t column, const std::vector<T>& by_node) {
  for (int64_t i = 0; i < edges.num_edges(); ++i) {
    CHECK(Values<T>(edges.columns[column].row(i)).front() == by_node[edges.sources[i]]);
  }
}

TEST_CASE("a copy of a node column is of each edge's own source, of reversed edges as well",
          "[import]") {
  const ImportFolder folder;
  const std::vector<int64_t> times = {70, -1, 50, 8};
  folder.Write("t.npy", NpyBytes("<i8", "(4,)", Bytes(times)));
  folder.Write("edges.csv", "0,1\n2,1\n1,1\n0,1\n3,2\n");
  const std::string description = R"(
      nodes { name: "n" count: 4 columns { name: "t" array { path: "t.npy" } } }
      edges {
        source: "n" relation: "r" target: "n"
        ends { path: "edges.csv" }
        columns { of_source: "t" }
      } )";
  for (const std::string flags :
       {"", "add_reverse: true", "add_reverse: true dedup: true", "dedup: true",
        "drop_self_loops: true", "add_reverse_apart: true"}) {
    INFO(flags);
    const std::string output = "out" + std::to_string(flags.size());
    VICINITY_REQUIRE_OK(folder.Import(description + flags, output));
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open(output));
    const EdgeTypeSpec& type = dataset->schema().edge_types[0];
    REQUIRE(type.columns.size() == 1);
    CHECK(type.columns[0].name == "t");
    CHECK(type.columns[0].of_source == "t");
    REQUIRE(dataset->shard({0})->edges(kFirst).num_edges() >= 4);
    CheckCopies(dataset->shard({0})->edges(kFirst), 0, times);
    if (dataset->schema().edge_types.size() > 1) {
      CheckCopies(dataset->shard({0})->edges(kSecond), 0, times);
    }
  }
}

TEST_CASE("edges that are reversed into a type of their own have copies of what their sources have",
          "[import]") {
  const ImportFolder folder;
  const std::vector<int64_t> user_times = {7, 5};
  const std::vector<int32_t> item_times = {30, 10, 20};
  folder.Write("users.npy", NpyBytes("<i8", "(2,)", Bytes(user_times)));
  folder.Write("items.npy", NpyBytes("<i4", "(3,)", Bytes(item_times)));
  folder.Write("buys.csv", "0,0\n1,2\n0,1\n1,1\n");
  folder.Write("w.npy", NpyBytes("<f4", "(4,)", Bytes<float>({0, 1, 2, 3})));
  const auto import = [&](const std::string& of_item, const std::string& output) {
    return folder.Import(R"(
        add_reverse: true
        nodes { name: "user" count: 2 columns { name: "t" array { path: "users.npy" } } }
        nodes { name: "item" count: 3 )" +
                             of_item + R"( }
        edges {
          source: "user" relation: "buys" target: "item" ends { path: "buys.csv" }
          columns { name: "of_user" of_source: "t" }
          columns { name: "w" array { path: "w.npy" } }
        })",
                         output);
  };
  VICINITY_REQUIRE_OK(import("", "one"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto one, folder.Open("one"));
  CheckCopies(one->shard({0})->edges(kFirst), 0, user_times);
  REQUIRE(one->schema().edge_types[1].columns.size() == 1);
  CHECK(one->schema().edge_types[1].columns[0].name == "w");
  CHECK(EdgesInto(*one, kSecond, 1) == InEdges{{1, 3, 3}, {2, 1, 1}});

  VICINITY_REQUIRE_OK(import("columns { name: 't' array { path: 'items.npy' } }", "both"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto both, folder.Open("both"));
  CheckCopies(both->shard({0})->edges(kFirst), 0, user_times);
  REQUIRE(both->schema().edge_types[1].columns.size() == 2);
  CHECK(both->schema().edge_types[1].columns[0].dtype == DType::kInt32);
  CheckCopies(both->shard({0})->edges(kSecond), 0, item_times);
}

// (time, source) of a target's in-edges, in the order stored. The column is the first.
std::vector<std::pair<int64_t, int64_t>> TimesInto(const Dataset& dataset, EdgeTypeId type,
                                                   int64_t target) {
  const EdgeTable& table = dataset.shard({0})->edges(type);
  std::vector<std::pair<int64_t, int64_t>> edges;
  for (int64_t i = table.begin(target); i < table.begin(target) + table.degree(target); ++i) {
    edges.emplace_back(Values<int64_t>(table.columns[0].row(i)).front(), table.sources[i]);
  }
  return edges;
}

using Times = std::vector<std::pair<int64_t, int64_t>>;

TEST_CASE("lists are in the order of time if they are asked to be, those of reversed edges too",
          "[import]") {
  const ImportFolder folder;
  folder.Write("edges.csv", "0,1,70\n2,1,-9\n3,1,50\n0,1,-9223372036854775808\n1,2,50\n1,0,50\n");
  const std::string description = R"(
      nodes { name: "n" count: 4 }
      edges {
        source: "n" relation: "r" target: "n"
        ends { path: "edges.csv" columns: [0, 1] }
        columns { name: "t" array { path: "edges.csv" columns: 2 } }
        time_order: "t"
      } )";
  VICINITY_REQUIRE_OK(folder.Import(description, "one_way"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto one_way, folder.Open("one_way"));
  CHECK(one_way->schema().edge_types[0].time_order == "t");
  CHECK(TimesInto(*one_way, kFirst, 1) == Times{{INT64_MIN, 0}, {-9, 2}, {50, 3}, {70, 0}});

  VICINITY_REQUIRE_OK(folder.Import(description + "add_reverse: true", "joined"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto joined, folder.Open("joined"));
  CHECK(TimesInto(*joined, kFirst, 1) ==
        Times{{INT64_MIN, 0}, {-9, 2}, {50, 0}, {50, 2}, {50, 3}, {70, 0}});

  VICINITY_REQUIRE_OK(folder.Import(description + "add_reverse_apart: true", "apart"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto apart, folder.Open("apart"));
  CHECK(apart->schema().edge_types[1].time_order == "t");
  CHECK(TimesInto(*apart, kFirst, 1) == TimesInto(*one_way, kFirst, 1));
  CHECK(TimesInto(*apart, kSecond, 0) == Times{{INT64_MIN, 1}, {70, 1}});

  // Of doubles the one of the lowest id stays, not the earliest.
  VICINITY_REQUIRE_OK(folder.Import(description + "dedup: true", "once"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto once, folder.Open("once"));
  CHECK(TimesInto(*once, kFirst, 1) == Times{{-9, 2}, {50, 3}, {70, 0}});
}

TEST_CASE("lists are in the order of their sources' times, where these have them", "[import]") {
  const ImportFolder folder;
  folder.Write("t.npy", NpyBytes("<i8", "(3,)", Bytes<int64_t>({30, 10, 20})));
  folder.Write("edges.csv", "0,0\n1,0\n2,0\n2,1\n1,1\n");
  VICINITY_REQUIRE_OK(folder.Import(R"(
      add_reverse: true
      nodes { name: "u" count: 3 columns { name: "t" array { path: "t.npy" } } }
      nodes { name: "v" count: 2 }
      edges {
        source: "u" relation: "r" target: "v" ends { path: "edges.csv" }
        columns { of_source: "t" } time_order: "t"
      })"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open());
  CHECK(TimesInto(*dataset, kFirst, 0) == Times{{10, 1}, {20, 2}, {30, 0}});
  CHECK(TimesInto(*dataset, kFirst, 1) == Times{{10, 1}, {20, 2}});
  CHECK(dataset->schema().edge_types[0].time_order == "t");
  CHECK(dataset->schema().edge_types[1].time_order.empty());
}

TEST_CASE("an order of what are no times is refused", "[import]") {
  const ImportFolder folder;
  folder.Write("edges.csv", "0,1,0.5\n1,0,1\n");
  folder.Write("pairs.npy", NpyBytes("<i8", "(2, 2)", Bytes<int64_t>({1, 2, 3, 4})));
  const auto refusal = [&](const std::string& column) {
    return folder.Refusal(R"(nodes { name: "n" count: 2 } edges { source: "n" relation: "r"
        target: "n" ends { path: "edges.csv" columns: [0, 1] } time_order: "t" columns { )" +
                          column + "} }");
  };
  CHECK_THAT(refusal("name: 't' array { path: 'edges.csv' columns: 2 }"),
             Catch::StartsWith("edge type 'n:r:n'") && Catch::Contains("edges.csv") &&
                 Catch::Contains("time_order t") && Catch::Contains("1 float"));
  CHECK_THAT(refusal("name: 't' array { path: 'pairs.npy' }"),
             Catch::Contains("time_order t") && Catch::Contains("2 int64"));
  CHECK_THAT(refusal("name: 'x' array { path: 'edges.csv' columns: 0 }"),
             Catch::Contains("time_order t: no such column"));
}

TEST_CASE("neighbours can be drawn by a weight of their own", "[import]") {
  const ImportFolder folder;
  folder.Write("edges.csv", "0,1\n2,1\n1,1\n");
  const std::string description = R"(
      nodes { name: "n" count: 3 columns { name: "w" array { path: "w.npy" } } }
      edges {
        source: "n" relation: "r" target: "n" ends { path: "edges.csv" }
        columns { of_source: "w" } weight_column: "w"
      })";
  folder.Write("w.npy", NpyBytes("<f4", "(3,)", Bytes<float>({2, 0, 1})));
  VICINITY_REQUIRE_OK(folder.Import(description));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open());
  const EdgeTable& edges = dataset->shard({0})->edges(kFirst);
  REQUIRE(edges.weights.size() == 3);
  for (int64_t i = 0; i < 3; ++i) CHECK(edges.weights[i].has_weight() == (edges.sources[i] != 1));
  folder.Write("w.npy", NpyBytes("<f4", "(3,)", Bytes<float>({2, 0, -1})));
  const absl::Status negative = folder.Import(description, "negative").status();
  VICINITY_CHECK_CODE(negative, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(negative.message()), Catch::Contains("-1"));
  folder.Write("w.npy", NpyBytes("<i4", "(3,)", Bytes<int32_t>({2, 0, 1})));
  CHECK_THAT(folder.Refusal(description),
             Catch::Contains("weight_column w") && Catch::Contains("int32"));
}

TEST_CASE("copies of what nodes do not have are refused, and what nodes have is told", "[import]") {
  const ImportFolder folder;
  folder.Write("x.csv", "1\n2\n");
  folder.Write("two.csv", "0,1\n1,0\n");
  const auto refusal = [&](const std::string& of_node, const std::string& of_edge) {
    return folder.Refusal(
        "nodes { name: 'n' count: 2 columns { name: 'x' array { path: 'x.csv' } " + of_node +
        " } label { array { path: 'x.csv' } } } edges { source: 'n' relation: 'r'"
        " target: 'n' ends { path: 'two.csv' } columns { " +
        of_edge + " } }");
  };
  CHECK_THAT(refusal("", "of_source: 'time'"),
             Catch::StartsWith("edge type 'n:r:n'") && Catch::Contains("of_source time") &&
                 Catch::Contains("node type 'n'") && Catch::Contains("x, label"));
  CHECK_THAT(refusal("", "name: 'x' of_source: 'x' array { path: 'x.csv' }"),
             Catch::Contains("neither `array` nor `cast`"));
  CHECK_THAT(refusal("", "of_source: 'x' cast: INT32"),
             Catch::Contains("neither `array` nor `cast`"));
  CHECK_THAT(refusal("", "name: 'a b' of_source: 'x'"), Catch::Contains("a b"));
  CHECK_THAT(refusal("", "of_source: 'x' } columns { of_source: 'x'"),
             Catch::Contains("two columns named x"));
  CHECK_THAT(refusal("of_source: 'x'", "of_source: 'x'"),
             Catch::Contains("node type 'n'") && Catch::Contains("only edges have sources"));
}

TEST_CASE("whole weights of text are weights", "[import]") {
  const ImportFolder folder;
  folder.Write("edges.csv", "0,1,3\n2,1,16777217\n");
  VICINITY_REQUIRE_OK(folder.Import(R"(
      nodes { name: "n" count: 3 }
      edges {
        source: "n" relation: "r" target: "n"
        ends { path: "edges.csv" columns: [0, 1] }
        columns { name: "w" array { path: "edges.csv" columns: 2 } }
        weight_column: "w"
      })"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open());
  CHECK(dataset->schema().edge_types[0].columns[0].dtype == DType::kFloat64);
  const EdgeTable& edges = dataset->shard({0})->edges(kFirst);
  CHECK(Values<double>(edges.columns[0].row(0)).front() == 3);
  CHECK(Values<double>(edges.columns[0].row(1)).front() == 16777217);
}

TEST_CASE("weights that are none are refused with file and edge, before anything is written",
          "[import]") {
  const ImportFolder folder;
  folder.Write("edges.csv", "0,1,0.5\n2,1,-1.5\n1,1,nan\n0,2,inf\n");
  const auto import = [&](const std::string& columns, const std::string& weight) {
    return folder
        .Import(R"(nodes { name: "n" count: 4 }
                   edges { source: "n" relation: "r" target: "n"
                           ends { path: "edges.csv" columns: 0 columns: 1 } )" +
                    columns + " weight_column: '" + weight + "' }",
                "bad")
        .status();
  };
  const std::string column = R"(columns { name: "w" array { path: "edges.csv" columns: 2 } )";
  const absl::Status values = import(column + "}", "w");
  VICINITY_CHECK_CODE(values, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(values.message()),
             Catch::Contains("edges.csv: edge 1") && Catch::Contains("edge 2") &&
                 Catch::Contains("edge 3") && !Catch::Contains("edge 0"));
  const absl::Status unknown = import(column + "}", "x");
  VICINITY_CHECK_CODE(unknown, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(unknown.message()), Catch::Contains("weight_column x"));
  folder.Write("ints.csv", "1\n2\n3\n4\n");
  const absl::Status ints =
      import(R"(columns { name: "w" array { path: "ints.csv" } cast: INT32 })", "w");
  VICINITY_CHECK_CODE(ints, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(ints.message()), Catch::Contains("int32"));
}

TEST_CASE("descriptions and files that do not fit are refused", "[import]") {
  const ImportFolder folder;
  folder.Write("three.csv", "0,1,2\n");
  folder.Write("two.csv", "0,1\n1,0\n");
  folder.Write("two.npy", NpyBytes("<i4", "(1, 2)", Bytes<int32_t>({0, 1})));
  folder.Write("bad.csv", "0,1\n1\n");
  folder.Write("w.csv", "1\n2\n3\n");
  folder.Write("w.npy", NpyBytes("<f4", "(3,)", std::string(12, '\0')));
  folder.Write("names.csv", "a\nb\n");
  const std::string head =
      "nodes { name: 'n' count: 2 } nodes { name: 's' "
      "ids { path: 'names.csv' } } edges { relation: 'r' ";
  for (const std::string edges : {
           "source: 'n' target: 'n'",
           "source: 'n' target: 'm' ends { path: 'two.csv' }",
           "source: 'n' target: 'n' ends { path: 'three.csv' }",
           "source: 'n' target: 'n' ends { path: 'bad.csv' }",
           "source: 'n' target: 'n' ends { path: 'two.csv' } transposed: true",
           "source: 'n' target: 's' ends { path: 'two.npy' }",
           "source: 'n' target: 'n' ends { path: 'two.csv' } "
           "columns { name: 'w' array { path: 'w.csv' } }",
           "source: 'n' target: 'n' ends { path: 'two.csv' } "
           "columns { name: 'w' array { path: 'w.npy' } }",
           "source: 'n' target: 'n' ends { path: 'two.npy' } "
           "columns { name: 'w' array { path: 'w.npy' } }",
       }) {
    INFO(edges);
    CHECK_THAT(folder.Refusal(head + edges + " }"), !Catch::StartsWith("not an InvalidArgument"));
  }
}

}  // namespace
}  // namespace vicinity
