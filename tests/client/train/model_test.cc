#include "client/train/model.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "client/train/linear_model.h"

namespace vicinity {

TEST_CASE("weights depend on the seed alone", "[model]") {
  LinearModel model(0, 400, 50);
  LinearModel same(0, 400, 50);
  LinearModel other(0, 400, 50);
  InitializeWeights(3, &model);
  torch::rand({100});  // draws from the global generator change nothing
  InitializeWeights(3, &same);
  InitializeWeights(4, &other);
  CHECK(torch::equal(model.parameters()[0], same.parameters()[0]));
  CHECK(!torch::equal(model.parameters()[0], other.parameters()[0]));
}

TEST_CASE("matrices are uniform within their bound, vectors zero", "[model]") {
  LinearModel model(0, 400, 50);
  InitializeWeights(3, &model);
  const torch::Tensor weights = model.parameters()[0];
  CHECK(weights.abs().max().item<double>() <= 0.05);
  CHECK(weights.std().item<double>() == Approx(0.05 / std::sqrt(3.0)).epsilon(0.02));
  CHECK(model.parameters()[1].eq(0).all().item<bool>());
}

}  // namespace vicinity
