#include "client/cli/expected_remote.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cache/expected_rows.h"
#include "client/cli/output.h"
#include "proto/common/ids.h"

namespace vicinity::cli {
namespace {

constexpr std::array<double, 6> kShares = {0, 0.01, 0.05, 0.1, 0.2, 0.5};

std::vector<ExpectedRemote::Point> CacheSizes(const Assignment& assignment) {
  int64_t num_nodes = 0;
  for (const std::vector<int32_t>& shard_of : assignment.shard_of) {
    num_nodes += static_cast<int64_t>(shard_of.size());
  }
  const double mean_shard = static_cast<double>(num_nodes) / assignment.num_shards;
  std::vector<ExpectedRemote::Point> points;
  for (const double share : kShares) points.push_back({share, std::llround(share * mean_shard), 0});
  points.push_back({-1, 0, 0});
  return points;
}

double AllRows(const VipScores& scores, int32_t home) {
  double rows = 0;
  for (const std::vector<float>& values : scores.values) {
    for (size_t i = home; i < values.size(); i += scores.num_homes) rows += values[i];
  }
  return rows;
}

std::string ShareText(double share) {
  return share < 0 ? "all remote" : absl::StrFormat("%.0f %%", share * 100);
}

}  // namespace

ExpectedRemote ExpectRemote(const VipScores& scores, const HomePlan& plan,
                            const Assignment& assignment) {
  ExpectedRemote expected;
  expected.points = CacheSizes(assignment);
  int num_homes = 0;
  for (int32_t home = 0; home < scores.num_homes; ++home) {
    if (plan.seeds[home].nodes.empty()) continue;
    ++num_homes;
    const MissCurve curve = RemoteRows(scores, home, {}, [&](NodeTypeId type, GlobalNode node) {
      return plan.home_of[assignment.shard_of[type.value][node.value]] == home;
    });
    expected.rows += AllRows(scores, home);
    for (ExpectedRemote::Point& point : expected.points) {
      if (point.share < 0) point.cache_rows = std::max(point.cache_rows, curve.num_nodes());
      const int64_t cache_rows = point.share < 0 ? curve.num_nodes() : point.cache_rows;
      point.remote_rows += curve.RowsPerBatch(cache_rows);
    }
  }
  if (num_homes == 0) return expected;
  expected.rows /= num_homes;
  for (ExpectedRemote::Point& point : expected.points) point.remote_rows /= num_homes;
  return expected;
}

void PrintExpectedRemote(const ExpectedRemote& expected, std::ostream& out) {
  out << absl::StrFormat(
      "Expected rows a batch: %.0f. Remote rows, by cache size in %% of a mean "
      "shard's nodes:\n",
      expected.rows);
  Table table({{"cache", Table::Align::kRight},
               {"rows", Table::Align::kRight},
               {"remote rows a batch", Table::Align::kRight},
               {"of all rows", Table::Align::kRight}});
  for (const ExpectedRemote::Point& point : expected.points) {
    table.AddRow({ShareText(point.share), HumanCount(point.cache_rows),
                  absl::StrFormat("%.1f", point.remote_rows),
                  HumanPercent(expected.rows > 0 ? point.remote_rows / expected.rows : 0)});
  }
  table.Print(out);
}

nlohmann::ordered_json ExpectedRemoteJson(const ExpectedRemote& expected) {
  nlohmann::ordered_json json;
  json["rows_per_batch"] = expected.rows;
  json["by_cache_size"] = nlohmann::ordered_json::array();
  for (const ExpectedRemote::Point& point : expected.points) {
    nlohmann::ordered_json entry;
    if (point.share < 0) {
      entry["cache_share"] = nullptr;
    } else {
      entry["cache_share"] = point.share;
    }
    entry["cache_rows"] = point.cache_rows;
    entry["remote_rows_per_batch"] = point.remote_rows;
    json["by_cache_size"].push_back(entry);
  }
  return json;
}

}  // namespace vicinity::cli
