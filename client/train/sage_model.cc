#include "client/train/sage_model.h"

#include <torch/nn/functional/dropout.h>

#include <cstddef>
#include <string>

#include "client/train/mean_aggregate.h"

namespace vicinity {
namespace {

// The input rows of a layer's own nodes: one copy where there are several node types, else none.
torch::Tensor SelfRows(const torch::Tensor& inputs, const std::vector<LayerFlow::Range>& self) {
  std::vector<torch::Tensor> parts;
  for (const LayerFlow::Range& range : self) {
    if (range.count > 0) parts.push_back(inputs.narrow(0, range.begin, range.count));
  }
  if (parts.empty()) return inputs.narrow(0, 0, 0);
  return parts.size() == 1 ? parts.front() : torch::cat(parts, 0);
}

}  // namespace

SageModel::SageModel(const SageOptions& options) : options_(options) {
  const size_t num_types = options.input_widths.size();
  if (num_types > 1) {
    projections_.resize(num_types, nullptr);
    type_vectors_.resize(num_types);
    for (size_t type = 0; type < num_types; ++type) {
      const std::string number = std::to_string(type);
      if (options.input_widths[type] > 0) {
        projections_[type] = register_module(
            "project" + number, torch::nn::Linear(options.input_widths[type], options.hidden));
      } else {
        type_vectors_[type] =
            register_parameter("type" + number, torch::zeros({1, options.hidden}));
      }
    }
  }
  int64_t width = num_types > 1 ? options.hidden : options.input_widths.front();
  for (int l = 0; l < options.num_layers; ++l) {
    const int64_t out = l + 1 < options.num_layers ? options.hidden : options.num_classes;
    const std::string number = std::to_string(l);
    Layer layer;
    layer.self = register_module("self" + number, torch::nn::Linear(width, out));
    layer.neighbours = register_module(
        "neighbours" + number, torch::nn::Linear(torch::nn::LinearOptions(width, out).bias(false)));
    layers_.push_back(layer);
    width = out;
  }
}

torch::Tensor SageModel::Inputs(const BatchTensors& batch) {
  if (projections_.empty()) return batch.features.front();
  std::vector<torch::Tensor> parts;
  for (size_t type = 0; type < projections_.size(); ++type) {
    if (batch.num_nodes[type] == 0) continue;
    parts.push_back(projections_[type]
                        ? projections_[type]->forward(batch.features[type])
                        : type_vectors_[type].expand({batch.num_nodes[type], options_.hidden}));
  }
  return torch::cat(parts, 0);
}

torch::Tensor SageModel::Forward(const BatchTensors& batch) {
  TORCH_CHECK(batch.layers.size() == layers_.size(), "a minibatch of ", batch.layers.size(),
              " hops for a model of ", layers_.size(), " layers");
  torch::Tensor rows = Inputs(batch);
  for (size_t l = 0; l < layers_.size(); ++l) {
    const LayerTensors& flow = batch.layers[l];
    rows = layers_[l].self->forward(SelfRows(rows, flow.self)) +
           layers_[l].neighbours->forward(MeanOfNeighbours(rows, flow.offsets, flow.sources));
    if (l + 1 == layers_.size()) break;
    rows = torch::nn::functional::dropout(
        torch::relu(rows),
        torch::nn::functional::DropoutFuncOptions().p(options_.dropout).training(is_training()));
  }
  // Only seeds are left, each once: hop 0's targets.
  return rows.index_select(0, batch.seed_rows);
}

}  // namespace vicinity
