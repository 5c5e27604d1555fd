#include "client/train/trainer.h"

#include <ATen/Parallel.h>
#include <torch/nn/functional/loss.h>
#include <torch/utils.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "client/train/linear_model.h"
#include "client/train/sage_model.h"
#include "client/train/tensors.h"
#include "client/train/torch_error.h"
#include "proto/common/machine.h"

namespace vicinity {
namespace {

namespace functional = torch::nn::functional;
using Clock = std::chrono::steady_clock;

// Adds the time from its construction to its end to a record's field.
class Stopwatch {
 public:
  explicit Stopwatch(double* seconds) : seconds_(seconds), start_(Clock::now()) {}
  ~Stopwatch() { *seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double* const seconds_;
  const Clock::time_point start_;
};

std::shared_ptr<Model> NewModel(const Task& task, const TrainOptions& options) {
  if (options.model == ModelKind::kLinear) {
    return std::make_shared<LinearModel>(task.seed_type, task.feature_widths[task.seed_type],
                                         task.num_classes);
  }
  SageOptions sage;
  sage.input_widths = task.feature_widths;
  sage.num_layers = options.num_layers();
  sage.hidden = options.hidden;
  sage.num_classes = task.num_classes;
  sage.dropout = options.dropout;
  return std::make_shared<SageModel>(sage);
}

// Trainers on one machine share its cores, and each leaves one to its loader: OpenMP's threads spin
// while they wait for each other, so a thread too many costs far more than its share.
int ModelThreads(const TrainOptions& options) {
  if (options.threads > 0) return options.threads;
  return std::max(1, NumCores() / options.loader.num_trainers - 1);
}

TrainerGroupOptions GroupOptions(const TrainOptions& options) {
  TrainerGroupOptions group;
  group.trainer = options.loader.trainer;
  group.num_trainers = options.loader.num_trainers;
  group.rendezvous = options.rendezvous;
  group.interface = options.interface;
  group.timeout =
      std::chrono::milliseconds(static_cast<int64_t>(options.group_timeout_seconds * 1000));
  return group;
}

// What the loader's running totals grew by.
void AddRows(const LoaderStats& before, const LoaderStats& after, EpochRecord* record) {
  record->nodes = after.nodes - before.nodes;
  record->rows_local = after.rows_local - before.rows_local;
  record->rows_cached = after.rows_cached - before.rows_cached;
  record->rows_remote = after.rows_remote - before.rows_remote;
  record->bytes_remote = after.bytes_remote - before.bytes_remote;
}

}  // namespace

Trainer::Trainer(const TrainOptions& options, const Graph* graph, TrainerGroup* group, Task task)
    : options_(options), graph_(graph), group_(group), task_(std::move(task)) {}

Result<std::unique_ptr<Trainer>> Trainer::Create(const TrainOptions& options, const Graph* graph,
                                                 TrainerGroup* group) {
  Result<Task> task = MakeTask(graph->schema(), options);
  if (!task.ok()) return task.error();
  std::unique_ptr<Trainer> trainer(new Trainer(options, graph, group, *std::move(task)));
  if (options.model != ModelKind::kNone) {
    const Error error = trainer->MakeModel();
    if (!error.ok()) return error;
  }
  const Error error = trainer->MakeLoaders();
  if (!error.ok()) return error;
  return trainer;
}

Error Trainer::MakeModel() {
  return CatchTorch(ErrorCode::kInternal, "making the model", [&] {
    at::set_num_threads(ModelThreads(options_));
    model_ = NewModel(task_, options_);
    InitializeWeights(options_.seed, model_.get());
    averager_ = std::make_unique<GradientAverager>(model_->parameters());
    optimizer_ = std::make_unique<torch::optim::Adam>(
        model_->parameters(),
        torch::optim::AdamOptions(options_.learning_rate).weight_decay(options_.weight_decay));
    const torch::NoGradGuard no_grad;
    for (const torch::Tensor& parameter : model_->parameters()) {
      const Error error = group_->CopyFromFirst(parameter);
      if (!error.ok()) return error;
    }
    // Dropout takes libtorch's own generator; each trainer drops other values.
    torch::manual_seed(options_.seed + options_.loader.trainer);
    return Error();
  });
}

Error Trainer::MakeLoaders() {
  const Schema& schema = graph_->schema();
  Result<std::unique_ptr<Loader>> loader =
      Loader::Create(graph_, TrainingLoader(schema, task_, options_));
  if (!loader.ok()) return loader.error();
  loader_ = *std::move(loader);
  if (model_ == nullptr) return Error();
  for (const auto& [split, part] :
       {std::pair(Split::kValidation, &validation_), std::pair(Split::kTest, &test_)}) {
    Result<EvaluationPart> made = MakeEvaluation(split);
    if (!made.ok()) return made.error();
    *part = *std::move(made);
  }
  return Error();
}

Result<Trainer::EvaluationPart> Trainer::MakeEvaluation(Split split) const {
  EvaluationPart part;
  Result<std::vector<int64_t>> nodes = graph_->NodesOf(task_.seed_type, split);
  if (!nodes.ok()) return nodes.error();
  part.num_nodes = static_cast<int64_t>(nodes->size());
  if (part.num_nodes == 0) return part;
  Result<std::unique_ptr<Loader>> loader =
      Loader::Create(graph_, EvaluationLoader(graph_->schema(), task_, options_, split));
  if (!loader.ok()) return loader.error();
  part.loader = *std::move(loader);
  return part;
}

StartRecord Trainer::DescribeStart() const {
  StartRecord record;
  record.dataset = graph_->name();
  record.num_shards = graph_->num_shards();
  record.seeds = loader_->num_seeds();
  record.batches_per_epoch = loader_->steps_per_epoch();
  record.threads = ModelThreads(options_);
  if (model_ != nullptr) {
    for (const torch::Tensor& parameter : model_->parameters()) {
      record.parameters += parameter.numel();
    }
  }
  const LoaderStats stats = loader_->stats();
  record.cache_rows = stats.cache_rows;
  record.cache_bytes = stats.cache_bytes;
  record.ranked_by = stats.ranked_by;
  return record;
}

Error Trainer::Run(Reporter* reporter) {
  reporter->Start(DescribeStart());
  std::vector<EpochRecord> epochs;
  for (int64_t epoch = 1; epoch <= options_.epochs; ++epoch) {
    Result<EpochRecord> record = TrainEpoch(epoch);
    if (!record.ok()) return record.error();
    if (EvaluatesAfter(epoch)) {
      const Error error = EvaluateEpoch(&*record);
      if (!error.ok()) return error;
    }
    reporter->Epoch(*record);
    epochs.push_back(*std::move(record));
  }
  return reporter->Finish(Summarize(epochs, loader_->stats().stages));
}

bool Trainer::EvaluatesAfter(int64_t epoch) const {
  if (model_ == nullptr) return false;
  if (epoch == options_.epochs) return true;
  return options_.eval_every > 0 && epoch % options_.eval_every == 0;
}

Result<EpochRecord> Trainer::TrainEpoch(int64_t epoch) {
  EpochRecord record;
  record.epoch = epoch;
  if (model_ != nullptr) model_->train();
  const LoaderStats before = loader_->stats();
  const int64_t received_before = graph_->traffic().bytes_received;
  {
    const Stopwatch all(&record.seconds);
    const Error started = loader_->StartEpoch(epoch);
    if (!started.ok()) return started;
    while (true) {
      Result<std::unique_ptr<MiniBatch>> batch = [&] {
        const Stopwatch wait(&record.wait_seconds);
        return loader_->Next();
      }();
      if (!batch.ok()) return batch.error();
      if (*batch == nullptr) break;
      const Error error = TakeBatch(*std::move(batch), &record);
      if (!error.ok()) return error;
    }
    const Error error = Step(&record);
    if (!error.ok()) return error;
  }
  AddRows(before, loader_->stats(), &record);
  record.bytes_received = graph_->traffic().bytes_received - received_before;
  const Error error = AddUpTrainers(&record);
  if (!error.ok()) return error;
  return record;
}

Error Trainer::TakeBatch(std::unique_ptr<MiniBatch> batch, EpochRecord* record) {
  ++record->batches;
  if (model_ == nullptr) {
    record->seeds += static_cast<double>(batch->graph.num_seeds());
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(options_.step_ms));
    return Error();
  }
  Result<BatchTensors> tensors =
      ToTensors(graph_->schema(), task_.sampling.expansion, std::move(batch));
  if (!tensors.ok()) return tensors.error();
  const Error error = CatchTorch(ErrorCode::kInternal, "forward and backward", [&] {
    const Stopwatch watch(&record->model_seconds);
    AddGradients(*tensors);
  });
  if (!error.ok() || pending_batches_ < options_.accumulate) return error;
  return Step(record);
}

void Trainer::AddGradients(const BatchTensors& batch) {
  if (pending_batches_++ == 0) optimizer_->zero_grad();
  const torch::Tensor logits = model_->Forward(batch);
  const torch::Tensor loss = functional::cross_entropy(
      logits, batch.labels,
      functional::CrossEntropyFuncOptions().ignore_index(-1).reduction(torch::kSum));
  loss.backward();
  pending_.loss += loss.item<double>();
  pending_.seeds += batch.labels.ge(0).sum().item<double>();
  pending_.correct += logits.argmax(1).eq(batch.labels).sum().item<double>();
}

// The record's loss and accuracy are sums over the seeds of all trainers until the epoch's end.
Error Trainer::Step(EpochRecord* record) {
  if (pending_batches_ == 0) return Error();
  StepTotals totals = std::exchange(pending_, StepTotals());
  pending_batches_ = 0;
  {
    const Stopwatch watch(&record->reduce_seconds);
    const Error error = averager_->Average(group_, &totals);
    if (!error.ok()) return error;
  }
  ++record->steps;
  record->seeds += totals.seeds;
  record->loss += totals.loss;
  record->train_accuracy += totals.correct;
  return CatchTorch(ErrorCode::kInternal, "updating the model", [&] {
    const Stopwatch watch(&record->model_seconds);
    optimizer_->step();
  });
}

Error Trainer::AddUpTrainers(EpochRecord* record) {
  torch::Tensor sums =
      torch::tensor({record->nodes, record->rows_local, record->rows_cached, record->rows_remote,
                     record->bytes_remote, record->bytes_received},
                    torch::kInt64);
  // Without a model no step adds up anything.
  torch::Tensor seeds = torch::tensor({record->seeds}, torch::kFloat64);
  Error error = group_->Sum(sums);
  if (error.ok() && model_ == nullptr) error = group_->Sum(seeds);
  if (!error.ok()) return error;
  const int64_t* values = sums.data_ptr<int64_t>();
  record->nodes = values[0];
  record->rows_local = values[1];
  record->rows_cached = values[2];
  record->rows_remote = values[3];
  record->bytes_remote = values[4];
  record->bytes_received = values[5];
  record->seeds = seeds.item<double>();
  if (record->seeds > 0) {
    record->loss /= record->seeds;
    record->train_accuracy /= record->seeds;
  }
  return Error();
}

Error Trainer::EvaluateEpoch(EpochRecord* record) {
  for (const auto& [part, accuracy] : {std::pair(&validation_, &record->validation_accuracy),
                                       std::pair(&test_, &record->test_accuracy)}) {
    if (part->loader == nullptr) continue;
    Result<Accuracy> found =
        Evaluate(graph_->schema(), task_.eval_sampling.expansion, options_.loader.batch_size,
                 part->num_nodes, part->loader.get(), model_.get(), group_);
    if (!found.ok()) return found.error();
    *accuracy = found->value();
  }
  return Error();
}

Error RunTraining(const TrainOptions& options, std::ostream* out) {
  Result<std::unique_ptr<Graph>> graph = Graph::Open(options.graph);
  if (!graph.ok()) return graph.error();
  Result<std::unique_ptr<TrainerGroup>> group = TrainerGroup::Join(GroupOptions(options));
  if (!group.ok()) return group.error();
  Result<std::unique_ptr<Trainer>> trainer = Trainer::Create(options, graph->get(), group->get());
  if (!trainer.ok()) return trainer.error();
  Result<std::unique_ptr<Reporter>> reporter =
      Reporter::Open(options, options.loader.trainer == 0 ? out : nullptr);
  if (!reporter.ok()) return reporter.error();
  return (*trainer)->Run(reporter->get());
}

}  // namespace vicinity
