#include "client/train/task.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "client/train/feature_columns.h"
#include "client/train/seed_file.h"

namespace vicinity {
namespace {

// Evaluation draws from another stream than any training epoch.
constexpr uint64_t kEvaluationSeed = 0x6576616c75617465;  // "evaluate"

Error ChooseSeeds(const Schema& schema, const TrainOptions& options, Task* task) {
  Result<int32_t> type = ChooseSeedType(schema, options.node_type);
  if (type.ok()) {
    task->seed_type = *type;
    task->num_classes = schema.node_types[*type].num_classes;
    return Error();
  }
  if (options.model != ModelKind::kNone) return type.error();
  const int named = options.node_type.empty() && schema.node_types.size() == 1
                        ? 0
                        : schema.FindNodeType(options.node_type);
  if (named < 0) return type.error();
  task->seed_type = named;
  if (schema.node_types[named].split_column.empty()) task->split = Split::kNone;
  return Error();
}

Error ReadSeedList(const Schema& schema, const TrainOptions& options, Task* task) {
  if (options.seed_list.empty()) return Error();
  Result<SeedList> seeds = ReadSeedFile(options.seed_list, schema.node_types[task->seed_type]);
  if (!seeds.ok()) return seeds.error();
  task->seeds = *std::move(seeds);
  return Error();
}

Error ChooseFeatures(const Schema& schema, const TrainOptions& options, Task* task) {
  Result<std::vector<int>> columns = ChooseFeatureColumns(schema, options.features);
  if (columns.ok()) {
    task->feature_columns = *columns;
  } else if (options.model == ModelKind::kNone && options.features.empty() &&
             columns.error().code() == ErrorCode::kNotFound) {
    task->feature_columns.assign(schema.node_types.size(), -1);
  } else {
    return columns.error();
  }
  for (size_t type = 0; type < schema.node_types.size(); ++type) {
    const int column = task->feature_columns[type];
    task->feature_widths.push_back(
        column < 0 ? 0 : schema.node_types[type].columns[column].num_values());
  }
  if (options.model == ModelKind::kLinear && task->feature_widths[task->seed_type] == 0) {
    return Error(ErrorCode::kNotFound, "node type '" + schema.node_types[task->seed_type].name +
                                           "' has no features for a linear model");
  }
  return Error();
}

// The least that a sampler takes: one neighbour along the first edge type that ends at the seeds.
Result<SamplingSpec> LeastSampling(const Schema& schema, int32_t seed_type) {
  SamplingSpec spec;
  spec.fanouts.assign(1, std::vector<int64_t>(schema.edge_types.size(), 0));
  for (size_t e = 0; e < schema.edge_types.size(); ++e) {
    if (schema.edge_types[e].target_type != seed_type) continue;
    spec.fanouts[0][e] = 1;
    return spec;
  }
  return Error(ErrorCode::kInvalidArgument,
               "no edge type ends at node type '" + schema.node_types[seed_type].name + "'");
}

Error ChooseSampling(const Schema& schema, const TrainOptions& options, Task* task) {
  if (options.model == ModelKind::kLinear) {
    Result<SamplingSpec> spec = LeastSampling(schema, task->seed_type);
    if (!spec.ok()) return spec.error();
    task->sampling = task->eval_sampling = *spec;
    return Error();
  }
  task->sampling = SamplingSpec::Uniform(schema, options.fanouts);
  task->eval_sampling = SamplingSpec::Uniform(
      schema, options.eval_fanouts.empty() ? options.fanouts : options.eval_fanouts);
  const SamplingSpec& given = options.loader.sampling;
  for (SamplingSpec* spec : {&task->sampling, &task->eval_sampling}) {
    spec->weighted_by = given.weighted_by;
    spec->where = given.where;
  }
  // What is evaluated draws as ever: its batches need not be small.
  task->sampling.draws = given.draws;
  task->sampling.layer_dependency = given.layer_dependency;
  task->sampling.batch_dependency = given.batch_dependency;
  for (const SamplingSpec* spec : {&task->sampling, &task->eval_sampling}) {
    const std::string problem = SpecProblem(schema, *spec);
    if (!problem.empty()) return Error(ErrorCode::kInvalidArgument, problem);
  }
  return Error();
}

// What the task says to the loaders of training and of evaluation.
void SetTask(const Schema& schema, const Task& task, LoaderOptions* loader) {
  loader->seed_type = schema.node_types[task.seed_type].name;
  loader->labels = task.num_classes > 0;
  for (size_t type = 0; type < schema.node_types.size(); ++type) {
    if (task.feature_columns[type] < 0) continue;
    const NodeTypeSpec& spec = schema.node_types[type];
    loader->columns.push_back({spec.name, spec.columns[task.feature_columns[type]].name});
  }
}

}  // namespace

Result<Task> MakeTask(const Schema& schema, const TrainOptions& options) {
  Task task;
  for (const auto choose : {ChooseSeeds, ReadSeedList, ChooseFeatures, ChooseSampling}) {
    const Error error = choose(schema, options, &task);
    if (!error.ok()) return error;
  }
  return task;
}

LoaderOptions TrainingLoader(const Schema& schema, const Task& task, const TrainOptions& options) {
  LoaderOptions loader = options.loader;
  SetTask(schema, task, &loader);
  loader.split = task.split;
  loader.seeds = task.seeds;
  loader.sampling = task.sampling;
  loader.run_seed = options.seed;
  return loader;
}

LoaderOptions EvaluationLoader(const Schema& schema, const Task& task, const TrainOptions& options,
                               Split split) {
  LoaderOptions loader;
  SetTask(schema, task, &loader);
  loader.batch_size = options.loader.batch_size;
  loader.trainer = options.loader.trainer;
  loader.num_trainers = options.loader.num_trainers;
  loader.split = split;
  loader.sampling = task.eval_sampling;
  loader.run_seed = options.seed ^ kEvaluationSeed;
  loader.shuffle = false;
  loader.cache = CachePolicy::kNone;  // it reads most rows once
  return loader;
}

}  // namespace vicinity
