#include "partition/ingest/edge_spool.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

TEST_CASE("edges come back in their order, from narrow and wide numbers", "[edge_spool]") {
  const testing::TempDir dir;
  const int64_t num_nodes = GENERATE(int64_t{1000}, int64_t{1} << 32, (int64_t{1} << 32) + 1);
  std::mt19937_64 random(5);
  std::vector<Edge> edges;
  for (int i = 0; i < 200000; ++i) {
    edges.push_back({static_cast<int64_t>(random() % static_cast<uint64_t>(num_nodes)),
                     static_cast<int64_t>(random() % static_cast<uint64_t>(num_nodes))});
  }
  edges.push_back({num_nodes - 1, 0});
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto spool, EdgeSpool::Create(dir.path(), num_nodes));
  const absl::Span<const Edge> all(edges);
  VICINITY_REQUIRE_OK(spool->Append(all.subspan(0, 1)));
  VICINITY_REQUIRE_OK(spool->Append({}));
  VICINITY_REQUIRE_OK(spool->Append(all.subspan(1)));
  CHECK(spool->size() == 200001);
  VICINITY_ASSERT_OK_AND_ASSIGN(const EdgeList list, spool->Finish());
  REQUIRE(list.size() == 200001);
  bool same = true;
  for (int64_t e = 0; e < list.size(); ++e) {
    const Edge& expected = edges[static_cast<size_t>(e)];
    same = same && list[e].source == expected.source && list[e].target == expected.target;
  }
  CHECK(same);
}

TEST_CASE("no edges are a list without edges", "[edge_spool]") {
  const testing::TempDir dir;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto spool, EdgeSpool::Create(dir.path(), 0));
  VICINITY_ASSERT_OK_AND_ASSIGN(const EdgeList list, spool->Finish());
  CHECK(list.size() == 0);
}

}  // namespace
}  // namespace vicinity
