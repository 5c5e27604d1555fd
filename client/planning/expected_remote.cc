#include "client/planning/expected_remote.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "absl/types/span.h"
#include "cache/vip/expected_rows.h"
#include "proto/common/ids.h"

namespace vicinity {
namespace {

constexpr std::array<double, 6> kShares = {0, 0.01, 0.05, 0.1, 0.2, 0.5};

bool IsAmong(absl::Span<const NodeTypeId> types, NodeTypeId type) {
  return types.empty() || std::find(types.begin(), types.end(), type) != types.end();
}

}  // namespace

RemoteCurves::RemoteCurves(const VipScores& scores, const HomePlan& plan,
                           const Assignment& assignment, absl::Span<const NodeTypeId> types)
    : rows_by_type_(scores.values.size()) {
  for (int32_t home = 0; home < scores.num_homes; ++home) {
    if (plan.num_seeds(home) == 0) continue;
    const auto is_local = [&](NodeTypeId type, GlobalNode node) {
      return plan.home_of[assignment.shard_of[type.value][node.value]] == home;
    };
    curves_.push_back(RemoteRows(scores, home, types, is_local));
    most_remote_ = std::max(most_remote_, curves_.back().num_nodes());
    for (int32_t type = 0; type < static_cast<int32_t>(scores.values.size()); ++type) {
      if (!IsAmong(types, {type})) continue;
      const int64_t num_nodes = static_cast<int64_t>(assignment.shard_of[type].size());
      for (int64_t node = 0; node < num_nodes; ++node) {
        const double row = scores.at({type}, {node}, home);
        all_rows_ += row;
        if (!is_local({type}, {node})) rows_by_type_[type] += row;
      }
    }
  }
  if (curves_.empty()) return;
  all_rows_ /= num_homes();
  for (double& rows : rows_by_type_) rows /= num_homes();
}

double RemoteCurves::RowsPerBatch(int64_t cache_rows) const {
  double rows = 0;
  for (const MissCurve& curve : curves_) rows += curve.RowsPerBatch(cache_rows);
  return curves_.empty() ? 0 : rows / num_homes();
}

int64_t RemoteCurves::CacheFor(double rows) const {
  int64_t too_small = -1, enough = most_remote_;
  while (enough - too_small > 1) {
    const int64_t middle = too_small + (enough - too_small) / 2;
    (RowsPerBatch(middle) <= rows ? enough : too_small) = middle;
  }
  return enough;
}

std::vector<ExpectedRemote::Point> ReportedSizes(const RemoteCurves& curves,
                                                 const Assignment& assignment,
                                                 absl::Span<const int64_t> cache_rows) {
  int64_t num_nodes = 0;
  for (const std::vector<int32_t>& shard_of : assignment.shard_of) {
    num_nodes += static_cast<int64_t>(shard_of.size());
  }
  const double mean_shard = static_cast<double>(num_nodes) / assignment.num_shards;
  std::vector<ExpectedRemote::Point> points;
  for (const int64_t rows : std::set<int64_t>(cache_rows.begin(), cache_rows.end())) {
    points.push_back({static_cast<double>(rows) / mean_shard, rows, 0});
  }
  if (points.empty()) {
    for (const double share : kShares) {
      points.push_back({share, std::llround(share * mean_shard), 0});
    }
    points.push_back({-1, curves.most_remote(), 0});
    std::sort(points.begin(), points.end(),
              [](const auto& a, const auto& b) { return a.cache_rows < b.cache_rows; });
  }
  for (ExpectedRemote::Point& point : points) {
    point.remote_rows = curves.RowsPerBatch(point.cache_rows);
  }
  return points;
}

ExpectedRemote ExpectRemote(const VipScores& scores, const HomePlan& plan,
                            const Assignment& assignment) {
  const RemoteCurves curves(scores, plan, assignment);
  ExpectedRemote expected;
  expected.rows = curves.all_rows();
  expected.points = ReportedSizes(curves, assignment);
  return expected;
}

}  // namespace vicinity
