// A loader over routed shards: what the public Loader is made of, without gRPC, so that it also
// runs over mapped and fake shards under ThreadSanitizer.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/base/device.h"
#include "client/loading/batch_maker.h"
#include "client/loading/batch_rows.h"
#include "client/loading/batch_sampler.h"
#include "client/loading/epoch_line.h"
#include "client/loading/epoch_run.h"
#include "client/loading/ragged_columns.h"
#include "client/loading/seed_schedule.h"
#include "client/loading/stage_time.h"
#include "client/negatives/negative_sampler.h"
#include "client/query/query.h"
#include "client/query/query_runner.h"
#include "client/query/query_steps.h"
#include "client/shards/edge_rows.h"
#include "client/shards/shard_router.h"
#include "client/types/loader_values.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "proto/telemetry/registry.h"
#include "proto/telemetry/trace/tracer.h"

namespace vicinity {

// As Loader, and as QueryLoader, with statuses for errors.
//
// Lifetime: the router must outlive it.
class LoaderCore {
 public:
  // `device`: for Placement::kDevice, another than DeviceOptions name; null: that one.
  static absl::StatusOr<std::unique_ptr<LoaderCore>> Create(
      const ShardRouter& router, const LoaderOptions& options,
      std::shared_ptr<Device> device = nullptr);
  // Of the query's answers.
  static absl::StatusOr<std::unique_ptr<LoaderCore>> CreateForQuery(const ShardRouter& router,
                                                                    const Query& query,
                                                                    const LoaderOptions& options);
  ~LoaderCore();

  // Traces a share of the batches of epochs that begin later; null, as at first: none. It must
  // outlive this.
  void TraceWith(Tracer* tracer) { tracer_ = tracer; }

  // Of the query; only of a loader of one.
  const std::vector<ResolvedStep>& steps() const { return answers_->steps(); }
  int64_t num_seeds() const { return schedule_.num_seeds(); }
  int64_t steps_per_epoch() const { return schedule_.steps(); }
  absl::Status StartEpoch(int64_t epoch, int64_t first_step, int64_t end_step = -1);
  absl::Status ResumeEpoch(int64_t epoch, int64_t batches_done);
  absl::StatusOr<std::unique_ptr<MiniBatch>> Next();
  absl::StatusOr<LoadedBatch> NextLoaded();  // with a query's answer
  bool WaitForNext(std::chrono::nanoseconds limit);
  LoaderStats stats() const;
  // Registers stage times and rows; `loader` tells it from others. It must outlive the group.
  void AddMetrics(const std::string& loader, MetricRegistry::Group* group) const;

 private:
  using Clock = std::chrono::steady_clock;

  LoaderCore(const ShardRouter& router, const LoaderOptions& options, SeedSchedule schedule);

  // `answers`: null for minibatches.
  static absl::StatusOr<std::unique_ptr<LoaderCore>> CreateWith(
      const ShardRouter& router, const LoaderOptions& options, std::shared_ptr<Device> device,
      std::unique_ptr<QueryRunner> answers);
  std::unique_ptr<BatchMaker> MakeMaker() const;
  EpochParts Parts() const;
  StepShare Share() const;
  absl::Status StartLine(const EpochLine& line, bool goes_on);
  bool GoOnWith(int64_t epoch, bool whole);
  absl::StatusOr<LoadedBatch> NextOfRun();
  // Ends the epoch, if one is running: what its stages did not account for was spent without work.
  void EndEpoch();
  int NumThreads(Stage stage) const;
  double EpochSeconds() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const ShardRouter& router_;
  const LoaderOptions options_;
  const SeedSchedule schedule_;
  std::vector<NodeTypeId> seed_types_;  // as SeedSource's
  std::vector<int64_t> seeds_;          // this trainer's, node by node
  std::vector<int64_t> seed_times_;     // theirs; empty: none
  std::vector<int64_t> labels_;         // theirs; empty: none
  std::vector<EdgeColumnPlan> edge_columns_;
  ExcludedTypes excluded_;
  std::unique_ptr<NegativeSampler> negatives_;  // null: none
  std::unique_ptr<QueryRunner> answers_;        // null: batches are minibatches
  std::vector<std::string> inputs_;             // of the query, as seed_types_
  std::unique_ptr<RowLoader> rows_;
  std::unique_ptr<RaggedColumns> ragged_;
  std::string ranked_by_;     // as LoaderStats'
  Tracer* tracer_ = nullptr;  // null: no batch is traced
  mutable StageTotalsArray totals_;

  // Of Next's thread.
  std::unique_ptr<EpochRun> run_;
  std::unique_ptr<StageClock> train_clock_;
  bool finished_ = false;                    // the last epoch ended of itself
  std::optional<int64_t> last_whole_epoch_;  // that was started last; none: it was not whole

  mutable Mutex mu_;
  bool running_ ABSL_GUARDED_BY(mu_) = false;
  Clock::time_point epoch_start_ ABSL_GUARDED_BY(mu_);
  double past_seconds_ ABSL_GUARDED_BY(mu_) = 0;  // of epochs that ended
  int64_t nodes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vicinity
