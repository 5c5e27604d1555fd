#include "client/loading/loader_core.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/device/device_side.h"
#include "client/loading/batch_sampler.h"
#include "client/loading/loader_setup.h"
#include "client/loading/query_setup.h"
#include "client/loading/seed_source.h"
#include "client/query/seed_input.h"
#include "client/shards/call_context.h"
#include "proto/common/status.h"
#include "proto/telemetry/metric.h"

namespace vicinity {
namespace {

absl::StatusOr<SeedSchedule> ScheduleOf(const LoaderOptions& options, const TrainerSeeds& seeds) {
  ScheduleOptions schedule;
  schedule.batch_size = options.batch_size;
  schedule.shuffle = options.shuffle;
  schedule.drop_last = options.drop_last;
  schedule.trainer = options.trainer;
  schedule.num_trainers = options.num_trainers;
  schedule.run_seed = options.run_seed;
  if (options.seed_policy == SeedPolicy::kHome) {
    return SeedSchedule::ByTrainer(schedule, seeds.list_sizes);
  }
  return SeedSchedule::Global(schedule,
                              static_cast<int64_t>(seeds.seeds.size()) / seeds.nodes_per_seed);
}

absl::StatusOr<SeedSchedule> MakeSchedule(const LoaderOptions& options, const TrainerSeeds& seeds) {
  VICINITY_ASSIGN_OR_RETURN(SeedSchedule schedule, ScheduleOf(options, seeds));
  if (schedule.steps() > 0 || schedule.num_seeds() == 0) return schedule;
  return absl::InvalidArgumentError(absl::StrCat(
      schedule.num_seeds(), " seeds are no step with drop_last: ", options.num_trainers,
      " trainers, each with a full batch of ", options.batch_size));
}

// What a loader keeps of them: not the list, which the schedule's seeds stand for, nor weights,
// which the sampler of negatives has.
LoaderOptions WithoutList(LoaderOptions options) {
  options.seeds = SeedList();
  options.seed_times.clear();
  options.negative_weights = {};
  return options;
}

double Sum(const StageTotals::Values& values) {
  return values.seconds[0] + values.seconds[1] + values.seconds[2];
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoaderCore>> LoaderCore::Create(const ShardRouter& router,
                                                               const LoaderOptions& options,
                                                               std::shared_ptr<Device> device) {
  VICINITY_RETURN_IF_ERROR(CheckLoaderOptions(router, options));
  return CreateWith(router, options, std::move(device), /*answers=*/nullptr);
}

absl::StatusOr<std::unique_ptr<LoaderCore>> LoaderCore::CreateForQuery(const ShardRouter& router,
                                                                       const Query& query,
                                                                       const LoaderOptions& given) {
  VICINITY_RETURN_IF_ERROR(CheckQueryLoaderOptions(router, given));
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<QueryRunner> answers,
                            QueryRunner::Make(router, query, StartOperation()));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<SeedInput> inputs,
                            InputsOfSeeds(router.schema(), answers->steps(), given));
  VICINITY_ASSIGN_OR_RETURN(
      std::unique_ptr<LoaderCore> loader,
      CreateWith(router, OptionsOfQuery(router.schema(), answers->steps(), inputs, given),
                 /*device=*/nullptr, std::move(answers)));
  for (const SeedInput& input : inputs) loader->inputs_.push_back(input.name);
  return loader;
}

absl::StatusOr<std::unique_ptr<LoaderCore>> LoaderCore::CreateWith(
    const ShardRouter& router, const LoaderOptions& options, std::shared_ptr<Device> device,
    std::unique_ptr<QueryRunner> answers) {
  if (options.placement == Placement::kHost) {
    device = nullptr;
  } else if (device == nullptr) {
    VICINITY_ASSIGN_OR_RETURN(device, OpenLoaderDevice(options.device));
  }
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<SeedSource> source,
                            MakeSeedSource(router, options));
  VICINITY_ASSIGN_OR_RETURN(std::vector<EdgeColumnPlan> edge_columns,
                            FindEdgeColumns(router.schema(), options));
  VICINITY_ASSIGN_OR_RETURN(std::vector<RaggedColumn> ragged,
                            FindRaggedColumns(router.schema(), options));
  VICINITY_ASSIGN_OR_RETURN(TrainerSeeds seeds, ReadSeeds(router, *source, options));
  VICINITY_RETURN_IF_ERROR(CheckSeedTimes(options, seeds));
  VICINITY_ASSIGN_OR_RETURN(
      CachedColumns columns,
      MakeColumns(router, options, SeedShardsOf(router, source->types(), seeds.seeds),
                  std::move(device)));
  VICINITY_ASSIGN_OR_RETURN(SeedSchedule schedule, MakeSchedule(options, seeds));
  auto loader = std::unique_ptr<LoaderCore>(new LoaderCore(router, options, std::move(schedule)));
  loader->seed_types_ = source->types();
  loader->seeds_ = std::move(seeds.seeds);
  loader->seed_times_ = options.seed_times;
  loader->edge_columns_ = std::move(edge_columns);
  if (loader->seed_types_.size() == 1) {
    VICINITY_ASSIGN_OR_RETURN(
        loader->labels_, ReadLabels(router, loader->seed_types_.front(), loader->seeds_, options));
  }
  VICINITY_ASSIGN_OR_RETURN(loader->excluded_, FindExcluded(router.schema(), options));
  VICINITY_ASSIGN_OR_RETURN(loader->negatives_, MakeNegatives(router, options));
  if (answers != nullptr) {
    columns.plans = ColumnsOfSteps(answers->steps(), columns.plans);
    if (!columns.ranked_by.empty()) {
      columns.ranked_by += MadeForMinibatches(router, options.ranking);
    }
  }
  loader->answers_ = std::move(answers);
  loader->rows_ = std::make_unique<RowLoader>(router, std::move(columns.plans));
  loader->ragged_ = std::make_unique<RaggedColumns>(
      router, std::move(ragged),
      options.cache == CachePolicy::kNone ? 0 : options.ragged_cache_bytes);
  loader->ranked_by_ = std::move(columns.ranked_by);
  return loader;
}

LoaderCore::LoaderCore(const ShardRouter& router, const LoaderOptions& options,
                       SeedSchedule schedule)
    : router_(router), options_(WithoutList(options)), schedule_(std::move(schedule)) {}

LoaderCore::~LoaderCore() { EndEpoch(); }

std::unique_ptr<BatchMaker> LoaderCore::MakeMaker() const {
  if (answers_ != nullptr) return std::make_unique<AnswerMaker>(*answers_, inputs_);
  std::unique_ptr<BatchSampler> sampler = std::make_unique<RoutedBatchSampler>(
      router_, options_.sampling, EdgeDetail(options_.edge_ids, !edge_columns_.empty()), excluded_);
  if (negatives_ != nullptr) {
    sampler = std::make_unique<NegativeBatchSampler>(*negatives_, std::move(sampler));
  }
  return std::make_unique<GraphMaker>(std::move(sampler));
}

EpochParts LoaderCore::Parts() const {
  EpochParts parts;
  parts.router = &router_;
  parts.schedule = &schedule_;
  parts.rows = rows_.get();
  parts.ragged = ragged_.get();
  parts.totals = &totals_;
  parts.seeds = seeds_;
  parts.seed_types = seed_types_;
  parts.seed_times = seed_times_;
  parts.labels = labels_;
  parts.make_maker = [this] { return MakeMaker(); };
  parts.edge_columns = edge_columns_;
  parts.options = &options_;
  parts.tracer = tracer_;
  return parts;
}

StepShare LoaderCore::Share() const { return {options_.step_offset, options_.step_stride}; }

absl::Status LoaderCore::StartEpoch(int64_t epoch, int64_t first_step, int64_t end_step) {
  const int64_t end = end_step == -1 ? schedule_.steps() : end_step;
  if (epoch < 0 || first_step < 0 || first_step > end || end > schedule_.steps()) {
    return absl::InvalidArgumentError(absl::StrCat("epoch ", epoch, " from step ", first_step,
                                                   " to ", end, " of ", schedule_.steps()));
  }
  const bool whole = first_step == 0 && end == schedule_.steps();
  // One epoch behind the other: whoever does this will do it again.
  const bool follows = whole && last_whole_epoch_ == std::make_optional(epoch - 1);
  last_whole_epoch_ = whole ? std::make_optional(epoch) : std::nullopt;
  finished_ = false;
  if (GoOnWith(epoch, whole)) return absl::OkStatus();
  return StartLine(EpochLine(epoch, first_step, end, schedule_.steps(), Share()),
                   /*goes_on=*/follows);
}

absl::Status LoaderCore::ResumeEpoch(int64_t epoch, int64_t batches_done) {
  if (epoch < 0 || batches_done < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("epoch ", epoch, " after ", batches_done, " batches"));
  }
  const int64_t step = batches_done / options_.num_trainers;
  const int64_t dealt_from = batches_done % options_.num_trainers;
  if (dealt_from == 0) return StartEpoch(epoch, std::min(step, schedule_.steps()), -1);
  if (!schedule_.may_deal_from(dealt_from)) {
    return absl::InvalidArgumentError(absl::StrCat(
        batches_done, " batches are no whole step of ", options_.num_trainers,
        " trainers: with seeds of homes an epoch goes on with as many trainers as began it"));
  }
  last_whole_epoch_.reset();
  finished_ = false;
  const int64_t end = schedule_.steps(dealt_from);
  return StartLine(
      EpochLine(epoch, std::min(step, end), end, schedule_.steps(), Share(), dealt_from),
      /*goes_on=*/false);
}

absl::Status LoaderCore::StartLine(const EpochLine& line, bool goes_on) {
  EndEpoch();
  VICINITY_ASSIGN_OR_RETURN(run_, EpochRun::Start(Parts(), line, goes_on));
  {
    MutexLock lock(&mu_);
    running_ = true;
    epoch_start_ = Clock::now();
  }
  train_clock_ = std::make_unique<StageClock>(&totals_[kTrain], StageState::kBusy);
  return absl::OkStatus();
}

// Whether this epoch's batches are made already.
bool LoaderCore::GoOnWith(int64_t epoch, bool whole) {
  if (run_ == nullptr || !whole) return false;
  const std::optional<BatchPlace> next = run_->GoesOnWith();
  if (!next.has_value() || next->epoch != epoch) return false;
  run_->GoOn();
  return true;
}

absl::StatusOr<std::unique_ptr<MiniBatch>> LoaderCore::Next() {
  VICINITY_ASSIGN_OR_RETURN(LoadedBatch loaded, NextLoaded());
  return std::move(loaded.batch);
}

absl::StatusOr<LoadedBatch> LoaderCore::NextLoaded() {
  if (finished_) return LoadedBatch();
  if (run_ == nullptr) {
    return absl::FailedPreconditionError("no epoch is running: StartEpoch comes before Next");
  }
  train_clock_->Enter(StageState::kStarved);
  absl::StatusOr<LoadedBatch> loaded = NextOfRun();
  train_clock_->Enter(StageState::kBusy);
  if (!loaded.ok() || loaded->batch == nullptr) {
    finished_ = loaded.ok();
    if (!finished_ || !run_->GoesOnWith().has_value()) EndEpoch();
    return loaded;
  }
  train_clock_->EndBatch();
  MutexLock lock(&mu_);
  nodes_ += loaded->num_nodes;
  return loaded;
}

absl::StatusOr<LoadedBatch> LoaderCore::NextOfRun() {
  absl::StatusOr<LoadedBatch> batch = run_->Next();
  if (batch.ok() || !run_->FailedAhead().has_value()) return batch;
  // It failed while nobody had asked for it: once more, now.
  const BatchPlace place = *run_->FailedAhead();
  run_.reset();
  const EpochLine line(place.epoch, place.step - options_.step_offset, schedule_.steps(),
                       schedule_.steps(), Share());
  VICINITY_ASSIGN_OR_RETURN(run_, EpochRun::Start(Parts(), line, /*goes_on=*/true));
  return run_->Next();
}

bool LoaderCore::WaitForNext(std::chrono::nanoseconds limit) {
  if (run_ == nullptr || finished_) return true;
  train_clock_->Enter(StageState::kStarved);
  const bool ready = run_->WaitForNext(limit);
  train_clock_->Enter(StageState::kBusy);
  return ready;
}

void LoaderCore::EndEpoch() {
  if (train_clock_ == nullptr) return;
  train_clock_.reset();
  run_.reset();
  MutexLock lock(&mu_);
  past_seconds_ += EpochSeconds();
  running_ = false;
  for (int stage = 0; stage < kNumStages; ++stage) {
    const double unaccounted =
        past_seconds_ * NumThreads(static_cast<Stage>(stage)) - Sum(totals_[stage].Read());
    totals_[stage].Add(
        StageState::kStarved,
        std::chrono::nanoseconds(static_cast<int64_t>(std::max(0.0, unaccounted) * 1e9)));
  }
}

int LoaderCore::NumThreads(Stage stage) const {
  if (stage == kSample) return options_.sample_threads;
  if (stage == kFetch) return options_.fetch_threads;
  return 1;
}

double LoaderCore::EpochSeconds() const {
  return std::chrono::duration<double>(Clock::now() - epoch_start_).count();
}

void LoaderCore::AddMetrics(const std::string& loader, MetricRegistry::Group* group) const {
  for (int stage = 0; stage < kNumStages; ++stage) {
    const MetricLabels labels = {{"loader", loader},
                                 {"stage", StageName(static_cast<Stage>(stage))}};
    totals_[stage].AddMetrics(labels, group);
    group->Add(
        {"vicinity_loader_stage_threads", "Threads of a stage", MetricKind::kGauge}, labels,
        [this, stage] { return static_cast<double>(NumThreads(static_cast<Stage>(stage))); });
  }
  const auto add_rows = [&](const char* tier, int64_t RowCounts::*count) {
    group->Add({"vicinity_loader_rows_total", "Rows of batches taken, by where they came from"},
               {{"loader", loader}, {"tier", tier}},
               [this, count] { return static_cast<double>(rows_->counts().*count); });
  };
  add_rows("local", &RowCounts::local);
  add_rows("cached", &RowCounts::cached);
  add_rows("remote", &RowCounts::remote);
  group->Add({"vicinity_loader_remote_bytes_total", "Bytes of the rows that came from servers"},
             {{"loader", loader}},
             [this] { return static_cast<double>(rows_->counts().remote_bytes); });
  group->Add({"vicinity_loader_fetched_nodes_total",
              "Nodes whose rows batches fetched, each once a batch: what vicinity plan calls rows"},
             {{"loader", loader}},
             [this] { return static_cast<double>(rows_->counts().fetched_nodes); });
  if (options_.expected_rows > 0) {
    group->Add({"vicinity_loader_expected_rows",
                "Nodes whose rows a batch is expected to fetch, as vicinity plan tells",
                MetricKind::kGauge},
               {{"loader", loader}}, [this] { return options_.expected_rows; });
  }
}

LoaderStats LoaderCore::stats() const {
  LoaderStats stats;
  const RowCounts rows = rows_->counts();
  stats.rows_local = rows.local;
  stats.rows_cached = rows.cached;
  stats.rows_remote = rows.remote;
  stats.bytes_remote = rows.remote_bytes;
  for (int stage = 0; stage < kNumStages; ++stage) {
    const StageTotals::Values values = totals_[stage].Read();
    StageTime time;
    time.stage = StageName(static_cast<Stage>(stage));
    time.num_threads = NumThreads(static_cast<Stage>(stage));
    time.batches = values.batches;
    time.busy_seconds = values.seconds[static_cast<int>(StageState::kBusy)];
    time.starved_seconds = values.seconds[static_cast<int>(StageState::kStarved)];
    time.blocked_seconds = values.seconds[static_cast<int>(StageState::kBlocked)];
    stats.stages.push_back(std::move(time));
  }
  stats.stages[kPlan].rows = stats.rows_cached + stats.rows_remote;
  stats.stages[kFetch].rows = stats.rows_remote;
  stats.stages[kAssemble].rows = stats.rows_local + stats.rows_cached + stats.rows_remote;
  for (const ColumnPlan& column : rows_->columns()) {
    stats.cache_rows += column.cache_rows;
    stats.cache_bytes += column.cache_rows * router_.RowBytes(column.type, column.column);
  }
  stats.ranked_by = ranked_by_;
  stats.device_bytes = rows_->device_bytes();
  MutexLock lock(&mu_);
  stats.wall_seconds = past_seconds_ + (running_ ? EpochSeconds() : 0);
  stats.nodes = nodes_;
  return stats;
}

}  // namespace vicinity
