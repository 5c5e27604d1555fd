#include "client/train/mean_kernel.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace vicinity {
namespace {

struct Problem {
  int64_t num_inputs = 0;
  int64_t width = 0;
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> sources;
  std::vector<float> values;  // inputs, or gradients of outputs

  NeighbourLists lists() const {
    return {offsets.data(), sources.data(), static_cast<int64_t>(offsets.size()) - 1};
  }
};

Problem MakeProblem(int64_t num_inputs, int64_t num_outputs, int64_t width, bool of_outputs) {
  std::mt19937 random(7);
  Problem problem;
  problem.num_inputs = num_inputs;
  problem.width = width;
  for (int64_t i = 0; i < num_outputs; ++i) {
    for (uint32_t k = random() % 5; k > 0; --k) {
      problem.sources.push_back(static_cast<int32_t>(random() % num_inputs));
    }
    problem.offsets.push_back(static_cast<int64_t>(problem.sources.size()));
  }
  std::normal_distribution<float> normal;
  problem.values.resize((of_outputs ? num_outputs : num_inputs) * width);
  for (float& value : problem.values) value = normal(random);
  return problem;
}

}  // namespace

TEST_CASE("the mean of neighbours equals a sum over all pairs", "[mean_kernel]") {
  const int64_t width = GENERATE(1, 3, 16, 33);
  const Problem problem = MakeProblem(40, 25, width, false);
  const NeighbourLists lists = problem.lists();
  std::vector<float> out(25 * width, -1.0f);
  MeanForward(lists, problem.values.data(), width, 0, 10, out.data());
  MeanForward(lists, problem.values.data(), width, 10, 25, out.data());
  for (int64_t i = 0; i < 25; ++i) {
    for (int64_t c = 0; c < width; ++c) {
      double sum = 0;
      for (int64_t e = problem.offsets[i]; e < problem.offsets[i + 1]; ++e) {
        sum += problem.values[problem.sources[e] * width + c];
      }
      const int64_t count = problem.offsets[i + 1] - problem.offsets[i];
      CHECK(out[i * width + c] == Approx(count == 0 ? 0 : sum / count).margin(1e-6));
    }
  }
}

TEST_CASE("gradients go back to every neighbour, whatever the columns' division", "[mean_kernel]") {
  const int64_t width = GENERATE(1, 5, 64);
  const Problem problem = MakeProblem(30, 50, width, true);
  const NeighbourLists lists = problem.lists();
  std::vector<float> whole(30 * width, 0.0f);
  MeanBackward(lists, problem.values.data(), width, 0, width, whole.data());
  std::vector<float> parts(30 * width, 0.0f);
  MeanBackward(lists, problem.values.data(), width, 0, width / 2, parts.data());
  MeanBackward(lists, problem.values.data(), width, width / 2, width, parts.data());
  CHECK(whole == parts);

  std::vector<double> expected(30 * width, 0.0);
  for (int64_t i = 0; i < 50; ++i) {
    const double count = static_cast<double>(problem.offsets[i + 1] - problem.offsets[i]);
    for (int64_t e = problem.offsets[i]; e < problem.offsets[i + 1]; ++e) {
      for (int64_t c = 0; c < width; ++c) {
        expected[problem.sources[e] * width + c] += problem.values[i * width + c] / count;
      }
    }
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    CHECK(whole[at] == Approx(expected[at]).margin(1e-5));
  }
}

}  // namespace vicinity
