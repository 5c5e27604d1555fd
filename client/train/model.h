// What a trainer trains: a minibatch in, a score for each seed and class out.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include "client/train/tensors.h"

namespace vicinity {

// Threads: one at a time.
class Model : public torch::nn::Module {
 public:
  // Logits, float32 [seeds, classes], in the order of the seeds. Throws c10::Error for tensors that
  // do not fit the model, as libtorch's modules do.
  virtual torch::Tensor Forward(const BatchTensors& batch) = 0;
};

}  // namespace vicinity
