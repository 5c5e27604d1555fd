#include "client/planning/transfer_plan.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "cache/vip/vip.h"
#include "client/planning/expected_remote.h"
#include "client/planning/home_plan.h"
#include "partition/cut/assigner.h"
#include "proto/common/ids.h"

namespace vicinity {
namespace {

// Two homes on two shards; each needs the three remote nodes with 0.75, 0.5 and 0.25.
RemoteCurves Curves() {
  VipScores scores;
  scores.num_homes = 2;
  scores.values = {{1, 0.75F, 1, 0.5F, 1, 0.25F, 0.5F, 1, 0.25F, 1, 0.75F, 1}};
  HomePlan plan;
  plan.homes = {{0}, {1}};
  plan.home_of = {0, 1};
  plan.seeds = {{NodeTypeId{0}, {0}}, {NodeTypeId{0}, {3}}};
  Assignment assignment;
  assignment.num_shards = 2;
  assignment.shard_of = {{0, 0, 0, 1, 1, 1}};
  return RemoteCurves(scores, plan, assignment);
}

TEST_CASE("curves of several homes are their means", "[planning]") {
  const RemoteCurves curves = Curves();
  CHECK(curves.num_homes() == 2);
  CHECK(curves.all_rows() == 4.5);
  CHECK(curves.most_remote() == 3);
  CHECK(curves.rows_by_type()[0] == 1.5);
  CHECK(curves.RowsPerBatch(0) == 1.5);
  CHECK(curves.RowsPerBatch(1) == 0.75);
  CHECK(curves.RowsPerBatch(99) == 0);
  CHECK(curves.CacheFor(2) == 0);
  CHECK(curves.CacheFor(1.5) == 0);
  CHECK(curves.CacheFor(0.8) == 1);
  CHECK(curves.CacheFor(0.25) == 2);
  CHECK(curves.CacheFor(0) == 3);
}

// What the curves say, at every size.
RemoteEstimate Alone(const RemoteCurves& curves) {
  std::vector<double> rows;
  for (int64_t size = 0; size <= 3; ++size) rows.push_back(curves.RowsPerBatch(size));
  return {{0, 1, 2, 3}, rows};
}

TEST_CASE("between sizes rows are interpolated, beyond them they stay", "[planning]") {
  const RemoteEstimate estimate({0, 10, 30}, {8, 4, 1});
  CHECK(estimate.RowsPerBatch(0) == 8);
  CHECK(estimate.RowsPerBatch(5) == Approx(6));
  CHECK(estimate.RowsPerBatch(10) == 4);
  CHECK(estimate.RowsPerBatch(20) == Approx(2.5));
  CHECK(estimate.RowsPerBatch(99) == 1);
  CHECK(estimate.CacheFor(9) == 0);
  CHECK(estimate.CacheFor(6) == 5);
  CHECK(estimate.CacheFor(1) == 30);
  CHECK(estimate.CacheFor(0.5) == 30);
}

TEST_CASE("rows are worked out at the reported sizes and at others", "[planning]") {
  const RemoteCurves curves = Curves();
  CHECK(PlannedSizes(curves, {}) == std::vector<int64_t>{0, 1, 2, 3});
  const std::vector<ExpectedRemote::Point> reported = {{0.5, 9, 0}, {0, 0, 0}};
  CHECK(PlannedSizes(curves, reported) == std::vector<int64_t>{0, 1, 2, 3, 9});
}

TEST_CASE("seconds are those of the busiest link", "[planning]") {
  TransferModel model;
  model.row_bytes = 1e9;
  model.link_gbps = 8;  // a gigabyte a second
  model.num_homes = 2;
  model.num_shards = 4;
  model.steps = 10;
  const RemoteCurves curves = Curves();
  const RemoteEstimate estimate = Alone(curves);
  TransferCost cost = CostOf(estimate, model, 1);
  CHECK(cost.rows == 0.75);
  CHECK(cost.batch_bytes == Approx(0.75e9));
  CHECK(cost.batch_seconds == Approx(0.75));
  CHECK(cost.epoch_rows == Approx(0.75 * 2 * 10));
  CHECK(cost.epoch_seconds == Approx(7.5));
  model.trainers_per_home = 3;  // share their machine's link
  CHECK(CostOf(estimate, model, 1).batch_seconds == Approx(3 * 0.75));
  model.num_shards = 1;  // all rows leave one machine
  CHECK(CostOf(estimate, model, 1).batch_seconds == Approx(6 * 0.75));
}

}  // namespace
}  // namespace vicinity
