#include "client/train/sage_model.h"

#include <torch/nn/functional/loss.h>
#include <torch/optim/adam.h>
#include <torch/utils.h>

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/client/train/random_batch.h"

namespace vicinity {
namespace {

using testing::RandomMiniBatch;
using testing::TwoTypeSchema;

SageOptions SmallOptions(int num_layers) {
  SageOptions options;
  options.input_widths = {4, 3};
  options.num_layers = num_layers;
  options.hidden = 6;
  options.num_classes = 5;
  return options;
}

// The definition of the model, node by node, straight from the minibatch.
class Oracle {
 public:
  Oracle(const Schema& schema, Expansion expansion, const MiniBatch& batch, SageModel& model)
      : schema_(schema), expansion_(expansion), batch_(batch) {
    for (const auto& item : model.named_parameters()) weights_[item.key()] = item.value();
  }

  // h_layer of a node; layer 0: the projected features.
  torch::Tensor Row(size_t layer, int type, int64_t node) {
    if (layer == 0) return Input(type, node);
    const size_t num_layers = batch_.graph.hops.size();
    const torch::Tensor self = Row(layer - 1, type, node);
    torch::Tensor sum = torch::zeros_like(self);
    int count = 0;
    const size_t hop = num_layers - layer;
    for (size_t h = expansion_ == Expansion::kAllNodes ? hop : 0; h <= hop; ++h) {
      for (const Block& block : batch_.graph.hops[h]) {
        const EdgeTypeSpec& edge_type = schema_.edge_types[block.edge_type];
        const int64_t target = node - block.first_target;
        if (edge_type.target_type != type || target < 0 || target >= block.num_targets()) continue;
        for (int64_t e = block.offsets[target]; e < block.offsets[target + 1]; ++e, ++count) {
          sum = sum + Row(layer - 1, edge_type.source_type, block.sources[e]);
        }
      }
    }
    const std::string number = std::to_string(layer - 1);
    const torch::Tensor mean = count > 0 ? sum / count : sum;
    const torch::Tensor row = torch::mv(weights_["self" + number + ".weight"], self) +
                              weights_["self" + number + ".bias"] +
                              torch::mv(weights_["neighbours" + number + ".weight"], mean);
    return layer < num_layers ? torch::relu(row) : row;
  }

 private:
  torch::Tensor Input(int type, int64_t node) {
    const BatchColumn& column = batch_.columns[type];
    const torch::Tensor rows =
        RowsAsFloat(column.spec, column.num_rows, column.bytes, nullptr).value();
    const std::string name = "project" + std::to_string(type);
    return torch::mv(weights_[name + ".weight"], rows[node]) + weights_[name + ".bias"];
  }

  const Schema& schema_;
  const Expansion expansion_;
  const MiniBatch& batch_;
  std::map<std::string, torch::Tensor> weights_;
};

}  // namespace

TEST_CASE("the model computes its definition, over several types and both expansions", "[sage]") {
  const Expansion expansion = GENERATE(Expansion::kAllNodes, Expansion::kNewNodes);
  const int num_layers = GENERATE(1, 2, 3);
  const Schema schema = TwoTypeSchema();
  const auto make_batch = [&] {
    std::mt19937 random(num_layers);
    return RandomMiniBatch(schema, expansion, num_layers, 4, &random);
  };
  const auto batch = make_batch();
  const BatchTensors tensors = ToTensors(schema, expansion, make_batch()).value();
  SageModel model(SmallOptions(num_layers));
  InitializeWeights(8, &model);
  model.eval();
  const torch::NoGradGuard no_grad;

  const torch::Tensor logits = model.Forward(tensors);

  REQUIRE(logits.sizes() == torch::IntArrayRef({5, 5}));
  Oracle oracle(schema, expansion, *batch, model);
  for (int64_t seed = 0; seed < 5; ++seed) {
    const torch::Tensor expected = oracle.Row(num_layers, 0, batch->graph.seeds[0].positions[seed]);
    CHECK(torch::allclose(logits[seed], expected, 1e-4, 1e-5));
  }
}

TEST_CASE("a type without features takes part through a learned vector", "[sage]") {
  std::mt19937 random(4);
  const Schema schema = TwoTypeSchema();
  auto batch = RandomMiniBatch(schema, Expansion::kAllNodes, 2, 6, &random);
  batch->columns.pop_back();
  SageOptions options = SmallOptions(2);
  options.input_widths = {4, 0};
  SageModel model(options);
  InitializeWeights(5, &model);
  const BatchTensors tensors = ToTensors(schema, Expansion::kAllNodes, std::move(batch)).value();
  model.Forward(tensors).sum().backward();
  const torch::Tensor vector = model.named_parameters()["type1"];
  REQUIRE(vector.grad().defined());
  CHECK(vector.grad().abs().sum().item<double>() > 0);
}

TEST_CASE("the model learns what depends on neighbours alone", "[sage]") {
  // Of 60 isolated pairs, a seed's class is the sign of its neighbour's only feature.
  torch::manual_seed(12);
  Schema schema;
  schema.node_types.resize(1);
  schema.edge_types = {{0, "to", 0, {}}};
  const int64_t num_seeds = 60;
  BatchTensors batch;
  batch.num_nodes = {2 * num_seeds};
  batch.features = {torch::randn({2 * num_seeds, 1})};
  batch.labels = batch.features[0].slice(0, num_seeds).flatten().gt(0).to(torch::kInt64);
  batch.seed_rows = torch::arange(num_seeds);
  batch.layers = {{{{0, num_seeds}},
                   torch::arange(num_seeds + 1),
                   torch::arange(num_seeds, 2 * num_seeds, torch::kInt32)}};
  SageOptions options;
  options.input_widths = {1};
  options.num_layers = 1;
  options.num_classes = 2;
  SageModel model(options);
  InitializeWeights(5, &model);
  torch::optim::Adam optimizer(model.parameters(), torch::optim::AdamOptions(0.1));
  for (int step = 0; step < 100; ++step) {
    optimizer.zero_grad();
    torch::nn::functional::cross_entropy(model.Forward(batch), batch.labels).backward();
    optimizer.step();
  }
  const torch::Tensor guess = model.Forward(batch).argmax(1);
  CHECK(guess.eq(batch.labels).sum().item<int64_t>() >= 58);
}

TEST_CASE("a minibatch of another depth than the model is refused", "[sage]") {
  std::mt19937 random(1);
  const Schema schema = TwoTypeSchema();
  const BatchTensors tensors =
      ToTensors(schema, Expansion::kAllNodes,
                RandomMiniBatch(schema, Expansion::kAllNodes, 2, 3, &random))
          .value();
  SageModel model(SmallOptions(3));
  CHECK_THROWS_AS(model.Forward(tensors), c10::Error);
}

}  // namespace vicinity
