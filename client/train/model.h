// What a trainer trains: a minibatch in, a score for each seed and class out.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>

#include "client/train/tensors.h"

namespace vicinity {

// Threads: one at a time.
class Model : public torch::nn::Module {
 public:
  // Logits, float32 [seeds, classes], in the order of the seeds. Throws c10::Error for tensors that
  // do not fit the model, as libtorch's modules do.
  virtual torch::Tensor Forward(const BatchTensors& batch) = 0;
};

// Gives every parameter a value that depends on `seed` and the model's shape alone: matrices
// uniform within 1 / sqrt(columns), as libtorch's linear layers, vectors zero.
void InitializeWeights(uint64_t seed, Model* model);

}  // namespace vicinity
