#include "partition/dataset/shard.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/fault_list.h"
#include "partition/schema/schema.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("ids read the same from 32 and from 64 bits", "[partition]") {
  const std::vector<uint32_t> narrow = {0, 7, UINT32_MAX};
  const std::vector<uint64_t> wide = {0, 7, UINT32_MAX};
  const IdArray a{absl::Span<const uint32_t>(narrow)};
  const IdArray b{absl::Span<const uint64_t>(wide)};
  CHECK(a.narrow() == narrow.data());
  CHECK(a.wide() == nullptr);
  CHECK(b.wide() == wide.data());
  for (int i = 0; i < 3; ++i) CHECK(a[i] == b[i]);
  CHECK(a.size() == 3);
  CHECK(IdArray().size() == 0);
}

TEST_CASE("rows of a column lie one after the other", "[partition]") {
  const ColumnView column = {"aabbcc", 3, 2};
  CHECK(column.row(0) == "aa");
  CHECK(column.row(2) == "cc");
  CHECK(ColumnView{nullptr, 5, 0}.row(4).empty());
}

TEST_CASE("impossible offsets read as empty lists and names, never outside", "[partition]") {
  const std::vector<uint32_t> ids(10);
  const std::vector<uint64_t> offsets = {0, 4, 2, UINT64_MAX, 3, 11, 10, 10, 0, 10};
  EdgeTable edges;
  edges.offsets = offsets;
  edges.sources = IdArray{absl::Span<const uint32_t>(ids)};
  const std::vector<int64_t> degrees = {4, 0, 0, 0, 0, 0, 0, 0, 10};
  REQUIRE(edges.num_targets() == static_cast<int64_t>(degrees.size()));
  for (int64_t row = 0; row < edges.num_targets(); ++row) {
    CHECK(edges.degree(row) == degrees[row]);
    if (edges.degree(row) > 0) {
      CHECK(edges.begin(row) >= 0);
      CHECK(edges.begin(row) + edges.degree(row) <= edges.num_edges());
    }
  }
  NodeTable nodes;
  nodes.names.offsets = offsets;
  nodes.names.bytes = "0123456789";
  CHECK(nodes.names.row(0) == "0123");
  for (int64_t row = 1; row < 8; ++row) CHECK(nodes.names.row(row).empty());
  CHECK(nodes.names.row(8) == "0123456789");
  CHECK(NodeTable().names.row(3).empty());
  VICINITY_CHECK_OK(nodes.names.CheckRow(0));
  VICINITY_CHECK_CODE(nodes.names.CheckRow(1), absl::StatusCode::kDataLoss);
  nodes.ragged.push_back(nodes.names);
  nodes.ragged[0].bytes = "abcd";
  CHECK(nodes.ragged_column(0).row(0) == "abcd");
  CHECK(nodes.ragged_column(kNamesColumn).row(0) == "0123");
}

TEST_CASE("a shard without files maps nothing", "[partition]") {
  const Shard shard({4}, std::make_unique<FaultList>(), {}, {NodeTable()}, {});
  CHECK(shard.id() == ShardId{4});
  CHECK(shard.mapped_bytes() == 0);
  CHECK(shard.nodes(NodeTypeId{0}).num_nodes() == 0);
}

}  // namespace
}  // namespace vicinity
