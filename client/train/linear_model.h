// Logistic regression on a seed's own features: what a model without the graph reaches.
#pragma once

#include <torch/nn/modules/linear.h>

#include <cstdint>

#include "client/train/model.h"

namespace vicinity {

class LinearModel : public Model {
 public:
  // `seed_type`: the node type of all seeds, whose features have `width` values.
  LinearModel(int32_t seed_type, int64_t width, int64_t num_classes);

  torch::Tensor Forward(const BatchTensors& batch) override;

 private:
  const int32_t seed_type_;
  torch::nn::Linear linear_;
};

}  // namespace vicinity
