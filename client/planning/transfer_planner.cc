#include "client/planning/transfer_planner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cache/vip/vip.h"
#include "client/options/words.h"
#include "client/planning/calibrated_scores.h"
#include "client/planning/expected_remote.h"
#include "client/planning/home_plan.h"
#include "client/planning/home_trace.h"
#include "client/planning/loader_forecast.h"
#include "client/planning/query_batches.h"
#include "client/types/loader_values.h"
#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/schema.h"
#include "proto/common/human_text.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// Whether a column is one that the user asks for, or else a query brings, or else loaders fetch.
// `brought`: of the type, by position; null: not by a query.
bool IsFetched(const NodeTypeSpec& type, const ColumnSpec& column, const PlanRequest& request,
               const std::set<int32_t>* brought) {
  if (!request.columns.empty()) {
    return std::find(request.columns.begin(), request.columns.end(), column.name) !=
           request.columns.end();
  }
  if (brought != nullptr) return brought->count(type.FindColumn(column.name)) > 0;
  return !type.HasRole(column.name);
}

// By node type: what is fetched of a row, `query` as HomePlan's. InvalidArgument for a column that
// no type has; FailedPrecondition if there is nothing to fetch.
absl::StatusOr<std::vector<WantedRows>> WantedOf(const Schema& schema, const PlanRequest& request,
                                                 const QueryBatches* query) {
  for (const std::string& name : request.columns) {
    const bool known =
        std::any_of(schema.node_types.begin(), schema.node_types.end(),
                    [&](const NodeTypeSpec& type) { return type.FindColumn(name) >= 0; });
    if (!known) return absl::InvalidArgumentError(absl::StrCat("no node type has a column ", name));
  }
  if (request.row_bytes > 0) {
    return std::vector<WantedRows>(schema.node_types.size(), {request.row_bytes, 1});
  }
  std::vector<WantedRows> wanted;
  for (const NodeTypeSpec& type : schema.node_types) {
    const NodeTypeId number{static_cast<int32_t>(wanted.size())};
    const bool brings = query != nullptr && query->brings_columns();
    const std::set<int32_t>* const brought = brings ? &query->columns(number) : nullptr;
    WantedRows& of_type = wanted.emplace_back(WantedRows{0, 0});
    for (const ColumnSpec& column : type.columns) {
      if (!IsFetched(type, column, request, brought)) continue;
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

TransferModel ModelOf(const PlanRequest& request, const HomePlan& plan, const RemoteCurves& curves,
                      double row_bytes, int32_t num_shards) {
  TransferModel model;
  model.row_bytes = row_bytes;
  model.link_gbps = request.link_gbps;
  model.trainers_per_home = request.loader.trainers_per_home;
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

void Answer(const PlanRequest& request, TransferPlan* plan) {
  const TransferModel& model = plan->model;
  const RemoteEstimate& estimate = *plan->estimate;
  const TransferCost none = CostOf(estimate, model, 0);
  if (request.rows_per_batch >= 0) {
    plan->wish = absl::StrFormat("%g remote rows a batch", request.rows_per_batch);
    plan->enough = CostOf(estimate, model, estimate.CacheFor(request.rows_per_batch));
  }
  if (request.seconds >= 0) {
    plan->wish = absl::StrFormat("%g s of transfer an epoch", request.seconds);
    // Seconds are proportional to rows.
    const double rows =
        none.epoch_seconds > 0 ? none.rows * request.seconds / none.epoch_seconds : none.rows;
    plan->enough = CostOf(estimate, model, estimate.CacheFor(rows));
  }
  if (request.share >= 0) {
    plan->wish = absl::StrFormat("%g %% of the remote rows", request.share * 100);
    plan->enough = CostOf(estimate, model, estimate.CacheFor(none.rows * request.share));
  }
  if (request.more_bytes > 0) {
    plan->before = CostOf(estimate, model, RowsIn(request.cache_bytes, model));
    plan->more = CostOf(estimate, model, RowsIn(request.cache_bytes + request.more_bytes, model));
  }
}

std::string LoaderText(const ForecastOptions& loader, bool seeds_from_all) {
  return absl::StrCat(
      "cache ", WordOf(loader.cache), ", seeds ", seeds_from_all ? "from all" : "of the home", ", ",
      loader.fetch_ahead, " batches fetched ahead in at most ", HumanBytes(loader.window_bytes),
      loader.cache == CachePolicy::kAuto ? absl::StrCat(", ", loader.sample_ahead, " sampled ahead")
                                         : "");
}

RemoteEstimate AloneAt(const std::vector<int64_t>& sizes, const RemoteCurves& curves) {
  std::vector<double> rows;
  for (const int64_t size : sizes) rows.push_back(curves.RowsPerBatch(size));
  return {sizes, rows};
}

absl::StatusOr<HomePlan> TrainersOf(const PlanRequest& request, const Dataset& dataset,
                                    const Assignment& assignment) {
  VICINITY_ASSIGN_OR_RETURN(HomePlan homes, PlanHomes(dataset, assignment, request.vip));
  // A loader has times of links that the user lists, which are dealt from all.
  const bool timed = !request.vip.time_column.empty();
  const SeedPolicy by_default =
      homes.links.empty() || timed ? SeedPolicy::kGlobal : SeedPolicy::kHome;
  if (request.seed_policy.value_or(by_default) == SeedPolicy::kGlobal) {
    DealFromAll(&homes);
  } else if (timed) {
    // As the loader says (client/loading/loader_setup.h).
    return absl::InvalidArgumentError("seeds of homes have no times: --seed-policy global");
  }
  return homes;
}

// What loaders' rankings are made of, if batches may be sampled.
absl::StatusOr<CalibratedScores> RankedBy(const Dataset& dataset, const HomePlan& homes,
                                          bool may_sample, Progress* progress) {
  CalibrationOptions calibration;
  if (!may_sample) calibration.most_epochs = 0;
  return CalibratedScoresOf(dataset, homes, calibration, progress);
}

void AddSizes(const std::vector<ExpectedRemote::Point>& points, TransferPlan* plan) {
  for (const ExpectedRemote::Point& point : points) {
    plan->sizes.push_back(CostOf(*plan->estimate, plan->model, point.cache_rows));
    plan->sizes.back().share = point.share;
    plan->alone_rows.push_back(point.remote_rows);
  }
}

}  // namespace

absl::Status PlanRequest::Validate() const {
  if (!(link_gbps > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("a link of ", link_gbps, " Gbit/s"));
  }
  if (row_bytes < 0 || loader.trainers_per_home < 1 || loader.least_batches < 0) {
    return absl::InvalidArgumentError(absl::StrCat(row_bytes, " bytes a row, ",
                                                   loader.trainers_per_home, " trainers a home, ",
                                                   loader.least_batches, " sampled batches"));
  }
  if (loader.fetch_ahead < 0 || loader.sample_ahead < 0) {
    return absl::InvalidArgumentError(absl::StrCat(loader.fetch_ahead, " batches fetched ahead, ",
                                                   loader.sample_ahead, " sampled ahead"));
  }
  for (const int64_t rows : cache_rows) {
    if (rows < 0) return absl::InvalidArgumentError(absl::StrCat("a cache of ", rows, " rows"));
  }
  if ((rows_per_batch >= 0) + (seconds >= 0) + (share >= 0) > 1) {
    return absl::InvalidArgumentError("one of rows per batch, seconds and share may be asked for");
  }
  if (loader.window_bytes < 0 || cache_bytes < 0 || more_bytes < 0) {
    return absl::InvalidArgumentError(absl::StrCat("a window of ", loader.window_bytes,
                                                   " bytes, a cache of ", cache_bytes, ", ",
                                                   more_bytes, " more"));
  }
  return absl::OkStatus();
}

absl::StatusOr<TransferPlan> PlanTransfers(const Dataset& dataset, const PlanRequest& request,
                                           Progress* progress) {
  VICINITY_RETURN_IF_ERROR(request.Validate());
  const Assignment assignment = AssignmentOf(dataset.book());
  VICINITY_ASSIGN_OR_RETURN(const HomePlan homes, TrainersOf(request, dataset, assignment));
  ForecastOptions loader = request.loader;
  VICINITY_ASSIGN_OR_RETURN(loader.wanted, WantedOf(dataset.schema(), request, homes.query.get()));
  std::vector<NodeTypeId> types;
  for (size_t type = 0; type < loader.wanted.size(); ++type) {
    if (loader.wanted[type].bytes > 0) types.push_back({static_cast<int32_t>(type)});
  }
  // Loaders give minibatches: of a query's answers each stands alone, and all of them are sampled.
  const bool of_query = homes.query != nullptr;
  const bool has_loader = loader.least_batches > 0 && !of_query;
  VICINITY_ASSIGN_OR_RETURN(const CalibratedScores calibrated,
                            RankedBy(dataset, homes, has_loader || of_query, progress));
  const VipScores& scores = calibrated.scores;
  const RemoteCurves curves(scores, homes, assignment, types);
  TransferPlan plan;
  plan.model = ModelOf(request, homes, curves, MeanRowBytes(loader.wanted, curves),
                       dataset.book().num_shards());
  plan.all_rows = curves.all_rows();
  const std::vector<ExpectedRemote::Point> points =
      ReportedSizes(curves, assignment, request.cache_rows);
  const std::vector<int64_t> sizes = PlannedSizes(curves, points);
  plan.alone = plan.estimate = AloneAt(sizes, curves);
  if (of_query) plan.query_batches = calibrated.num_batches;
  if (has_loader) {
    VICINITY_ASSIGN_OR_RETURN(
        const LoaderForecast forecast,
        ForecastLoaders(dataset, scores, homes, assignment, sizes, loader, progress));
    plan.estimate = RemoteEstimate(sizes, forecast.rows);
    plan.loader = {LoaderText(loader, homes.seeds_from_all), forecast.num_sampled,
                   forecast.num_counted};
  }
  AddSizes(points, &plan);
  Answer(request, &plan);
  return plan;
}

}  // namespace vicinity
