// Data-parallel training of one model: this process's share of it.
#pragma once

#include <torch/optim/adam.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/graph.h"
#include "client/loader.h"
#include "client/train/all_reduce.h"
#include "client/train/evaluation.h"
#include "client/train/model.h"
#include "client/train/options.h"
#include "client/train/report.h"
#include "client/train/task.h"
#include "client/types/result.h"

namespace vicinity {

// Every trainer of a group has one, made with the same options but for --trainer, --local-shards
// and
// --report, and makes the same calls.
//
// Threads:  one at a time; the model runs on libtorch's threads besides.
// Lifetime: `graph` and `group` must outlive it.
// Errors:   as of Graph, Loader and TrainerGroup. After one the trainer is of no further use.
class Trainer {
 public:
  // Makes the model, alike on all trainers, and the loaders.
  static Result<std::unique_ptr<Trainer>> Create(const TrainOptions& options, const Graph* graph,
                                                 TrainerGroup* group);

  // Trains and evaluates all epochs, telling `reporter` of each.
  Error Run(Reporter* reporter);

 private:
  // One split's nodes, shared by the trainers.
  struct EvaluationPart {
    std::unique_ptr<Loader> loader;
    int64_t num_nodes = 0;
  };
  Trainer(const TrainOptions& options, const Graph* graph, TrainerGroup* group, Task task);
  Error MakeModel();
  Error MakeLoaders();
  Result<EvaluationPart> MakeEvaluation(Split split) const;
  StartRecord DescribeStart() const;

  Result<EpochRecord> TrainEpoch(int64_t epoch);
  // Adds a batch's gradients, and makes the step that it completes.
  Error TakeBatch(std::unique_ptr<MiniBatch> batch, EpochRecord* record);
  void AddGradients(const BatchTensors& batch);
  // Updates the model with the gradients added so far, if there are any.
  Error Step(EpochRecord* record);
  Error AddUpTrainers(EpochRecord* record);
  Error EvaluateEpoch(EpochRecord* record);
  bool EvaluatesAfter(int64_t epoch) const;

  const TrainOptions options_;
  const Graph* const graph_;
  TrainerGroup* const group_;
  const Task task_;
  std::shared_ptr<Model> model_;  // null: ModelKind::kNone
  std::unique_ptr<torch::optim::Adam> optimizer_;
  std::unique_ptr<GradientAverager> averager_;
  std::unique_ptr<Loader> loader_;
  EvaluationPart validation_;
  EvaluationPart test_;

  // Of the step in the making.
  int64_t pending_batches_ = 0;
  StepTotals pending_;
};

// Everything from the options on: opens the graph, joins the other trainers, trains and reports,
// trainer 0 on `out` as well.
Error RunTraining(const TrainOptions& options, std::ostream* out);

}  // namespace vicinity
