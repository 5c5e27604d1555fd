#include "client/train/mean_aggregate.h"

#include <ATen/Parallel.h>
#include <torch/utils.h>

#include <catch2/catch.hpp>
#include <vector>

namespace vicinity {
namespace {

struct Lists {
  torch::Tensor offsets;
  torch::Tensor sources;
  torch::Tensor dense;  // float32 [outputs, inputs]: row i sums to 1, or is 0
};

Lists RandomLists(int64_t num_inputs, int64_t num_outputs) {
  torch::manual_seed(3);
  const torch::Tensor counts = torch::randint(0, 5, {num_outputs}, torch::kInt64);
  Lists lists;
  lists.offsets = torch::cat({torch::zeros({1}, torch::kInt64), counts.cumsum(0)});
  const int64_t num_edges = lists.offsets[-1].item<int64_t>();
  lists.sources = torch::randint(0, num_inputs, {num_edges}, torch::kInt32);
  lists.dense = torch::zeros({num_outputs, num_inputs});
  for (int64_t i = 0; i < num_outputs; ++i) {
    for (int64_t e = lists.offsets[i].item<int64_t>(); e < lists.offsets[i + 1].item<int64_t>();
         ++e) {
      lists.dense[i][lists.sources[e].item<int64_t>()] += 1.0 / counts[i].item<double>();
    }
  }
  return lists;
}

}  // namespace

TEST_CASE("the mean and its gradient equal those of a dense product", "[mean_aggregate]") {
  const int64_t width = GENERATE(1, 7, 256);
  const Lists lists = RandomLists(60, 700);
  const torch::Tensor weights = torch::randn({700, width});

  const torch::Tensor ours_in = torch::randn({60, width}).requires_grad_();
  const torch::Tensor ours = MeanOfNeighbours(ours_in, lists.offsets, lists.sources);
  (ours * weights).sum().backward();

  const torch::Tensor dense_in = ours_in.detach().clone().requires_grad_();
  const torch::Tensor dense = torch::mm(lists.dense, dense_in);
  (dense * weights).sum().backward();

  CHECK(torch::allclose(ours, dense, 1e-5, 1e-6));
  CHECK(torch::allclose(ours_in.grad(), dense_in.grad(), 1e-4, 1e-5));
}

TEST_CASE("the gradient is what finite differences say", "[mean_aggregate]") {
  const Lists lists = RandomLists(6, 9);
  const torch::Tensor inputs = torch::randn({6, 3}).requires_grad_();
  const torch::Tensor weights = torch::randn({9, 3});
  const auto loss = [&](const torch::Tensor& rows) {
    return (MeanOfNeighbours(rows, lists.offsets, lists.sources).pow(2) * weights).sum();
  };
  loss(inputs).backward();

  const double step =
      1e-2;  // the loss is quadratic: central differences are exact but for rounding
  const torch::NoGradGuard no_grad;
  for (int64_t row = 0; row < 6; ++row) {
    for (int64_t column = 0; column < 3; ++column) {
      torch::Tensor shifted = inputs.detach().clone();
      shifted[row][column] += step;
      const double above = loss(shifted).item<double>();
      shifted[row][column] -= 2 * step;
      const double below = loss(shifted).item<double>();
      CHECK(inputs.grad()[row][column].item<double>() ==
            Approx((above - below) / (2 * step)).epsilon(1e-2).margin(1e-3));
    }
  }
}

TEST_CASE("any number of threads gives the same bits", "[mean_aggregate]") {
  const Lists lists = RandomLists(100, 2000);
  const torch::Tensor values = torch::randn({100, 256});
  const int threads_before = at::get_num_threads();
  std::vector<torch::Tensor> results;
  std::vector<torch::Tensor> grads;
  for (const int threads : {1, 2, 4}) {
    at::set_num_threads(threads);
    const torch::Tensor inputs = values.clone().requires_grad_();
    results.push_back(MeanOfNeighbours(inputs, lists.offsets, lists.sources));
    results.back().pow(2).sum().backward();
    grads.push_back(inputs.grad());
  }
  at::set_num_threads(threads_before);
  for (size_t i = 1; i < results.size(); ++i) {
    CHECK(torch::equal(results[i], results[0]));
    CHECK(torch::equal(grads[i], grads[0]));
  }
}

TEST_CASE("tensors of other types or shapes are refused", "[mean_aggregate]") {
  const torch::Tensor inputs = torch::zeros({4, 2});
  const torch::Tensor offsets = torch::zeros({3}, torch::kInt64);
  const torch::Tensor sources = torch::zeros({0}, torch::kInt32);
  CHECK_NOTHROW(MeanOfNeighbours(inputs, offsets, sources));
  CHECK_THROWS_AS(MeanOfNeighbours(inputs.to(torch::kFloat64), offsets, sources), c10::Error);
  CHECK_THROWS_AS(MeanOfNeighbours(inputs[0], offsets, sources), c10::Error);
  CHECK_THROWS_AS(MeanOfNeighbours(inputs, offsets.to(torch::kInt32), sources), c10::Error);
  CHECK_THROWS_AS(MeanOfNeighbours(inputs, offsets.slice(0, 0, 0), sources), c10::Error);
  CHECK_THROWS_AS(MeanOfNeighbours(inputs, offsets, sources.to(torch::kInt64)), c10::Error);
}

}  // namespace vicinity
