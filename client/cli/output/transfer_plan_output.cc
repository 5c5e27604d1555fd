#include "client/cli/output/transfer_plan_output.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/output/expected_remote_output.h"
#include "client/cli/output/line_chart.h"
#include "client/cli/output/output.h"
#include "client/planning/transfer_plan.h"
#include "proto/common/human_text.h"

namespace vicinity::cli {
namespace {

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

// How the figures came about.
void PrintSource(const TransferPlan& plan, std::ostream& out) {
  if (plan.query_batches > 0) {
    out << absl::StrFormat(
        "By %s sampled answers of the query, each alone with a cache that never changes: rows "
        "that\n"
        "whoever runs the query holds. The library fetches those of every run anew.\n",
        HumanCount(plan.query_batches));
    return;
  }
  if (!plan.loader.has_value()) {
    out << "By the VIP formula, of a batch alone with a cache that never changes. What a loader "
           "fetches\n"
           "is less, and told with --sampled-batches.\n";
    return;
  }
  out << absl::StrFormat(
      "Counted on %s sampled batches, %s of them to warm the caches: what this loader fetches in\n"
      "later epochs where sampling keeps ahead of training. A batch alone shares no rows with\n"
      "others, and its cache never changes.\n",
      HumanCount(plan.loader->num_sampled),
      HumanCount(plan.loader->num_sampled - plan.loader->num_counted));
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

void PrintTransferPlan(const TransferPlan& plan, std::ostream& out) {
  const TransferModel& model = plan.model;
  out << absl::StrFormat(
      "%d homes, %d trainers each, %d shards; rows of %s over %g Gbit/s.\n"
      "A batch needs %.0f rows, near and remote; an epoch has %s batches a trainer.\n"
      "%s"
      "Cache: in every trainer, in %% of a mean shard's nodes%s.\n"
      "Epoch: bytes of all trainers.\n\n",
      model.num_homes, model.trainers_per_home, model.num_shards, Bytes(model.row_bytes),
      model.link_gbps, plan.all_rows, HumanCount(model.steps),
      plan.loader.has_value() ? absl::StrCat("Loader: ", plan.loader->text, ".\n") : "",
      plan.loader.has_value() ? ", rows of batches in flight included" : "");
  using Align = Table::Align;
  Table table({{"cache", Align::kRight},
               {"rows", Align::kRight},
               {"bytes", Align::kRight},
               {"remote rows a batch", Align::kRight},
               {plan.loader.has_value() ? "of one alone" : "", Align::kRight},
               {"bytes", Align::kRight},
               {"time", Align::kRight},
               {"an epoch: bytes", Align::kRight},
               {"time", Align::kRight}});
  for (size_t i = 0; i < plan.sizes.size(); ++i) {
    const TransferCost& cost = plan.sizes[i];
    table.AddRow({CacheShareText(cost.share), HumanCount(cost.cache_rows),
                  HumanBytes(CacheBytes(cost, model)), absl::StrFormat("%.1f", cost.rows),
                  plan.loader.has_value() ? absl::StrFormat("%.1f", plan.alone_rows[i]) : "",
                  Bytes(cost.batch_bytes), HumanSeconds(cost.batch_seconds),
                  Bytes(cost.epoch_bytes), HumanSeconds(cost.epoch_seconds)});
  }
  table.Print(out);
  out << '\n';
  PrintSource(plan, out);
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
    size["alone_rows_per_batch"] = plan.alone_rows[i];
    json["by_cache_size"].push_back(size);
  }
  json["loader"] = nullptr;
  if (plan.loader.has_value()) json["loader"] = plan.loader->text;
  json["sampled_batches"] = plan.loader.has_value() ? plan.loader->num_sampled : plan.query_batches;
  json["counted_batches"] = plan.loader.has_value() ? plan.loader->num_counted : 0;
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
  const auto add = [&](const std::string& name, const std::optional<RemoteEstimate>& estimate) {
    if (!estimate.has_value()) return;
    LineChart::Series series{name, {}};
    for (const int64_t rows : estimate->sizes()) {
      series.points.emplace_back(static_cast<double>(rows), estimate->RowsPerBatch(rows));
    }
    chart.series.push_back(std::move(series));
  };
  if (plan.loader.has_value()) add("this loader", plan.estimate);
  add("a batch alone", plan.alone);
  return chart;
}

}  // namespace vicinity::cli
