#include "client/cli/commands/plan_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cache/vip/vip.h"
#include "client/cli/output/choices.h"
#include "client/cli/output/line_chart.h"
#include "client/cli/output/output.h"
#include "client/cli/output/svg_chart.h"
#include "client/cli/output/text_chart.h"
#include "client/planning/calibrated_scores.h"
#include "client/planning/expected_remote.h"
#include "client/planning/home_plan.h"
#include "client/planning/home_trace.h"
#include "client/planning/loader_forecast.h"
#include "client/planning/transfer_plan.h"
#include "client/types/loader_values.h"
#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/schema.h"
#include "partition/dataset/whole_read.h"
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
  double rows_per_batch = -1;  // -1: not asked
  double seconds = -1;
  double share = -1;
  std::string cache = "0";
  std::string more;
  std::optional<SeedPolicy> seed_policy;  // none: home's for links, else global
  std::string window = "256M";
  ForecastOptions loader;
  std::string picture;
  OutputFormat format = OutputFormat::kTable;
};

absl::Status CheckFlags(const Flags& flags) {
  if (!(flags.link_gbps > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("a link of ", flags.link_gbps, " Gbit/s"));
  }
  const ForecastOptions& loader = flags.loader;
  if (flags.row_bytes < 0 || loader.trainers_per_home < 1 || loader.least_batches < 0) {
    return absl::InvalidArgumentError(absl::StrCat(flags.row_bytes, " bytes a row, ",
                                                   loader.trainers_per_home, " trainers a home, ",
                                                   loader.least_batches, " sampled batches"));
  }
  if (loader.fetch_ahead < 0 || loader.sample_ahead < 0) {
    return absl::InvalidArgumentError(absl::StrCat(loader.fetch_ahead, " batches fetched ahead, ",
                                                   loader.sample_ahead, " sampled ahead"));
  }
  if ((flags.rows_per_batch >= 0) + (flags.seconds >= 0) + (flags.share >= 0) > 1) {
    return absl::InvalidArgumentError("one of --rows-per-batch, --seconds and --share");
  }
  for (const std::string& size : {flags.cache, flags.more, flags.window}) {
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
  return !type.HasRole(column.name);
}

// By node type: what is fetched of a row. InvalidArgument for a column that no type has;
// FailedPrecondition if there is nothing to fetch.
absl::StatusOr<std::vector<WantedRows>> WantedOf(const Schema& schema, const Flags& flags) {
  for (const std::string& name : flags.columns) {
    const bool known =
        std::any_of(schema.node_types.begin(), schema.node_types.end(),
                    [&](const NodeTypeSpec& type) { return type.FindColumn(name) >= 0; });
    if (!known) return absl::InvalidArgumentError(absl::StrCat("no node type has a column ", name));
  }
  if (flags.row_bytes > 0) {
    return std::vector<WantedRows>(schema.node_types.size(), {flags.row_bytes, 1});
  }
  std::vector<WantedRows> wanted;
  for (const NodeTypeSpec& type : schema.node_types) {
    WantedRows& of_type = wanted.emplace_back(WantedRows{0, 0});
    for (const ColumnSpec& column : type.columns) {
      if (!IsFetched(type, column, flags)) continue;
      of_type.bytes += column.row_bytes();
      ++of_type.columns;
    }
  }
  const bool none = std::all_of(wanted.begin(), wanted.end(),
                                [](const WantedRows& of_type) { return of_type.bytes == 0; });
  if (!none) return wanted;
  return absl::FailedPreconditionError(
      "no node type has columns beside labels and splits: give --row-bytes");
}

// Of all types, as often as a batch needs each.
double MeanRowBytes(const std::vector<WantedRows>& wanted, const RemoteCurves& curves) {
  double rows = 0, bytes = 0;
  int64_t widest = 0;
  for (size_t type = 0; type < wanted.size(); ++type) {
    rows += curves.rows_by_type()[type];
    bytes += curves.rows_by_type()[type] * static_cast<double>(wanted[type].bytes);
    widest = std::max(widest, wanted[type].bytes);
  }
  return rows > 0 ? bytes / rows : static_cast<double>(widest);
}

TransferModel ModelOf(const Flags& flags, const HomePlan& plan, const RemoteCurves& curves,
                      double row_bytes, int32_t num_shards) {
  TransferModel model;
  model.row_bytes = row_bytes;
  model.link_gbps = flags.link_gbps;
  model.trainers_per_home = flags.loader.trainers_per_home;
  model.num_homes = curves.num_homes();
  model.num_shards = num_shards;
  for (size_t home = 0; home < plan.homes.size(); ++home) {
    const int64_t num_trainers =
        model.trainers_per_home * (plan.seeds_from_all ? model.num_homes : 1);
    const int64_t batch = num_trainers * plan.options.batch_size;
    const int64_t num_seeds = plan.num_seeds(static_cast<int32_t>(home));
    model.steps = std::max(model.steps, (num_seeds + batch - 1) / batch);
  }
  return model;
}

int64_t RowsIn(int64_t bytes, const TransferModel& model) {
  return static_cast<int64_t>(static_cast<double>(bytes) / model.row_bytes);
}

void Answer(const Flags& flags, TransferPlan* plan) {
  const TransferModel& model = plan->model;
  const RemoteEstimate& estimate = *plan->estimate;
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

std::string LoaderText(const ForecastOptions& loader, bool seeds_from_all) {
  static constexpr const char* kCaches[] = {"none", "vip", "auto"};
  return absl::StrCat("cache ", kCaches[static_cast<int>(loader.cache)], ", seeds ",
                      seeds_from_all ? "from all" : "of the home", ", ", loader.fetch_ahead,
                      " batches fetched ahead in at most ", HumanBytes(loader.window_bytes),
                      loader.cache == CachePolicy::kAuto
                          ? absl::StrCat(", ", loader.sample_ahead, " sampled ahead")
                          : "");
}

RemoteEstimate AloneAt(const std::vector<int64_t>& sizes, const RemoteCurves& curves) {
  std::vector<double> rows;
  for (const int64_t size : sizes) rows.push_back(curves.RowsPerBatch(size));
  return {sizes, rows};
}

absl::StatusOr<HomePlan> TrainersOf(const Flags& flags, const Dataset& dataset,
                                    const Assignment& assignment) {
  VICINITY_ASSIGN_OR_RETURN(HomePlan homes, PlanHomes(dataset, assignment, flags.vip));
  const SeedPolicy by_default = homes.links.empty() ? SeedPolicy::kGlobal : SeedPolicy::kHome;
  if (flags.seed_policy.value_or(by_default) == SeedPolicy::kGlobal) {
    VICINITY_RETURN_IF_ERROR(DealFromAll(&homes));
  }
  return homes;
}

// What loaders' rankings are made of, if batches may be sampled.
absl::StatusOr<VipScores> RankedBy(const Dataset& dataset, const HomePlan& homes, bool may_sample,
                                   Progress* progress) {
  CalibrationOptions calibration;
  if (!may_sample) calibration.most_epochs = 0;
  VICINITY_ASSIGN_OR_RETURN(CalibratedScores calibrated,
                            CalibratedScoresOf(dataset, homes, calibration, progress));
  return std::move(calibrated.scores);
}

void AddSizes(const std::vector<ExpectedRemote::Point>& points, TransferPlan* plan) {
  for (const ExpectedRemote::Point& point : points) {
    plan->sizes.push_back(CostOf(*plan->estimate, plan->model, point.cache_rows));
    plan->sizes.back().share = point.share;
    plan->alone_rows.push_back(point.remote_rows);
  }
}

absl::StatusOr<TransferPlan> MakePlan(const Flags& flags, const Dataset& dataset,
                                      Progress* progress) {
  ForecastOptions loader = flags.loader;
  loader.window_bytes = ParseBytes(flags.window);
  VICINITY_ASSIGN_OR_RETURN(loader.wanted, WantedOf(dataset.schema(), flags));
  std::vector<NodeTypeId> types;
  for (size_t type = 0; type < loader.wanted.size(); ++type) {
    if (loader.wanted[type].bytes > 0) types.push_back({static_cast<int32_t>(type)});
  }
  const Assignment assignment = AssignmentOf(dataset.book());
  VICINITY_ASSIGN_OR_RETURN(const HomePlan homes, TrainersOf(flags, dataset, assignment));
  VICINITY_ASSIGN_OR_RETURN(const VipScores scores,
                            RankedBy(dataset, homes, loader.least_batches > 0, progress));
  const RemoteCurves curves(scores, homes, assignment, types);
  TransferPlan plan;
  plan.model = ModelOf(flags, homes, curves, MeanRowBytes(loader.wanted, curves),
                       dataset.book().num_shards());
  plan.all_rows = curves.all_rows();
  std::vector<ExpectedRemote::Point> points = ReportedSizes(curves, assignment);
  std::sort(points.begin(), points.end(),
            [](const auto& a, const auto& b) { return a.cache_rows < b.cache_rows; });
  const std::vector<int64_t> sizes = PlannedSizes(curves, points);
  plan.alone = plan.estimate = AloneAt(sizes, curves);
  if (loader.least_batches > 0) {
    VICINITY_ASSIGN_OR_RETURN(
        const LoaderForecast forecast,
        ForecastLoaders(dataset, scores, homes, assignment, sizes, loader, progress));
    plan.estimate = RemoteEstimate(sizes, forecast.rows);
    plan.loader = {LoaderText(loader, homes.seeds_from_all), forecast.num_sampled,
                   forecast.num_counted};
  }
  AddSizes(points, &plan);
  Answer(flags, &plan);
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

// Named as the options of loaders are (client/loader.h).
void AddLoaderFlags(CLI::App* app, Flags* flags) {
  const std::map<std::string, CachePolicy> caches = {
      {"none", CachePolicy::kNone}, {"vip", CachePolicy::kVip}, {"auto", CachePolicy::kAuto}};
  app->add_option("--policy", flags->loader.cache, "the loader's cache: none, vip or auto")
      ->type_name("none|vip|auto")
      ->transform(Choices(caches))
      ->default_str("auto");
  const std::map<std::string, SeedPolicy> seeds = {{"global", SeedPolicy::kGlobal},
                                                   {"home", SeedPolicy::kHome}};
  app->add_option("--seed-policy", flags->seed_policy,
                  "a trainer's seeds: dealt from all of them, or those of its home")
      ->type_name("global|home")
      ->transform(Choices(seeds));
  app->add_option("--fetch-ahead", flags->loader.fetch_ahead,
                  "batches whose rows are fetched before they are trained on");
  app->add_option("--window", flags->window, "what these may hold at most")->type_name("SIZE");
  app->add_option("--sample-ahead", flags->loader.sample_ahead,
                  "with auto: batches more that are sampled before that");
  app->add_option("--sampled-batches", flags->loader.least_batches,
                  "count at least so many sampled batches; 0: sample none, go by the VIP formula");
  app->add_option("--run-seed", flags->loader.run_seed, "of the sampling");
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
  app->add_option("--trainers-per-home", flags->loader.trainers_per_home,
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
  AddLoaderFlags(app, flags.get());
  app->add_option("--picture", flags->picture, "also draw a chart to this SVG file");
  AddFormatFlag(app, &flags->format);
  return [flags](const ToolContext& tool, std::ostream& out) { return RunPlan(*flags, tool, out); };
}

}  // namespace vicinity::cli
