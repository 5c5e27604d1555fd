#include "sampler/neighbor_source.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "sampler/excluded_edges.h"
#include "sampler/one_hop.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("each relation has the excluded edges of its targets", "[neighbor_source]") {
  ExcludedEdges all;
  all.Add({0}, 10, 7);
  all.Add({1}, 11, 8);
  const std::vector<int64_t> targets = {7, 8};
  std::vector<RelationRequest> relations(3);
  for (int32_t type = 0; type < 3; ++type) {
    relations[type].edge_type = {type};
    relations[type].targets = targets;
  }
  std::vector<std::vector<ExcludedEdge>> kept(1);
  VICINITY_REQUIRE_OK(AddExcluded(all, absl::MakeSpan(relations), &kept));
  CHECK(relations[0].excluded == std::vector<ExcludedEdge>{{0, 10}});
  CHECK(relations[1].excluded == std::vector<ExcludedEdge>{{1, 11}});
  CHECK(relations[2].excluded.empty());
}

TEST_CASE("an answer has the detail that was asked for, and no other", "[neighbor_source]") {
  Neighbors answer;
  answer.sources = {1, 2};
  VICINITY_CHECK_OK(CheckDetail({false, false}, answer));
  VICINITY_CHECK_CODE(CheckDetail({true, false}, answer), absl::StatusCode::kInvalidArgument);
  answer.edge_ids = {5, 6};
  VICINITY_CHECK_OK(CheckDetail({true, false}, answer));
  VICINITY_CHECK_CODE(CheckDetail({false, false}, answer), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(CheckDetail({true, true}, answer), absl::StatusCode::kInvalidArgument);
  answer.edge_positions = {0};
  VICINITY_CHECK_CODE(CheckDetail({true, true}, answer), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
