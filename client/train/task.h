// From a graph and the command line to what is trained: which nodes, which columns, which batches.
#pragma once

#include <cstdint>
#include <vector>

#include "client/loader.h"
#include "client/train/options.h"
#include "client/types/result.h"
#include "client/types/seed_values.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"

namespace vicinity {

struct Task {
  int32_t seed_type = 0;
  Split split = Split::kTrain;          // of the training seeds; kNone: all nodes
  SeedList seeds;                       // in its place, those that are listed
  int64_t num_classes = 0;              // 0: no labels (ModelKind::kNone only)
  std::vector<int> feature_columns;     // by node type; -1: none
  std::vector<int64_t> feature_widths;  // by node type: values of a row; 0: none
  SamplingSpec sampling;                // in training
  SamplingSpec eval_sampling;
};

// What `options` asks of a graph of this schema. Errors as those of feature_columns.h and
// seed_file.h and, for fanouts that do not fit, kInvalidArgument. ModelKind::kNone takes what there
// is: a type without labels or split (then all its nodes), a graph without features.
// ModelKind::kLinear needs the seeds' rows alone, but a minibatch has a hop at least: one neighbour
// along one edge type.
Result<Task> MakeTask(const Schema& schema, const TrainOptions& options);

// The loader of this trainer's training batches.
LoaderOptions TrainingLoader(const Schema& schema, const Task& task, const TrainOptions& options);

// The loader of this trainer's part of a split, in order, every epoch drawn alike.
LoaderOptions EvaluationLoader(const Schema& schema, const Task& task, const TrainOptions& options,
                               Split split);

}  // namespace vicinity
