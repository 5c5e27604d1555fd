#include "client/train/evaluation.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "client/train/tensors.h"
#include "client/train/torch_error.h"

namespace vicinity {
namespace {

// Adds the first `counted` seeds of a batch to `part`.
Error AddBatch(const Schema& schema, Expansion expansion, std::unique_ptr<MiniBatch> batch,
               int64_t counted, Model* model, Accuracy* part) {
  Result<BatchTensors> tensors = ToTensors(schema, expansion, std::move(batch));
  if (!tensors.ok()) return tensors.error();
  return CatchTorch(ErrorCode::kInternal, "evaluation", [&] {
    const torch::NoGradGuard no_grad;
    const torch::Tensor guesses = model->Forward(*tensors).argmax(1).slice(0, 0, counted);
    const torch::Tensor labels = tensors->labels.slice(0, 0, counted);
    const torch::Tensor labelled = labels.ge(0);
    part->nodes += counted;
    part->labelled += labelled.sum().item<int64_t>();
    part->correct += guesses.eq(labels).logical_and(labelled).sum().item<int64_t>();
  });
}

Error AddUp(TrainerGroup* group, Accuracy* part) {
  torch::Tensor counts = torch::tensor({part->nodes, part->labelled, part->correct}, torch::kInt64);
  const Error error = group->Sum(counts);
  if (!error.ok()) return error;
  const int64_t* sums = counts.data_ptr<int64_t>();
  *part = {sums[0], sums[1], sums[2]};
  return Error();
}

}  // namespace

int64_t CountedSeeds(int64_t step, int trainer, int num_trainers, int64_t batch_size,
                     int64_t num_nodes) {
  const int64_t number = step * num_trainers + trainer;
  return std::clamp<int64_t>(num_nodes - number * batch_size, 0, batch_size);
}

Result<Accuracy> Evaluate(const Schema& schema, Expansion expansion, int64_t batch_size,
                          int64_t num_nodes, Loader* loader, Model* model, TrainerGroup* group) {
  model->eval();
  Accuracy accuracy;
  const Error started = loader->StartEpoch(0);
  if (!started.ok()) return started;
  while (true) {
    Result<std::unique_ptr<MiniBatch>> batch = loader->Next();
    if (!batch.ok()) return batch.error();
    if (*batch == nullptr) break;
    const int64_t counted = CountedSeeds((*batch)->step, group->trainer(), group->num_trainers(),
                                         batch_size, num_nodes);
    if (counted == 0) continue;
    const Error error = AddBatch(schema, expansion, *std::move(batch), counted, model, &accuracy);
    if (!error.ok()) return error;
  }
  const Error error = AddUp(group, &accuracy);
  if (!error.ok()) return error;
  if (accuracy.nodes != num_nodes) {
    return Error(ErrorCode::kInternal, "the trainers evaluated " + std::to_string(accuracy.nodes) +
                                           " nodes of " + std::to_string(num_nodes));
  }
  return accuracy;
}

}  // namespace vicinity
