// An epoch of one loader, and the ones behind it: the stages, their threads and the queues between
// them.
//
//   schedule -> sample -> plan -> fetch -> assemble -> Next()
//
// What a batch is made of is the BatchMaker's affair: to sample is to run a query's steps as well.
//
// Whoever has trained two whole epochs in a row is taken to go on: the batches of the epoch behind
// are made ahead as if they were this one's, so that no epoch begins with an empty pipeline, rows
// are shared across its first batches, and what is looked ahead to does not end with the epoch.
//
// Batches are numbered by position. Every stage takes them in this order, so a batch never waits
// for one behind it; and none gets its tensors before the trainer has taken the one before, so that
// there are two with tensors: in training, and next. A batch that fails goes on through the stages
// with its error, untouched, so that Next() meets the error in its turn and nobody waits for what
// does not come.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/loading/batch_maker.h"
#include "client/loading/batch_rows.h"
#include "client/loading/batch_window.h"
#include "client/loading/epoch_line.h"
#include "client/loading/held_rows.h"
#include "client/loading/ordered_queue.h"
#include "client/loading/ragged_columns.h"
#include "client/loading/rising_limit.h"
#include "client/loading/seed_schedule.h"
#include "client/loading/stage_time.h"
#include "client/query/query.h"
#include "client/shards/call_context.h"
#include "client/shards/cancellation.h"
#include "client/shards/edge_rows.h"
#include "client/shards/shard_router.h"
#include "client/types/loader_values.h"
#include "proto/common/ids.h"
#include "proto/telemetry/trace/tracer.h"
#include "proto/telemetry/trace_context.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

enum Stage { kSchedule = 0, kSample, kPlan, kFetch, kAssemble, kTrain, kNumStages };
const char* StageName(Stage stage);
using StageTotalsArray = std::array<StageTotals, kNumStages>;

// What an epoch works with.
//
// Lifetime: what is pointed to must outlive the epoch.
struct EpochParts {
  const ShardRouter* router = nullptr;
  const SeedSchedule* schedule = nullptr;
  const RowLoader* rows = nullptr;
  const RaggedColumns* ragged = nullptr;
  StageTotalsArray* totals = nullptr;
  // For each thread that samples.
  std::function<std::unique_ptr<BatchMaker>()> make_maker;
  absl::Span<const int64_t> seeds;                // this trainer's, as the schedule counts them,
  absl::Span<const NodeTypeId> seed_types;        // each of so many nodes, one after the other
  absl::Span<const int64_t> seed_times;           // of each seed; empty: none
  absl::Span<const int64_t> labels;               // of each seed; empty: none
  absl::Span<const EdgeColumnPlan> edge_columns;  // to bring for every sampled edge
  // Of a loader that has been checked.
  const LoaderOptions* options = nullptr;
  Tracer* tracer = nullptr;  // null: no batch is traced
};

// A batch as it leaves the stages.
struct LoadedBatch {
  std::unique_ptr<MiniBatch> batch;     // null: the epoch is over
  std::unique_ptr<QueryAnswer> answer;  // of a query's loader; else null
  QueryInputs inputs;                   // likewise, its seeds; else empty
  uint64_t draw_batch = 0;              // what its draws are keyed with, beside run seed and epoch
  int64_t num_nodes = 0;                // of all its types, or steps
};

// Threads:  Next from one thread.
// Lifetime: the destructor cancels what is under way, joins the threads and drops what is left;
//           it waits for no server.
class EpochRun {
 public:
  // The first of the epochs, from now on. `goes_on`: that behind it is made ahead.
  // ResourceExhausted if its threads cannot be had.
  static absl::StatusOr<std::unique_ptr<EpochRun>> Start(const EpochParts& parts,
                                                         const EpochLine& line, bool goes_on);
  ~EpochRun();
  EpochRun(const EpochRun&) = delete;
  EpochRun& operator=(const EpochRun&) = delete;

  // Whether the epoch is over and its first batch behind is made ahead: what it is.
  std::optional<BatchPlace> GoesOnWith() const;
  // Begins that epoch. Only where GoesOnWith is one.
  void GoOn();

  // What Next has just failed with, if that was begun before its epoch was: it says nothing of now.
  std::optional<BatchPlace> FailedAhead() const { return failed_ahead_; }

  // The next batch of the epoch; none after its last. DeadlineExceeded, naming the stage that holds
  // it, after the batch timeout; else the error that the batch met on its way.
  absl::StatusOr<LoadedBatch> Next();

  // As Loader::WaitForNext.
  bool WaitForNext(std::chrono::nanoseconds limit);

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    int64_t position = 0;
    BatchPlace place;
    TraceContext trace;               // of all that is asked for it
    std::unique_ptr<SpanTree> spans;  // null: it is not sampled
    Clock::time_point ready;          // of one that is: when it was
    absl::Status status;
    std::vector<TypedSeeds> seeds;
    MadeBatch made;
    std::unique_ptr<MiniBatch> batch;  // its graph is in `made`
    BatchRows rows;
    RowCounts counts;           // of its rows
    int64_t window_bytes = -1;  // taken from the window; -1: it was not let in
  };
  using JobPtr = std::unique_ptr<Job>;
  using Queue = OrderedQueue<JobPtr>;

  EpochRun(const EpochParts& parts, const EpochLine& line, bool goes_on);
  absl::Status StartThreads();

  // What the threads run.
  void ScheduleAll();
  void SampleSome();
  void PlanAll();
  void FetchSome();
  void AssembleSome();

  // Takes each job from `in` through `work`, which gives its weight in `out`. A job with an error
  // skips `work`; an error of `work` becomes the job's.
  template <typename Work>
  void RunStage(Stage stage, Queue* in, Queue* out, Work work);

  JobPtr MakeJob(int64_t position, const EpochOrder& order) const;
  void DealSeeds(absl::Span<const int64_t> batch, Job* job) const;
  CallContext ContextOf(const Job& job) { return {&cancel_, job.trace}; }
  // work(), as a part of the batch's trace, and what it asks as parts of that.
  template <typename Work>
  static absl::Status AsPart(const char* name, Job* job, const Work& work);
  // The trace of a batch that the trainer has waited for so long.
  void Record(Job* job, std::chrono::nanoseconds waited) const;
  uint64_t DrawBatchOf(const Job& job) const;
  absl::Status Sample(BatchMaker* maker, Job* job);

  // Batches that are sampled and announced, oldest first.
  struct Ahead {
    std::deque<JobPtr> jobs;
    int64_t bytes = 0;
  };
  void Announce(JobPtr job, Ahead* ahead);
  // Takes those that are sampled by now, as many as may wait.
  void AnnounceSampled(Ahead* ahead);
  absl::Status Plan(Job* job, Ahead* ahead, StageClock* clock);
  absl::Status Fetch(Job* job);
  // Waits until the batch is the next one that the trainer takes, and there are tensors for it;
  // false: the epoch was dropped.
  bool WaitToAssemble(int64_t position);
  absl::Status Assemble(Job* job);
  // The columns' rows go to where a trainer looks for them.
  void GiveColumns(Job* job) const;
  LoadedBatch Take(Job* job) const;
  absl::Status Late() const;  // the batch that Next waits for
  Stage StageOf(int64_t position) const;
  // What is left of the batch timeout; it runs from the first wait for the batch.
  std::chrono::nanoseconds TimeLeft();

  const EpochParts parts_;
  const EpochLine line_;
  const int64_t end_;  // of all positions
  // Of Next()'s thread: its position, where its epoch ends, the first position that was begun since
  // it began, since when it waits.
  int64_t next_ = 0;
  int64_t epoch_end_;
  int64_t begun_since_ = 0;
  std::optional<BatchPlace> failed_ahead_;
  std::optional<Clock::time_point> waiting_since_;
  Cancellation cancel_;
  BatchWindow window_;
  HeldRows held_;
  RisingLimit allowed_;  // below which batches may be made: of this epoch and the one behind it
  Queue scheduled_;
  Queue sampled_;
  Queue planned_;
  Queue fetched_;
  Queue assembled_;
  std::atomic<bool> wants_tensors_{false};  // a batch waits for those that the trainer has
  std::vector<std::thread> threads_;
};

}  // namespace vicinity
