#include "client/loading/epoch_run.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/loading/ahead_limits.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"

namespace vicinity {
namespace {

// Seeds of batches that no sampling thread has taken yet; they are small.
constexpr int64_t kScheduledAhead = 16;
// How soon the end of an epoch is noticed where the trainer is waited for.
constexpr std::chrono::milliseconds kLookAround(20);
// Of the window, beside it: for sampled batches that nobody has looked at.
constexpr int64_t kSampledShare = 8;
// Behind the plan the window bounds what is inside, so the queues need not.
constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max() / 2;

}  // namespace

const char* StageName(Stage stage) {
  static constexpr const char* kNames[kNumStages] = {"schedule", "sample",   "plan",
                                                     "fetch",    "assemble", "train"};
  return kNames[stage];
}

EpochRun::EpochRun(const EpochParts& parts, const EpochLine& line, bool goes_on)
    : parts_(parts),
      line_(line),
      end_(goes_on && line.num_steps() > 0 ? kUnbounded : line.first_end()),
      epoch_end_(line.first_end()),
      window_(parts.options->fetch_ahead, parts.options->window_bytes),
      held_(parts.options->fetch_ahead, parts.options->window_bytes),
      allowed_(epoch_end_ + line.num_steps()),
      scheduled_(0, end_, kScheduledAhead),
      sampled_(0, end_, parts.options->window_bytes / kSampledShare),
      planned_(0, end_, kUnbounded),
      fetched_(0, end_, kUnbounded),
      assembled_(0, end_, kUnbounded) {}

absl::StatusOr<std::unique_ptr<EpochRun>> EpochRun::Start(const EpochParts& parts,
                                                          const EpochLine& line, bool goes_on) {
  std::unique_ptr<EpochRun> run(new EpochRun(parts, line, goes_on));
  if (run->end_ > 0) VICINITY_RETURN_IF_ERROR(run->StartThreads());
  return run;
}

absl::Status EpochRun::StartThreads() {
  const auto start = [this](int num_threads, void (EpochRun::*work)()) -> absl::Status {
    for (int i = 0; i < num_threads; ++i) {
      VICINITY_ASSIGN_OR_RETURN(std::thread thread, StartThread([this, work] { (this->*work)(); }));
      threads_.push_back(std::move(thread));
    }
    return absl::OkStatus();
  };
  VICINITY_RETURN_IF_ERROR(start(1, &EpochRun::ScheduleAll));
  VICINITY_RETURN_IF_ERROR(start(parts_.options->sample_threads, &EpochRun::SampleSome));
  VICINITY_RETURN_IF_ERROR(start(1, &EpochRun::PlanAll));
  VICINITY_RETURN_IF_ERROR(start(parts_.options->fetch_threads, &EpochRun::FetchSome));
  return start(1, &EpochRun::AssembleSome);
}

EpochRun::~EpochRun() {
  cancel_.Cancel();
  window_.Close();
  allowed_.Close();
  for (Queue* queue : {&scheduled_, &sampled_, &planned_, &fetched_, &assembled_}) queue->Close();
  for (std::thread& thread : threads_) thread.join();
  parts_.rows->Forget();
}

std::optional<BatchPlace> EpochRun::GoesOnWith() const {
  if (next_ < epoch_end_ || epoch_end_ >= end_) return std::nullopt;
  return line_.At(epoch_end_);
}

void EpochRun::GoOn() {
  begun_since_ = scheduled_.next();
  epoch_end_ += line_.num_steps();
  allowed_.Raise(epoch_end_ + line_.num_steps());
}

absl::StatusOr<LoadedBatch> EpochRun::Next() {
  if (next_ >= epoch_end_) return LoadedBatch();
  std::optional<JobPtr> job = assembled_.Pop(TimeLeft());
  const Clock::time_point waiting_since = waiting_since_.value_or(Clock::time_point());
  waiting_since_.reset();
  if (!job.has_value()) return Late();
  if ((*job)->spans != nullptr) Record(job->get(), Clock::now() - waiting_since);
  if ((*job)->window_bytes >= 0) window_.Give((*job)->window_bytes);
  const BatchPlace& place = (*job)->place;
  if (!(*job)->status.ok() && next_ < begun_since_) failed_ahead_ = place;
  VICINITY_RETURN_IF_ERROR(
      At(absl::StrCat("batch ", place.step, " of epoch ", place.epoch), (*job)->status));
  ++next_;
  parts_.rows->Count((*job)->counts);
  return Take(job->get());
}

void EpochRun::Record(Job* job, std::chrono::nanoseconds waited) const {
  Span& batch = job->spans->root();
  batch.Set("epoch", job->place.epoch);
  batch.Set("step", job->place.step);
  batch.Set("nodes", job->made.num_nodes());
  batch.Set("rows_cached", job->counts.cached);
  batch.Set("rows_remote", job->counts.remote);
  batch.Set("trainer_waited_ns", waited.count());
  parts_.tracer->Record(job->spans->Finish(job->status.code(), job->ready));
}

template <typename Work>
absl::Status EpochRun::AsPart(const char* name, Job* job, const Work& work) {
  if (job->spans == nullptr) return work();
  const size_t part = job->spans->Begin(name);
  const TraceContext whole = std::exchange(job->trace, job->spans->part(part).context);
  absl::Status status = work();
  job->trace = whole;
  job->ready = Clock::now();
  job->spans->End(part, status.code(), job->ready);
  return status;
}

LoadedBatch EpochRun::Take(Job* job) const {
  LoadedBatch taken;
  taken.draw_batch = DrawBatchOf(*job);
  taken.num_nodes = job->made.num_nodes();
  taken.batch = std::move(job->batch);
  taken.batch->graph = std::move(job->made.graph);
  if (job->made.answer == nullptr) return taken;
  taken.answer = std::move(job->made.answer);
  taken.inputs = std::move(job->made.inputs);
  return taken;
}

bool EpochRun::WaitForNext(std::chrono::nanoseconds limit) {
  if (next_ >= epoch_end_) return true;
  const std::chrono::nanoseconds left = TimeLeft();
  return assembled_.WaitForNext(std::min(limit, left)) || left <= limit;
}

std::chrono::nanoseconds EpochRun::TimeLeft() {
  const Clock::time_point now = Clock::now();
  if (!waiting_since_.has_value()) waiting_since_ = now;
  return parts_.options->batch_timeout - (now - *waiting_since_);
}

template <typename Work>
void EpochRun::RunStage(Stage stage, Queue* in, Queue* out, Work work) {
  StageClock clock(&(*parts_.totals)[stage], StageState::kStarved);
  while (std::optional<JobPtr> job = in->Pop()) {
    clock.Enter(StageState::kBusy);
    if ((*job)->status.ok()) {
      (*job)->status = WithinResources([&] { return work(job->get(), &clock); });
    }
    if (!(*job)->status.ok()) (*job)->rows = BatchRows();  // others may wait for what it pins
    const int64_t position = (*job)->position;
    const int64_t weight = (*job)->made.num_bytes();
    clock.Enter(StageState::kBlocked);
    clock.EndBatch();
    if (!out->Push(position, weight, *std::move(job))) return;
    clock.Enter(StageState::kStarved);
  }
}

void EpochRun::ScheduleAll() {
  StageClock clock(&(*parts_.totals)[kSchedule], StageState::kBusy);
  std::optional<EpochOrder> order;
  int64_t ordered_epoch = 0;
  for (int64_t position = 0; position < end_; ++position) {
    const BatchPlace place = line_.At(position);
    clock.Enter(StageState::kBlocked);
    if (!allowed_.WaitFor(position)) return;
    clock.Enter(StageState::kBusy);
    if (!order.has_value() || place.epoch != ordered_epoch) {
      order.emplace(parts_.schedule->Epoch(place.epoch));
      ordered_epoch = place.epoch;
    }
    JobPtr job = MakeJob(position, *order);
    clock.Enter(StageState::kBlocked);
    clock.EndBatch();
    if (!scheduled_.Push(position, 1, std::move(job))) return;
  }
}

EpochRun::JobPtr EpochRun::MakeJob(int64_t position, const EpochOrder& order) const {
  auto job = std::make_unique<Job>();
  job->position = position;
  job->place = line_.At(position);
  job->trace = parts_.tracer != nullptr ? parts_.tracer->StartRoot() : StartTrace();
  if (job->trace.sampled) {
    job->spans = std::make_unique<SpanTree>(job->trace, 0, SpanKind::kInternal, "batch");
  }
  job->batch = std::make_unique<MiniBatch>();
  job->batch->epoch = job->place.epoch;
  job->batch->step = job->place.step;
  job->batch->batches_done = parts_.schedule->BatchesDone(job->place.step, job->place.dealt_from);
  DealSeeds(order.Batch(job->place.step, job->place.dealt_from), job.get());
  return job;
}

void EpochRun::DealSeeds(absl::Span<const int64_t> batch, Job* job) const {
  const size_t nodes_per_seed = parts_.seed_types.size();
  for (size_t end = 0; end < nodes_per_seed; ++end) {
    TypedSeeds& list = job->seeds.emplace_back(TypedSeeds{parts_.seed_types[end], {}});
    list.ids.reserve(batch.size());
    for (const int64_t seed : batch) list.ids.push_back(parts_.seeds[seed * nodes_per_seed + end]);
    if (parts_.seed_times.empty()) continue;
    for (const int64_t seed : batch) list.times.push_back(parts_.seed_times[seed]);
  }
  if (parts_.options->seed_policy == SeedPolicy::kGlobal) {
    job->batch->input_positions.assign(batch.begin(), batch.end());
  }
  if (parts_.labels.empty()) return;
  for (const int64_t seed : batch) job->batch->labels.push_back(parts_.labels[seed]);
}

void EpochRun::SampleSome() {
  const std::unique_ptr<BatchMaker> maker = parts_.make_maker();
  RunStage(kSample, &scheduled_, &sampled_, [&](Job* job, StageClock*) {
    return AsPart(StageName(kSample), job, [&] { return Sample(maker.get(), job); });
  });
}

uint64_t EpochRun::DrawBatchOf(const Job& job) const {
  return parts_.schedule->DrawBatch(job.place.step, job.place.dealt_from);
}

absl::Status EpochRun::Sample(BatchMaker* maker, Job* job) {
  MinibatchDraw draw;
  draw.run_seed = parts_.options->run_seed;
  draw.epoch = static_cast<uint64_t>(job->place.epoch);
  draw.batch = DrawBatchOf(*job);
  VICINITY_ASSIGN_OR_RETURN(job->made, maker->Make(job->seeds, draw, ContextOf(*job)));
  return absl::OkStatus();
}

// Not RunStage: while it waits for room it looks ahead.
void EpochRun::PlanAll() {
  StageClock clock(&(*parts_.totals)[kPlan], StageState::kStarved);
  Ahead ahead;
  for (int64_t position = 0; position < end_; ++position) {
    if (ahead.jobs.empty()) {
      std::optional<JobPtr> job = sampled_.Pop();
      if (!job.has_value()) return;
      clock.Enter(StageState::kBusy);
      Announce(*std::move(job), &ahead);
    }
    clock.Enter(StageState::kBusy);
    AnnounceSampled(&ahead);
    JobPtr job = std::move(ahead.jobs.front());
    ahead.jobs.pop_front();
    const int64_t weight = job->made.num_bytes();
    ahead.bytes -= weight + parts_.rows->AnnouncedBytes(job->rows);
    if (job->status.ok()) job->status = Plan(job.get(), &ahead, &clock);
    if (!job->status.ok()) job->rows = BatchRows();  // others may wait for what it pins
    clock.Enter(StageState::kBlocked);
    clock.EndBatch();
    if (!planned_.Push(position, weight, std::move(job))) return;
    clock.Enter(StageState::kStarved);
  }
}

void EpochRun::Announce(JobPtr job, Ahead* ahead) {
  if (job->status.ok()) {
    job->rows = parts_.rows->Split(job->made.lists());
    job->status = parts_.rows->Announce(job->rows);
  }
  ahead->bytes += job->made.num_bytes() + parts_.rows->AnnouncedBytes(job->rows);
  ahead->jobs.push_back(std::move(job));
}

void EpochRun::AnnounceSampled(Ahead* ahead) {
  const bool announces = parts_.options->cache == CachePolicy::kAuto;
  const int64_t sample_ahead = announces ? parts_.options->sample_ahead : 0;
  const int64_t most_bytes = parts_.options->window_bytes / kAnnouncedShare;
  while (static_cast<int64_t>(ahead->jobs.size()) < sample_ahead && ahead->bytes < most_bytes) {
    std::optional<JobPtr> job = sampled_.Pop(std::chrono::nanoseconds(0));
    if (!job.has_value()) return;
    Announce(*std::move(job), ahead);
  }
}

absl::Status EpochRun::Plan(Job* job, Ahead* ahead, StageClock* clock) {
  const SampledGraph& graph = job->made.graph;
  const int64_t bytes = job->made.num_bytes() + parts_.rows->Bytes(job->rows) +
                        EdgeRowBytes(*parts_.router, graph, parts_.edge_columns) +
                        parts_.ragged->GuessBytes(graph);
  clock->Enter(StageState::kBlocked);
  const absl::Status taken = AsPart("wait for room", job, [&]() -> absl::Status {
    if (window_.Take(bytes)) return absl::OkStatus();
    return absl::CancelledError("the epoch was dropped");
  });
  clock->Enter(StageState::kBusy);
  VICINITY_RETURN_IF_ERROR(taken);
  job->window_bytes = bytes;
  held_.LetIn(job->position, bytes);
  AnnounceSampled(ahead);  // what was sampled since then
  return AsPart(StageName(kPlan), job,
                [&] { return parts_.rows->Admit(&job->rows, &job->counts); });
}

void EpochRun::FetchSome() {
  RunStage(kFetch, &planned_, &fetched_, [this](Job* job, StageClock*) {
    return AsPart(StageName(kFetch), job, [&] { return Fetch(job); });
  });
}

absl::Status EpochRun::Fetch(Job* job) {
  VICINITY_RETURN_IF_ERROR(parts_.rows->Fetch(&job->rows, ContextOf(*job)));
  VICINITY_ASSIGN_OR_RETURN(job->batch->ragged,
                            parts_.ragged->Fetch(job->made.graph, ContextOf(*job), &job->counts));
  if (parts_.edge_columns.empty()) return absl::OkStatus();
  VICINITY_ASSIGN_OR_RETURN(
      job->batch->edge_columns,
      FetchEdgeRows(*parts_.router, job->made.graph, parts_.edge_columns, ContextOf(*job)));
  return absl::OkStatus();
}

void EpochRun::AssembleSome() {
  RunStage(kAssemble, &fetched_, &assembled_, [this](Job* job, StageClock* clock) -> absl::Status {
    clock->Enter(StageState::kBlocked);
    const bool wanted = WaitToAssemble(job->position);
    clock->Enter(StageState::kBusy);
    if (!wanted) return absl::CancelledError("the epoch was dropped");
    return AsPart(StageName(kAssemble), job, [&] { return Assemble(job); });
  });
}

// As long as the trainer likes: it is Next that has a time limit.
bool EpochRun::WaitToAssemble(int64_t position) {
  if (!assembled_.WaitForTurn(position)) return false;
  wants_tensors_ = true;
  bool found = false;
  while (!found && !cancel_.cancelled()) found = parts_.rows->WaitForTensors(kLookAround);
  wants_tensors_ = false;
  return found;
}

absl::Status EpochRun::Assemble(Job* job) {
  VICINITY_RETURN_IF_ERROR(parts_.rows->Assemble(&job->rows, parts_.options->batch_timeout));
  GiveColumns(job);
  held_.Hold(job->position, std::exchange(job->rows, BatchRows()));
  return absl::OkStatus();
}

void EpochRun::GiveColumns(Job* job) const {
  const size_t num_requested = parts_.options->columns.size() - parts_.ragged->num_columns();
  for (size_t c = 0; c < job->rows.columns.size(); ++c) {
    BatchColumn& column = job->rows.columns[c].result;
    if (job->made.answer != nullptr) {
      StepAnswer& step = job->made.answer->steps[parts_.rows->columns()[c].nodes()];
      step.columns.push_back({std::move(column.spec), column.num_rows, std::move(column.bytes)});
    } else if (c < num_requested) {
      job->batch->columns.push_back(std::move(column));
    } else {
      job->batch->user_ids.push_back(std::move(column));
    }
  }
}

absl::Status EpochRun::Late() const {
  const Stage stage = StageOf(next_);
  const BatchPlace place = line_.At(next_);
  // Those that the stage itself has taken for the batch are not the trainer's.
  const bool kept = stage == kAssemble && wants_tensors_ &&
                    !parts_.rows->WaitForTensors(std::chrono::nanoseconds(0));
  return absl::DeadlineExceededError(absl::StrFormat(
      "batch %d of epoch %d is not ready in %.1f s: it is in stage %s%s", place.step, place.epoch,
      std::chrono::duration<double>(parts_.options->batch_timeout).count(), StageName(stage),
      kept ? ", where the trainer still has all device tensors of a column, or its streams still "
             "read them: let go of earlier batches before the next is asked for, or raise "
             "DeviceOptions::batches"
           : ""));
}

Stage EpochRun::StageOf(int64_t position) const {
  if (scheduled_.next() <= position) return kSchedule;
  if (sampled_.next() <= position) return kSample;
  if (planned_.next() <= position) return kPlan;
  if (fetched_.next() <= position) return kFetch;
  return kAssemble;
}

}  // namespace vicinity
