#include "client/loading/loader_setup.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/loading/device_setup.h"
#include "client/loading/ranked_draws.h"
#include "client/loading/row_cache.h"
#include "client/loading/seed_list.h"
#include "client/shards/lookups.h"
#include "partition/dataset/ranking.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/status.h"
#include "sampler/minibatch_sampler.h"

namespace vicinity {
namespace {

constexpr int kMaxThreads = 256;
// Links of a batch whose edges are excluded: as many as a request holds of one target
// (client/rpc/hop_pieces.cc).
constexpr int64_t kMostExcluding = int64_t{1} << 17;
// A year, which no sum with the clock's time overflows.
constexpr std::chrono::milliseconds kMostTimeout = std::chrono::hours(24 * 365);

absl::Status Positive(const char* what, int64_t value, int64_t most) {
  if (value >= 1 && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " ", value, " is not from 1 to ", most));
}

// kHome: from each shard of its home a trainer takes the seeds that fall to it.
absl::StatusOr<TrainerSeeds> ReadHomeSeeds(const ShardRouter& router, const SeedSource& source,
                                           const LoaderOptions& options) {
  const std::vector<std::vector<int32_t>> homes = HomesOf(router, options);
  const SharedSeeds shared = ShareSeeds(homes, router.book().num_shards());
  TrainerSeeds result;
  result.nodes_per_seed = static_cast<int64_t>(source.types().size());
  result.list_sizes.resize(homes.size(), 0);
  for (int32_t shard = 0; shard < router.book().num_shards(); ++shard) {
    VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> seeds, source.Seeds({shard}));
    const auto num_seeds = static_cast<int64_t>(seeds.size()) / result.nodes_per_seed;
    for (size_t trainer = 0; trainer < homes.size(); ++trainer) {
      const auto found = std::find(homes[trainer].begin(), homes[trainer].end(), shard);
      if (found == homes[trainer].end()) continue;
      const int64_t place = shared.place[trainer][found - homes[trainer].begin()];
      result.list_sizes[trainer] += shared.Share(shard, place, num_seeds);
      if (static_cast<int32_t>(trainer) != options.trainer) continue;
      for (int64_t i = place; i < num_seeds; i += shared.sharers[shard]) {
        const auto seed = seeds.begin() + i * result.nodes_per_seed;
        result.seeds.insert(result.seeds.end(), seed, seed + result.nodes_per_seed);
      }
    }
  }
  return result;
}

// Which rows the cache may hold, and what they cost of it.
CacheOptions CacheOf(const ShardRouter& router, const LoaderOptions& options,
                     const SeedShards& seeds, const std::vector<ColumnPlan>& plans) {
  const bool by_rows = options.cache_rows > 0;
  CacheOptions cache;
  cache.ranking = options.ranking;
  cache.seeds = seeds;
  cache.capacity = by_rows ? options.cache_rows : options.cache_bytes;
  for (const ColumnPlan& plan : plans) {
    const auto found = std::find(cache.types.begin(), cache.types.end(), plan.type);
    const size_t at = found - cache.types.begin();
    if (found == cache.types.end()) {
      cache.types.push_back(plan.type);
      cache.row_costs.push_back(0);
    }
    cache.row_costs[at] += by_rows ? 0 : router.RowBytes(plan.type, plan.column);
  }
  for (int64_t& cost : cache.row_costs) cost = std::max<int64_t>(1, cost);
  return cache;
}

// How the ranking's draws differ from the loader's, to be told behind its name.
std::string OtherDraws(const ShardRouter& router, const LoaderOptions& options) {
  for (const RankingHomes& ranking : router.rankings()) {
    if (ranking.name != options.ranking) continue;
    const std::string apart = DrawsApart(ranking.draws, options.sampling);
    return apart.empty() ? "" : absl::StrCat(", made for other draws: ", apart);
  }
  return "";
}

absl::StatusOr<CacheRows> ChooseRows(const ShardRouter& router, const LoaderOptions& options,
                                     const SeedShards& seeds, const std::vector<ColumnPlan>& plans,
                                     std::string* ranked_by) {
  CacheOptions cache = CacheOf(router, options, seeds, plans);
  if (options.cache == CachePolicy::kNone) cache.capacity = 0;
  if (cache.capacity == 0) return DealCache(router, cache);
  absl::StatusOr<CacheRows> rows = ChooseCached(router, cache);
  if (rows.ok()) {
    *ranked_by = absl::StrCat(options.ranking, OtherDraws(router, options));
  } else if (options.cache == CachePolicy::kAuto && options.ranking == kDefaultRanking &&
             absl::IsNotFound(rows.status())) {
    *ranked_by = absl::StrCat("none: ", rows.status().message());
    return DealCache(router, cache);
  }
  return rows;
}

absl::Status FillPools(const ShardRouter& router, const CacheRows& rows,
                       absl::Span<ColumnPlan> plans) {
  for (ColumnPlan& plan : plans) {
    if (router.RowBytes(plan.type, plan.column) == 0) continue;  // nothing to hold
    plan.cache_rows = rows.capacity[plan.type.value];
    VICINITY_ASSIGN_OR_RETURN(plan.pool, FillPool(router, plan.type, plan.column, plan.cache_rows,
                                                  rows.ranked[plan.type.value]));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ColumnPlan>> FindColumns(const Schema& schema,
                                                    const LoaderOptions& options) {
  std::vector<ColumnPlan> plans;
  for (const LoaderOptions::ColumnRequest& request : options.columns) {
    ColumnPlan plan;
    VICINITY_ASSIGN_OR_RETURN(plan.type, FindNodeType(schema, request.node_type));
    const NodeTypeSpec& spec = schema.node_types[plan.type.value];
    if (spec.FindRagged(request.column) >= 0) continue;
    VICINITY_ASSIGN_OR_RETURN(plan.column, FindNodeColumn(spec, request.column));
    plans.push_back(std::move(plan));
  }
  return plans;
}

void AddUserIds(const Schema& schema, std::vector<ColumnPlan>* plans) {
  for (int32_t type = 0; type < static_cast<int32_t>(schema.node_types.size()); ++type) {
    if (schema.node_types[type].id_kind == IdKind::kString) continue;
    ColumnPlan& plan = plans->emplace_back();
    plan.type = {type};
    plan.column = kKeyColumn;
  }
}

// `name`: as LoaderOptions::reverse_edge_type.
absl::StatusOr<EdgeTypeId> FindReverse(const Schema& schema, EdgeTypeId links,
                                       const std::string& name) {
  const EdgeTypeSpec& there = schema.edge_types[links.value];
  if (name.empty() && there.source_type == there.target_type) return links;
  std::vector<int32_t> back;
  std::string names;
  for (int32_t type = 0; type < static_cast<int32_t>(schema.edge_types.size()); ++type) {
    const EdgeTypeSpec& spec = schema.edge_types[type];
    if (spec.source_type != there.target_type || spec.target_type != there.source_type) continue;
    if (!name.empty() && schema.FindEdgeType(name) == type) return EdgeTypeId{type};
    back.push_back(type);
    absl::StrAppend(&names, " ", schema.EdgeTypeName(type));
  }
  if (name.empty() && back.size() == 1) return EdgeTypeId{back.front()};
  return absl::InvalidArgumentError(absl::StrCat(
      "reverse_edge_type \"", name, "\" is not the one edge type that leads back from links of ",
      schema.EdgeTypeName(links.value), "; there are:", back.empty() ? " none" : names));
}

absl::Status CheckDeviceOptions(const DeviceOptions& options) {
  constexpr int32_t kMostTensors = 1024;
  constexpr int64_t kMostStaging = int64_t{1} << 40;
  VICINITY_RETURN_IF_ERROR(Positive("device.batches", options.batches, kMostTensors));
  VICINITY_RETURN_IF_ERROR(Positive("device.staging_bytes", options.staging_bytes, kMostStaging));
  if (options.home_bytes >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("device.home_bytes ", options.home_bytes, " is below 0"));
}

}  // namespace

absl::Status CheckLoaderOptions(const ShardRouter& router, const LoaderOptions& options) {
  VICINITY_RETURN_IF_ERROR(CheckLoadingOptions(router, options));
  const std::string problem = SpecProblem(router.schema(), options.sampling);
  return problem.empty() ? absl::OkStatus() : absl::InvalidArgumentError(problem);
}

absl::Status CheckLoadingOptions(const ShardRouter& router, const LoaderOptions& options) {
  constexpr int64_t kMost = int64_t{1} << 31;
  VICINITY_RETURN_IF_ERROR(Positive("batch_size", options.batch_size, kMost));
  VICINITY_RETURN_IF_ERROR(Positive("num_trainers", options.num_trainers, 1 << 20));
  VICINITY_RETURN_IF_ERROR(Positive("sample_threads", options.sample_threads, kMaxThreads));
  VICINITY_RETURN_IF_ERROR(Positive("fetch_threads", options.fetch_threads, kMaxThreads));
  VICINITY_RETURN_IF_ERROR(
      Positive("batch_timeout in ms", options.batch_timeout.count(), kMostTimeout.count()));
  if (options.trainer < 0 || options.trainer >= options.num_trainers) {
    return absl::InvalidArgumentError(
        absl::StrCat("trainer ", options.trainer, " of ", options.num_trainers));
  }
  VICINITY_RETURN_IF_ERROR(Positive("step_stride", options.step_stride, 1 << 20));
  if (options.step_offset < 0 || options.step_offset >= options.step_stride) {
    return absl::InvalidArgumentError(absl::StrCat("step_offset ", options.step_offset,
                                                   " is not from 0 to below step_stride, which is ",
                                                   options.step_stride));
  }
  for (const auto& [what, value] :
       {std::pair("window_bytes", options.window_bytes),
        std::pair("cache_rows", options.cache_rows), std::pair("cache_bytes", options.cache_bytes),
        std::pair("ragged_cache_bytes", options.ragged_cache_bytes),
        std::pair("fetch_ahead", options.fetch_ahead),
        std::pair("sample_ahead", options.sample_ahead)}) {
    if (value >= 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(what, " ", value, " is below 0"));
  }
  VICINITY_RETURN_IF_ERROR(CheckDeviceOptions(options.device));
  return CheckHomes(HomesOf(router, options), router.book().num_shards(), options.num_trainers,
                    options.seed_policy == SeedPolicy::kHome);
}

std::vector<std::vector<int32_t>> HomesOf(const ShardRouter& router, const LoaderOptions& options) {
  if (!options.homes.empty()) return options.homes;
  return DealHomes(router.book().num_shards(), options.num_trainers);
}

absl::StatusOr<TrainerSeeds> ReadSeeds(const ShardRouter& router, const SeedSource& source,
                                       const LoaderOptions& options) {
  if (options.seed_policy == SeedPolicy::kHome) return ReadHomeSeeds(router, source, options);
  TrainerSeeds result;
  result.nodes_per_seed = static_cast<int64_t>(source.types().size());
  VICINITY_ASSIGN_OR_RETURN(result.seeds, source.Seeds({}));
  return result;
}

absl::Status CheckSeedTimes(const LoaderOptions& options, const TrainerSeeds& seeds) {
  const bool by_time = !options.sampling.time_column.empty();
  if (!by_time && options.seed_times.empty()) return absl::OkStatus();
  if (!by_time) {
    return absl::InvalidArgumentError("seeds have times, and no time_column says what of");
  }
  if (options.seed_policy == SeedPolicy::kHome) {
    return absl::InvalidArgumentError("seeds of homes have no times: seed_policy must be global");
  }
  const int64_t num_seeds = static_cast<int64_t>(seeds.seeds.size()) / seeds.nodes_per_seed;
  if (static_cast<int64_t>(options.seed_times.size()) == num_seeds) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(options.seed_times.size(), " times for ", num_seeds, " seeds: time_column ",
                   options.sampling.time_column, " needs one for each"));
}

absl::StatusOr<std::vector<int64_t>> ReadLabels(const ShardRouter& router, NodeTypeId seed_type,
                                                const std::vector<int64_t>& seeds,
                                                const LoaderOptions& options) {
  const NodeTypeSpec& spec = router.schema().node_types[seed_type.value];
  if (!options.labels || spec.label_column.empty()) return std::vector<int64_t>();
  const int column = spec.FindColumn(spec.label_column);
  if (column < 0) {
    return absl::InternalError(absl::StrCat("label column ", spec.label_column, " of node type ",
                                            spec.name, " is not among its columns"));
  }
  return IntegerColumn(router, seed_type, column, seeds);
}

absl::StatusOr<CachedColumns> MakeColumns(const ShardRouter& router, const LoaderOptions& options,
                                          const SeedShards& seeds, std::shared_ptr<Device> device) {
  CachedColumns columns;
  VICINITY_ASSIGN_OR_RETURN(columns.plans, FindColumns(router.schema(), options));
  const size_t num_requested = columns.plans.size();
  if (options.user_ids) AddUserIds(router.schema(), &columns.plans);
  VICINITY_ASSIGN_OR_RETURN(const CacheRows rows,
                            ChooseRows(router, options, seeds, columns.plans, &columns.ranked_by));
  const absl::Span<ColumnPlan> all = absl::MakeSpan(columns.plans);
  if (device == nullptr) {
    VICINITY_RETURN_IF_ERROR(FillPools(router, rows, all));
    return columns;
  }
  VICINITY_RETURN_IF_ERROR(
      PlaceOnDevice(router, options, rows, std::move(device), all.first(num_requested)));
  VICINITY_RETURN_IF_ERROR(FillPools(router, rows, all.subspan(num_requested)));
  return columns;
}

absl::StatusOr<ExcludedTypes> FindExcluded(const Schema& schema, const LoaderOptions& options) {
  ExcludedTypes types;
  if (options.exclude != LinkExclusion::kReverse && !options.reverse_edge_type.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "reverse_edge_type \"", options.reverse_edge_type, "\" is of exclude \"reverse\" alone"));
  }
  if (options.exclude == LinkExclusion::kNone) return types;
  const auto* const links = std::get_if<LinkList>(&options.seeds);
  if (links == nullptr) {
    return absl::InvalidArgumentError("excluded are edges of links, and the seeds are nodes");
  }
  if (options.batch_size > kMostExcluding) {
    return absl::InvalidArgumentError(absl::StrCat("batch_size ", options.batch_size, " is above ",
                                                   kMostExcluding,
                                                   ", the most links whose edges are excluded"));
  }
  VICINITY_ASSIGN_OR_RETURN(types.self, FindLinkType(schema, *links));
  if (options.exclude == LinkExclusion::kSelf) return types;
  VICINITY_ASSIGN_OR_RETURN(types.reverse,
                            FindReverse(schema, *types.self, options.reverse_edge_type));
  return types;
}

absl::StatusOr<std::unique_ptr<NegativeSampler>> MakeNegatives(const ShardRouter& router,
                                                               const LoaderOptions& options) {
  if (options.negatives.mode == NegativeMode::kNone) {
    const NegativeOptions& given = options.negatives;
    const NegativeOptions none;
    if (given.amount == none.amount && given.exact == none.exact &&
        given.degree_power == none.degree_power && given.weight_column.empty() &&
        given.source_weight_column.empty() && given.same.empty() && !given.shared &&
        !given.in_batch && options.negative_weights.targets.empty() &&
        options.negative_weights.sources.empty()) {
      return nullptr;
    }
    return absl::InvalidArgumentError("negatives have options and no mode: binary or triplet");
  }
  const auto* const links = std::get_if<LinkList>(&options.seeds);
  if (links == nullptr) {
    return absl::InvalidArgumentError("negatives are of links, and the seeds are nodes");
  }
  VICINITY_ASSIGN_OR_RETURN(const EdgeTypeId type, FindLinkType(router.schema(), *links));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<SameValue> same, ParseSame(options.negatives.same));
  return NegativeSampler::Make(router, type, options.negatives, options.negative_weights, same);
}

absl::StatusOr<std::vector<RaggedColumn>> FindRaggedColumns(const Schema& schema,
                                                            const LoaderOptions& options) {
  std::vector<RaggedColumn> columns;
  for (const LoaderOptions::ColumnRequest& request : options.columns) {
    VICINITY_ASSIGN_OR_RETURN(const NodeTypeId type, FindNodeType(schema, request.node_type));
    const int column = schema.node_types[type.value].FindRagged(request.column);
    if (column >= 0) columns.push_back({type, column});
  }
  return columns;
}

absl::StatusOr<std::vector<EdgeColumnPlan>> FindEdgeColumns(const Schema& schema,
                                                            const LoaderOptions& options) {
  std::vector<EdgeColumnPlan> plans;
  for (const LoaderOptions::EdgeColumnRequest& request : options.edge_columns) {
    const int type = schema.FindEdgeType(request.edge_type);
    if (type < 0) {
      std::string known;
      for (int e = 0; e < static_cast<int>(schema.edge_types.size()); ++e) {
        absl::StrAppend(&known, " ", schema.EdgeTypeName(e));
      }
      return absl::NotFoundError(
          absl::StrCat("no edge type ", request.edge_type, "; there are:", known));
    }
    VICINITY_ASSIGN_OR_RETURN(const EdgeColumnPlan plan,
                              FindEdgeColumn(schema, type, request.column));
    plans.push_back(plan);
  }
  return plans;
}

}  // namespace vicinity
