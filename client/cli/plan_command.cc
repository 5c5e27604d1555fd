#include "client/cli/plan_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cache/vip.h"
#include "client/cli/expected_remote.h"
#include "client/cli/home_plan.h"
#include "client/cli/line_chart.h"
#include "client/cli/measured_remote.h"
#include "client/cli/output.h"
#include "client/cli/svg_chart.h"
#include "client/cli/text_chart.h"
#include "client/cli/transfer_plan.h"
#include "partition/cut/assigner.h"
#include "partition/dataset.h"
#include "partition/schema.h"
#include "partition/whole_read.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

struct Flags {
  std::string directory;
  VipFlags vip;
  double link_gbps = 10;
  int64_t row_bytes = 0;  // 0: of the columns
  std::vector<std::string> columns;
  int64_t trainers_per_home = 1;
  double rows_per_batch = -1;  // -1: not asked
  double seconds = -1;
  double share = -1;
  std::string cache = "0";
  std::string more;
  MeasureOptions sampled;
  std::string picture;
  OutputFormat format = OutputFormat::kTable;
};

absl::Status CheckFlags(const Flags& flags) {
  if (!(flags.link_gbps > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("a link of ", flags.link_gbps, " Gbit/s"));
  }
  if (flags.row_bytes < 0 || flags.trainers_per_home < 1 || flags.sampled.least_batches < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(flags.row_bytes, " bytes a row, ", flags.trainers_per_home,
                     " trainers a home, ", flags.sampled.least_batches, " sampled batches"));
  }
  if ((flags.rows_per_batch >= 0) + (flags.seconds >= 0) + (flags.share >= 0) > 1) {
    return absl::InvalidArgumentError("one of --rows-per-batch, --seconds and --share");
  }
  for (const std::string& size : {flags.cache, flags.more}) {
    if (!size.empty() && ParseBytes(size) < 0) {
      return absl::InvalidArgumentError(absl::StrCat("'", size, "' is no size, as 512M or 8G"));
    }
  }
  return absl::OkStatus();
}

bool IsFetched(const NodeTypeSpec& type, const ColumnSpec& column, const Flags& flags) {
  if (!flags.columns.empty()) {
    return std::find(flags.columns.begin(), flags.columns.end(), column.name) !=
           flags.columns.end();
  }
  return column.name != type.label_column && column.name != type.split_column;
}

// By node type: the bytes of a row, 0 for types of which nothing is fetched. InvalidArgument for a
// column that no type has; FailedPrecondition if there is nothing to fetch.
absl::StatusOr<std::vector<int64_t>> RowBytes(const Schema& schema, const Flags& flags) {
  for (const std::string& name : flags.columns) {
    const bool known =
        std::any_of(schema.node_types.begin(), schema.node_types.end(),
                    [&](const NodeTypeSpec& type) { return type.FindColumn(name) >= 0; });
    if (!known) return absl::InvalidArgumentError(absl::StrCat("no node type has a column ", name));
  }
  if (flags.row_bytes > 0) {
    return std::vector<int64_t>(schema.node_types.size(), flags.row_bytes);
  }
  std::vector<int64_t> bytes;
  for (const NodeTypeSpec& type : schema.node_types) {
    int64_t& sum = bytes.emplace_back(0);
    for (const ColumnSpec& column : type.columns) {
      if (IsFetched(type, column, flags)) sum += column.row_bytes();
    }
  }
  if (std::all_of(bytes.begin(), bytes.end(), [](int64_t sum) { return sum == 0; })) {
    return absl::FailedPreconditionError(
        "no node type has columns beside labels and splits: give --row-bytes");
  }
  return bytes;
}

// Of all types, as often as a batch needs each.
double MeanRowBytes(const std::vector<int64_t>& row_bytes, const RemoteCurves& curves) {
  double rows = 0, bytes = 0;
  for (size_t type = 0; type < row_bytes.size(); ++type) {
    rows += curves.rows_by_type()[type];
    bytes += curves.rows_by_type()[type] * static_cast<double>(row_bytes[type]);
  }
  if (rows > 0) return bytes / rows;
  return static_cast<double>(*std::max_element(row_bytes.begin(), row_bytes.end()));
}

TransferModel ModelOf(const Flags& flags, const HomePlan& plan, const RemoteCurves& curves,
                      double row_bytes, int32_t num_shards) {
  TransferModel model;
  model.row_bytes = row_bytes;
  model.link_gbps = flags.link_gbps;
  model.trainers_per_home = flags.trainers_per_home;
  model.num_homes = curves.num_homes();
  model.num_shards = num_shards;
  for (size_t home = 0; home < plan.homes.size(); ++home) {
    const int64_t batch = flags.trainers_per_home * plan.options.batch_size;
    const int64_t num_seeds = plan.num_seeds(static_cast<int32_t>(home));
    model.steps = std::max(model.steps, (num_seeds + batch - 1) / batch);
  }
  return model;
}

int64_t RowsIn(int64_t bytes, const TransferModel& model) {
  return static_cast<int64_t>(static_cast<double>(bytes) / model.row_bytes);
}

void Answer(const Flags& flags, const RemoteEstimate& estimate, TransferPlan* plan) {
  const TransferModel& model = plan->model;
  const TransferCost none = CostOf(estimate, model, 0);
  if (flags.rows_per_batch >= 0) {
    plan->wish = absl::StrFormat("%g remote rows a batch", flags.rows_per_batch);
    plan->enough = CostOf(estimate, model, estimate.CacheFor(flags.rows_per_batch));
  }
  if (flags.seconds >= 0) {
    plan->wish = absl::StrFormat("%g s of transfer an epoch", flags.seconds);
    // Seconds are proportional to rows.
    const double rows =
        none.epoch_seconds > 0 ? none.rows * flags.seconds / none.epoch_seconds : none.rows;
    plan->enough = CostOf(estimate, model, estimate.CacheFor(rows));
  }
  if (flags.share >= 0) {
    plan->wish = absl::StrFormat("%g %% of the remote rows", flags.share * 100);
    plan->enough = CostOf(estimate, model, estimate.CacheFor(none.rows * flags.share));
  }
  if (!flags.more.empty()) {
    const int64_t cache = ParseBytes(flags.cache);
    plan->before = CostOf(estimate, model, RowsIn(cache, model));
    plan->more = CostOf(estimate, model, RowsIn(cache + ParseBytes(flags.more), model));
  }
}

absl::StatusOr<TransferPlan> MakePlan(const Flags& flags, const Dataset& dataset,
                                      Progress* progress) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> row_bytes,
                            RowBytes(dataset.schema(), flags));
  std::vector<NodeTypeId> types;
  for (size_t type = 0; type < row_bytes.size(); ++type) {
    if (row_bytes[type] > 0) types.push_back({static_cast<int32_t>(type)});
  }
  const Assignment assignment = AssignmentOf(dataset.book());
  VICINITY_ASSIGN_OR_RETURN(const HomePlan homes, PlanHomes(dataset, assignment, flags.vip));
  VICINITY_ASSIGN_OR_RETURN(const VipScores scores, ScoresOf(dataset, homes, progress));
  const RemoteCurves curves(scores, homes, assignment, types);
  TransferPlan plan;
  plan.model =
      ModelOf(flags, homes, curves, MeanRowBytes(row_bytes, curves), dataset.book().num_shards());
  plan.all_rows = curves.all_rows();
  std::vector<ExpectedRemote::Point> points = ReportedSizes(curves, assignment);
  std::sort(points.begin(), points.end(),
            [](const auto& a, const auto& b) { return a.cache_rows < b.cache_rows; });
  const std::vector<int64_t> cache_rows = CorrectedSizes(curves, points);
  VICINITY_ASSIGN_OR_RETURN(const MeasuredRemote measured,
                            MeasureRemote(dataset, scores, homes, assignment, types, cache_rows,
                                          flags.sampled, progress));
  const RemoteEstimate estimate(&curves, cache_rows, measured);
  plan.sampled_batches = measured.num_batches;
  plan.worst_error = estimate.worst_error();
  for (const ExpectedRemote::Point& point : points) {
    plan.sizes.push_back(CostOf(estimate, plan.model, point.cache_rows));
    plan.sizes.back().share = point.share;
    plan.vip_rows.push_back(point.remote_rows);
  }
  plan.curve = CurveOf(estimate, curves, cache_rows);
  Answer(flags, estimate, &plan);
  return plan;
}

absl::Status RunPlan(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_RETURN_IF_ERROR(CheckFlags(flags));
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset, OpenForPasses(flags.directory));
  VICINITY_ASSIGN_OR_RETURN(const TransferPlan plan, MakePlan(flags, *dataset, tool.progress));
  const LineChart chart = TransferChart(plan, dataset->manifest().name());
  if (!flags.picture.empty()) {
    VICINITY_RETURN_IF_ERROR(WriteFileAtomically(flags.picture, SvgChart(chart)));
  }
  if (flags.format == OutputFormat::kJson) {
    PrintJson(TransferPlanJson(plan), out);
    return absl::OkStatus();
  }
  PrintTransferPlan(plan, out);
  out << '\n';
  PrintTextChart(chart, out);
  return absl::OkStatus();
}

}  // namespace

Action DeclarePlan(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("DIRECTORY", flags->directory, "the dataset, cut into shards")->required();
  AddVipFlags(app, &flags->vip);
  AddLinkFlags(app, &flags->vip);
  app->add_option("--link-gbps", flags->link_gbps, "of every machine, each way, in Gbit/s");
  app->add_option("--columns", flags->columns, "of a row; default: all but labels and splits")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  app->add_option("--row-bytes", flags->row_bytes, "of a row, instead of those of its columns");
  app->add_option("--trainers-per-home", flags->trainers_per_home,
                  "that share a home's seeds and its machine's link");
  app->add_option("--rows-per-batch", flags->rows_per_batch,
                  "tell the cache that leaves so many remote rows a batch");
  app->add_option("--seconds", flags->seconds,
                  "tell the cache that leaves so many seconds of transfer an epoch");
  app->add_option("--share", flags->share,
                  "tell the cache that leaves this part of what is fetched without one, as 0.25");
  app->add_option("--more", flags->more, "tell what so much more cache would save, as 8G")
      ->type_name("SIZE");
  app->add_option("--cache", flags->cache, "more than what; default: no cache")->type_name("SIZE");
  app->add_option("--sampled-batches", flags->sampled.least_batches,
                  "sample at least so many, and until rows are known to 0.7 %, to correct the "
                  "estimate; 0: none");
  app->add_option("--run-seed", flags->sampled.run_seed, "of the sampling");
  app->add_option("--picture", flags->picture, "also draw a chart to this SVG file");
  AddFormatFlag(app, &flags->format);
  return [flags](const ToolContext& tool, std::ostream& out) { return RunPlan(*flags, tool, out); };
}

}  // namespace vicinity::cli
