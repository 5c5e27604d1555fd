#include "client/cli/transfer_plan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "client/cli/output.h"

namespace vicinity::cli {
namespace {

// Beyond this the estimate is called poor.
constexpr double kGoodError = 0.03;

std::string Bytes(double bytes) { return HumanBytes(std::llround(bytes)); }

int64_t CacheBytes(const TransferCost& cost, const TransferModel& model) {
  return std::llround(static_cast<double>(cost.cache_rows) * model.row_bytes);
}

nlohmann::ordered_json CostJson(const TransferCost& cost, const TransferModel& model) {
  nlohmann::ordered_json json;
  json["cache_rows"] = cost.cache_rows;
  json["cache_bytes"] = CacheBytes(cost, model);
  json["remote_rows_per_batch"] = cost.rows;
  json["bytes_per_batch"] = cost.batch_bytes;
  json["seconds_per_batch"] = cost.batch_seconds;
  json["remote_rows_per_epoch"] = cost.epoch_rows;
  json["bytes_per_epoch"] = cost.epoch_bytes;
  json["seconds_per_epoch"] = cost.epoch_seconds;
  return json;
}

// With fewer rows seen in all, noise is as large as the error looked for.
constexpr double kTellingRows = 2000;
// So many tell the analysis' own error.
constexpr double kSureRows = 10000;

void PrintSampled(const TransferPlan& plan, std::ostream& out) {
  if (plan.sampled_batches == 0) {
    out << "Not checked against sampled batches (--sampled-batches).\n";
    return;
  }
  out << absl::StrFormat(
      "Corrected by %d sampled batches. The VIP analysis alone is off by %.1f %% at most%s",
      plan.sampled_batches, plan.worst_error * 100,
      plan.worst_error <= kGoodError
          ? ".\n"
          : ":\nit takes the ways to a node as independent, and here many share parts.\n");
}

void PrintAnswers(const TransferPlan& plan, std::ostream& out) {
  if (plan.enough.has_value()) {
    out << absl::StrFormat("For %s: a cache of %s rows (%s) in every trainer.\n", plan.wish,
                           HumanCount(plan.enough->cache_rows),
                           HumanBytes(CacheBytes(*plan.enough, plan.model)));
  }
  if (plan.more.has_value()) {
    const TransferCost& before = *plan.before;
    const TransferCost& more = *plan.more;
    out << absl::StrFormat(
        "From %s to %s of cache: %.1f rows and %s a batch less; %s and %s an epoch less.\n",
        HumanBytes(CacheBytes(before, plan.model)), HumanBytes(CacheBytes(more, plan.model)),
        before.rows - more.rows, Bytes(before.batch_bytes - more.batch_bytes),
        Bytes(before.epoch_bytes - more.epoch_bytes),
        HumanSeconds(before.epoch_seconds - more.epoch_seconds));
  }
}

}  // namespace

std::vector<int64_t> CorrectedSizes(const RemoteCurves& curves,
                                    absl::Span<const ExpectedRemote::Point> reported) {
  constexpr int64_t kSteps = 48;
  std::set<int64_t> sizes;
  for (const ExpectedRemote::Point& point : reported) sizes.insert(point.cache_rows);
  for (int64_t i = 0; i <= kSteps; ++i) {
    const double part = static_cast<double>(i * i * i) / (kSteps * kSteps * kSteps);
    sizes.insert(std::llround(part * static_cast<double>(curves.most_remote())));
  }
  return {sizes.begin(), sizes.end()};
}

RemoteEstimate::RemoteEstimate(const RemoteCurves* curves, absl::Span<const int64_t> cache_rows,
                               const MeasuredRemote& measured)
    : curves_(curves) {
  for (size_t i = 0; i < measured.rows.size(); ++i) {
    const double rows = measured.rows[i];
    if (rows * static_cast<double>(measured.num_batches) < kTellingRows) continue;
    const double expected = curves->RowsPerBatch(cache_rows[i]);
    if (!(expected > 0)) continue;
    factors_.emplace_back(cache_rows[i], rows / expected);
    if (rows * static_cast<double>(measured.num_batches) < kSureRows) continue;
    worst_error_ = std::max(worst_error_, std::abs(expected / rows - 1));
  }
}

double RemoteEstimate::Correction(int64_t cache_rows) const {
  if (factors_.empty()) return 1;
  const auto above = std::upper_bound(
      factors_.begin(), factors_.end(), cache_rows,
      [](int64_t rows, const std::pair<int64_t, double>& factor) { return rows < factor.first; });
  if (above == factors_.begin()) return above->second;
  const auto below = above - 1;
  if (above == factors_.end()) return below->second;
  const double part = static_cast<double>(cache_rows - below->first) /
                      static_cast<double>(above->first - below->first);
  return below->second + part * (above->second - below->second);
}

double RemoteEstimate::RowsPerBatch(int64_t cache_rows) const {
  return curves_->RowsPerBatch(cache_rows) * Correction(cache_rows);
}

int64_t RemoteEstimate::CacheFor(double rows) const {
  int64_t too_small = -1, enough = curves_->most_remote();
  while (enough - too_small > 1) {
    const int64_t middle = too_small + (enough - too_small) / 2;
    (RowsPerBatch(middle) <= rows ? enough : too_small) = middle;
  }
  return enough;
}

TransferCost CostOf(const RemoteEstimate& estimate, const TransferModel& model,
                    int64_t cache_rows) {
  TransferCost cost;
  cost.share = -2;
  cost.cache_rows = cache_rows;
  cost.rows = estimate.RowsPerBatch(cache_rows);
  cost.batch_bytes = cost.rows * model.row_bytes;
  const double trainers = static_cast<double>(model.trainers_per_home * model.num_homes);
  // Into a home's machine go its trainers' rows; out of a shard's its part of everybody's.
  const double busiest = std::max(static_cast<double>(model.trainers_per_home),
                                  trainers / static_cast<double>(model.num_shards));
  cost.batch_seconds = cost.batch_bytes * busiest * 8 / (model.link_gbps * 1e9);
  const double steps = static_cast<double>(model.steps);
  cost.epoch_rows = cost.rows * trainers * steps;
  cost.epoch_bytes = cost.batch_bytes * trainers * steps;
  cost.epoch_seconds = cost.batch_seconds * steps;
  return cost;
}

std::vector<CurvePoint> CurveOf(const RemoteEstimate& estimate, const RemoteCurves& curves,
                                absl::Span<const int64_t> cache_rows) {
  std::vector<CurvePoint> curve;
  for (const int64_t rows : cache_rows) {
    curve.push_back({rows, estimate.RowsPerBatch(rows), curves.RowsPerBatch(rows)});
  }
  return curve;
}

void PrintTransferPlan(const TransferPlan& plan, std::ostream& out) {
  const TransferModel& model = plan.model;
  out << absl::StrFormat(
      "%d homes, %d trainers each, %d shards; rows of %s over %g Gbit/s.\n"
      "A batch needs %.0f rows, near and remote; an epoch has %s batches a trainer.\n"
      "Cache: in every trainer, in %% of a mean shard's nodes. Epoch: bytes of all trainers.\n\n",
      model.num_homes, model.trainers_per_home, model.num_shards, Bytes(model.row_bytes),
      model.link_gbps, plan.all_rows, HumanCount(model.steps));
  using Align = Table::Align;
  Table table({{"cache", Align::kRight},
               {"rows", Align::kRight},
               {"bytes", Align::kRight},
               {"remote rows a batch", Align::kRight},
               {"by VIP alone", Align::kRight},
               {"bytes", Align::kRight},
               {"time", Align::kRight},
               {"an epoch: bytes", Align::kRight},
               {"time", Align::kRight}});
  for (size_t i = 0; i < plan.sizes.size(); ++i) {
    const TransferCost& cost = plan.sizes[i];
    table.AddRow({CacheShareText(cost.share), HumanCount(cost.cache_rows),
                  HumanBytes(CacheBytes(cost, model)), absl::StrFormat("%.1f", cost.rows),
                  absl::StrFormat("%.1f", plan.vip_rows[i]), Bytes(cost.batch_bytes),
                  HumanSeconds(cost.batch_seconds), Bytes(cost.epoch_bytes),
                  HumanSeconds(cost.epoch_seconds)});
  }
  table.Print(out);
  out << '\n';
  PrintSampled(plan, out);
  PrintAnswers(plan, out);
}

nlohmann::ordered_json TransferPlanJson(const TransferPlan& plan) {
  nlohmann::ordered_json json;
  json["homes"] = plan.model.num_homes;
  json["trainers_per_home"] = plan.model.trainers_per_home;
  json["shards"] = plan.model.num_shards;
  json["row_bytes"] = plan.model.row_bytes;
  json["link_gbps"] = plan.model.link_gbps;
  json["batches_per_epoch"] = plan.model.steps;
  json["rows_per_batch"] = plan.all_rows;
  json["by_cache_size"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < plan.sizes.size(); ++i) {
    nlohmann::ordered_json size = CostJson(plan.sizes[i], plan.model);
    size["vip_rows_per_batch"] = plan.vip_rows[i];
    json["by_cache_size"].push_back(size);
  }
  json["sampled_batches"] = plan.sampled_batches;
  json["vip_worst_error"] = nullptr;
  if (plan.sampled_batches > 0) json["vip_worst_error"] = plan.worst_error;
  if (plan.enough.has_value()) json["enough"] = CostJson(*plan.enough, plan.model);
  if (plan.more.has_value()) {
    json["before"] = CostJson(*plan.before, plan.model);
    json["more"] = CostJson(*plan.more, plan.model);
  }
  return json;
}

LineChart TransferChart(const TransferPlan& plan, const std::string& dataset_name) {
  LineChart chart;
  chart.title = absl::StrCat(dataset_name, ": remote rows a batch, by cache size");
  chart.x_label = "rows in every trainer's cache";
  chart.y_label = "remote rows a batch";
  LineChart::Series corrected{"corrected by sampling", {}}, alone{"VIP alone", {}};
  for (const CurvePoint& point : plan.curve) {
    const double cache_rows = static_cast<double>(point.cache_rows);
    corrected.points.emplace_back(cache_rows, point.rows);
    alone.points.emplace_back(cache_rows, point.vip_rows);
  }
  if (plan.sampled_batches > 0) chart.series.push_back(corrected);
  chart.series.push_back(alone);
  return chart;
}

}  // namespace vicinity::cli
