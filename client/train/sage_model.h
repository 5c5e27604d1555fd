// GraphSAGE with the mean aggregator (Hamilton, Ying, Leskovec, "Inductive Representation Learning
// on Large Graphs", NeurIPS 2017), over sampled minibatches:
//
//   h_0(v) = features of v             h_l(v) = W_self h_(l-1)(v) + b + W_neighbours mean of
//   h_(l-1)(u)
//
// over the sampled in-neighbours u of v, with ReLU and dropout between layers; the last layer gives
// the classes' scores.
//
// Several edge types: one mean over all sampled in-neighbours, whatever their relation, and one
// pair of weights a layer. Weights for every relation (R-GCN) would be 52 pairs a layer for
// WordNet, most of them for relations with too few edges to learn from, and the service under
// demonstration moves the same rows either way. Several node types: their features differ in
// meaning, and often in width, so each type first goes through a linear layer of its own to the
// hidden width; from there on all are alike. A type without features gets one learned vector. With
// one node type the features are read as they are.
#pragma once

#include <torch/nn/modules/linear.h>

#include <cstdint>
#include <vector>

#include "client/train/model.h"

namespace vicinity {

struct SageOptions {
  std::vector<int64_t> input_widths;  // by node type; 0: no features. One at least is positive
  int num_layers = 3;                 // hops of a minibatch
  int64_t hidden = 256;
  int64_t num_classes = 0;
  double dropout = 0.5;
};

class SageModel : public Model {
 public:
  // Weights are not set to anything useful: see InitializeWeights.
  explicit SageModel(const SageOptions& options);

  torch::Tensor Forward(const BatchTensors& batch) override;

 private:
  struct Layer {
    torch::nn::Linear self{nullptr};
    torch::nn::Linear neighbours{nullptr};
  };
  torch::Tensor Inputs(const BatchTensors& batch);

  const SageOptions options_;
  std::vector<torch::nn::Linear> projections_;  // by node type; null: no features. Empty: one type
  std::vector<torch::Tensor> type_vectors_;     // by node type; undefined: it has features
  std::vector<Layer> layers_;
};

}  // namespace vicinity
