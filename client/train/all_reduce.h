// Trainers that add up numbers: gradients each step, counts now and then.
//
// A thin layer over libtorch's process group with Gloo.
#pragma once

#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/types/result.h"

namespace vicinity {

struct TrainerGroupOptions {
  int trainer = 0;  // this one, of
  int num_trainers = 1;
  // Where the trainers find each other: "host:port", where trainer 0 listens, or "file:PATH", a
  // file on a disk that all see and that does not exist yet. Not used by one trainer alone.
  std::string rendezvous;
  // The interface for the traffic of the group, by a name or address of this machine.
  std::string interface = "127.0.0.1";
  std::chrono::milliseconds timeout{120000};  // of joining, and of each call
};

// Threads:  one at a time. All trainers make the same calls in the same order.
// Errors:   kUnavailable or kDeadlineExceeded if another trainer is gone or late; the group is of
// no
//           further use then.
class TrainerGroup {
 public:
  // Waits until all trainers are there. kInvalidArgument for options that make no sense.
  static Result<std::unique_ptr<TrainerGroup>> Join(const TrainerGroupOptions& options);
  ~TrainerGroup();

  int trainer() const { return options_.trainer; }
  int num_trainers() const { return options_.num_trainers; }

  // Replaces a dense CPU tensor by its sum over all trainers.
  Error Sum(torch::Tensor tensor);

  // Replaces a dense CPU tensor by trainer 0's.
  Error CopyFromFirst(torch::Tensor tensor);

 private:
  explicit TrainerGroup(const TrainerGroupOptions& options);
  Error Connect();
  struct Gloo;
  const TrainerGroupOptions options_;
  std::unique_ptr<Gloo> gloo_;  // null: one trainer
};

// What a step adds up besides gradients.
struct StepTotals {
  double loss = 0;     // summed over the labelled seeds
  double seeds = 0;    // labelled ones
  double correct = 0;  // of them
};

// Averages gradients over the labelled seeds of all trainers' batches: the same step as one trainer
// would take with all these seeds in one batch, also where their batches differ in size.
//
// Memory: one float32 buffer of the size of all parameters.
class GradientAverager {
 public:
  // The parameters in the same order on every trainer.
  explicit GradientAverager(std::vector<torch::Tensor> parameters);

  // In: each parameter's gradient of the *summed* loss (none counts as zero), and this trainer's
  // totals. Out: the gradients of the mean over all trainers' seeds (zero if there are none), and
  // the totals of all trainers. One call of the group.
  Error Average(TrainerGroup* group, StepTotals* totals);

 private:
  static constexpr int64_t kNumTotals = 3;
  void Pack(const StepTotals& totals);
  void Unpack(StepTotals* totals);

  std::vector<torch::Tensor> parameters_;
  torch::Tensor buffer_;  // all gradients one behind the other, then the totals
};

}  // namespace vicinity
