#include "client/train/linear_model.h"

#include <torch/utils.h>

#include <catch2/catch.hpp>
#include <random>

#include "tests/client/train/random_batch.h"

namespace vicinity {

TEST_CASE("the linear model reads nothing but the seeds' own rows", "[linear_model]") {
  std::mt19937 random(2);
  const Schema schema = testing::TwoTypeSchema();
  BatchTensors batch =
      ToTensors(schema, Expansion::kAllNodes,
                testing::RandomMiniBatch(schema, Expansion::kAllNodes, 1, 4, &random))
          .value();
  LinearModel model(0, 4, 5);
  InitializeWeights(1, &model);
  const torch::Tensor before = model.Forward(batch);
  REQUIRE(before.sizes() == torch::IntArrayRef({5, 5}));  // four seeds, the last one twice
  CHECK(torch::equal(before[3], before[4]));
  CHECK(torch::allclose(
      before[1], torch::mv(model.parameters()[0], batch.features[0][1]) + model.parameters()[1]));

  batch.features[0].slice(0, 4).zero_();
  batch.layers.clear();
  CHECK(torch::equal(model.Forward(batch), before));
}

}  // namespace vicinity
