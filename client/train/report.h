// What a training run tells: lines for people, and everything as JSON lines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "client/train/options.h"
#include "client/types/loader_values.h"
#include "client/types/result.h"

namespace vicinity {

struct StartRecord {
  std::string dataset;
  int32_t num_shards = 0;
  int64_t seeds = 0;  // of this trainer
  int64_t batches_per_epoch = 0;
  int64_t parameters = 0;  // of the model
  int threads = 0;         // of the model
  int64_t cache_rows = 0;  // held by this trainer
  int64_t cache_bytes = 0;
  std::string ranked_by;  // as LoaderStats
};

// Sums over all trainers, unless it says otherwise.
struct EpochRecord {
  int64_t epoch = 0;          // from 1
  double seconds = 0;         // of training, evaluation not counted; this trainer's
  double wait_seconds = 0;    // of them, until a batch was there
  double model_seconds = 0;   // forward, backward and update
  double reduce_seconds = 0;  // adding up gradients, and waiting for other trainers there
  int64_t batches = 0;        // of each trainer
  int64_t steps = 0;          // likewise: updates of the model
  double seeds = 0;           // labelled ones
  double loss = 0;            // mean over them, in training
  double train_accuracy = 0;  // likewise, with dropout
  int64_t nodes = 0;          // input nodes of all batches
  int64_t rows_local = 0;     // their rows, by where they came from
  int64_t rows_cached = 0;
  int64_t rows_remote = 0;
  int64_t bytes_remote = 0;    // of remote rows, as they are stored
  int64_t bytes_received = 0;  // from servers: those rows as they travel, and neighbours
  std::optional<double> validation_accuracy;
  std::optional<double> test_accuracy;
};

struct ResultRecord {
  // The epoch with the best validation accuracy, which is what papers report; ties: the first.
  int64_t best_epoch = 0;  // 0: no epoch was evaluated on both splits
  double best_validation_accuracy = 0;
  double test_accuracy_at_best = 0;
  std::optional<double> last_test_accuracy;
  double train_seconds = 0;
  std::vector<StageTime> stages;  // of this trainer's loader, over all epochs
};

// What the epochs say. Those without evaluation take no part in the choice of the best.
ResultRecord Summarize(const std::vector<EpochRecord>& epochs, std::vector<StageTime> stages);

// Threads: one at a time.
class Reporter {
 public:
  // `out`, for people, may be null and must outlive the reporter. `path` for JSON lines may be
  // empty; else the file is replaced. kInvalidArgument if it cannot be written.
  static Result<std::unique_ptr<Reporter>> Open(const TrainOptions& options, std::ostream* out);
  ~Reporter();

  void Start(const StartRecord& record);
  void Epoch(const EpochRecord& record);
  // kUnavailable if the file could not be written whole.
  Error Finish(const ResultRecord& record);

 private:
  class JsonFile;
  Reporter(const TrainOptions& options, std::ostream* out, std::unique_ptr<JsonFile> json);
  const TrainOptions options_;
  std::ostream* const out_;
  const std::unique_ptr<JsonFile> json_;  // null: no file
};

}  // namespace vicinity
