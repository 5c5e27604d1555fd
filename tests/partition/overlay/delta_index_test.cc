#include "partition/overlay/delta_index.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "partition/schema/schema.h"

namespace vicinity {
namespace {

constexpr ShardPart kRows = {ShardPart::kNodeRows, 0, 0};
constexpr ShardPart kRagged = {ShardPart::kRagged, 0, kNamesColumn};

// One type of ten nodes, one of twenty edges with a weight.
DeltaIndex MakeIndex() {
  Schema schema;
  schema.node_types.resize(1);
  schema.node_types[0].columns.push_back({"x", DType::kFloat32, {}});
  EdgeTypeSpec edges;
  edges.columns.push_back({"weight", DType::kFloat32, {}});
  edges.weight_column = "weight";
  schema.edge_types.push_back(edges);
  return DeltaIndex(schema, {10}, {20});
}

TEST_CASE("a row has the version that brought its value, at every version", "[delta_index]") {
  DeltaIndex index = MakeIndex();
  CHECK_FALSE(index.MayChange(kRows).any());
  index.AddRows(kRows, {3, 4}, 2);
  index.AddRows(kRows, {3}, 5);
  index.AddRows(kRows, {3, 3}, 6);
  CHECK(index.MayChange(kRows).Has(3));
  CHECK_FALSE(index.MayChange(kRows).Has(5));
  CHECK_FALSE(index.MayChange(kRagged).any());
  const std::vector<uint64_t> wanted = {0, 0, 2, 2, 2, 5, 6, 6};
  for (uint64_t version = 0; version < wanted.size(); ++version) {
    CAPTURE(version);
    CHECK(index.FindRow(kRows, 3, version).version == wanted[version]);
    CHECK(index.FindRow(kRagged, 3, version).version == 0);
  }
  CHECK(index.FindRow(kRows, 4, 9).version == 2);
  CHECK(index.FindRow(kRows, 5, 9).version == 0);
}

TEST_CASE("a row's place is of one of its versions", "[delta_index]") {
  DeltaIndex index = MakeIndex();
  index.AddRows(kRows, {3}, 2);
  index.AddRows(kRows, {3}, 5);
  index.AddNodes(0, {70}, {100}, 6);
  index.SetPlace(kRows, 3, 2, 20);
  index.SetPlace(kRows, 10, 6, 60);
  CHECK(index.FindRow(kRows, 3, 4).place == 20);
  CHECK(index.FindRow(kRows, 3, 5).place == DeltaIndex::kNoPlace);
  CHECK(index.FindRow(kRows, 10, 6).place == 60);
  index.AddRows(kRows, {10}, 7);
  CHECK(index.FindRow(kRows, 10, 6).place == 60);
  CHECK(index.FindRow(kRows, 10, 7).place == DeltaIndex::kNoPlace);
}

TEST_CASE("new nodes come with a version, a key and their rows", "[delta_index]") {
  DeltaIndex index = MakeIndex();
  index.AddNodes(0, {70, 71}, {100, 103}, 4);
  index.AddNodes(0, {72}, {106}, 6);
  index.RemoveKeys(0, {70, 5}, 8);
  CHECK(index.NumNodes(0, 3) == 10);
  CHECK(index.NumNodes(0, 5) == 12);
  CHECK(index.NumNodes(0, 6) == 13);
  CHECK(index.Node(0, 70, 3) == std::nullopt);
  CHECK(index.Node(0, 70, 4) == 100);
  CHECK(index.Node(0, 70, 8) == -1);
  CHECK(index.Node(0, 5, 7) == std::nullopt);
  CHECK(index.Node(0, 5, 8) == -1);
  CHECK(index.key(0, 2) == 72);
  CHECK(index.FindRow(kRows, 12, 5).version == 0);  // not yet
  CHECK(index.FindRow(kRows, 12, 6).version == 6);
  CHECK(index.FindRow(kRagged, 11, 9).version == 4);
  index.AddRows(kRows, {11}, 9);
  CHECK(index.FindRow(kRows, 11, 9).version == 9);
  CHECK(index.FindRow(kRows, 11, 8).version == 4);
}

TEST_CASE("lists know which edges came and went, and when", "[delta_index]") {
  DeltaIndex index = MakeIndex();
  const float weights[] = {0.5F, 1.5F, 2.5F};
  const char* const columns[] = {reinterpret_cast<const char*>(weights)};
  index.AddEdges(0, {7, 8, 9}, {1, 2, 1}, columns, 3);
  index.RemoveEdge(0, 1, 20, 4);
  index.ClearList(0, 1, 5);
  index.AddEdges(0, {6}, {1}, columns, 6);
  index.Reweight(0, 2, 7);
  index.Reweight(0, 2, 7);
  CHECK(index.List(0, 0) == nullptr);
  CHECK_FALSE(index.MayChange({ShardPart::kLists, 0}).Has(0));
  CHECK(index.MayChange({ShardPart::kLists, 0}).Has(2));
  const ListDelta& list = *index.List(0, 1);
  CHECK(list.added == std::vector<int64_t>{0, 2, 3});
  REQUIRE(list.rare->gone.size() == 1);
  CHECK(list.rare->gone[0].position == 20);
  REQUIRE(list.rare->cleared.size() == 1);
  CHECK(list.rare->cleared[0].edges_before == 3);
  CHECK(index.List(0, 2)->rare->reweighted == std::vector<uint64_t>{7});
  CHECK(index.NumEdges(0, 2) == 20);
  CHECK(index.NumEdges(0, 5) == 23);
  CHECK(index.NumEdges(0, 6) == 24);
  CHECK(index.source(0, 3) == 6);
  float weight = 0;
  std::memcpy(&weight, index.edge_row(0, 0, 2), sizeof(weight));
  CHECK(weight == 2.5F);
  CHECK(index.memory_bytes() > 0);
}

}  // namespace
}  // namespace vicinity
