#include "client/train/linear_model.h"

namespace vicinity {

LinearModel::LinearModel(int32_t seed_type, int64_t width, int64_t num_classes)
    : seed_type_(seed_type), linear_(nullptr) {
  linear_ = register_module("linear", torch::nn::Linear(width, num_classes));
}

torch::Tensor LinearModel::Forward(const BatchTensors& batch) {
  return linear_->forward(batch.features[seed_type_].index_select(0, batch.seed_rows));
}

}  // namespace vicinity
