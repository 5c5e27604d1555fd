#include "cache/vip/calibration.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace vicinity {
namespace {

constexpr int64_t kNodes = 4000;
constexpr int64_t kBatches = 400;

// Nodes whose scores are off by a factor each, around one that they have in common, and what
// batches needed of them.
struct Sampled {
  Sampled() {
    std::mt19937_64 random(7);
    std::lognormal_distribution<double> spread(0, 0.4);
    for (int64_t node = 0; node < kNodes; ++node) {
      const double score = 0.5 / (1 + static_cast<double>(node) / 40);
      scores.push_back(static_cast<float>(score));
      truth.push_back(std::min(1.0, 0.7 * score * spread(random)));
    }
    counts.num_batches = kBatches;
    for (std::vector<uint32_t>& half : counts.halves) {
      for (const double p : truth) {
        half.push_back(std::binomial_distribution<uint32_t>(kBatches / 2, p)(random));
      }
    }
  }
  double ErrorOf(const std::vector<float>& estimate) const {
    double squares = 0;
    for (int64_t i = 0; i < kNodes; ++i) {
      squares += (estimate[i] - truth[i]) * (estimate[i] - truth[i]);
    }
    return std::sqrt(squares / kNodes);
  }

  std::vector<float> scores;
  std::vector<double> truth;
  UseCounts counts;
};

TEST_CASE("corrected scores are nearer to the truth than formula and counts", "[calibration]") {
  const Sampled sampled;
  std::vector<float> corrected = sampled.scores;
  Calibrate(sampled.counts, &corrected);
  std::vector<float> counted;
  for (int64_t i = 0; i < kNodes; ++i) {
    counted.push_back(
        static_cast<float>(sampled.counts.halves[0][i] + sampled.counts.halves[1][i]) / kBatches);
  }
  const double error = sampled.ErrorOf(corrected);
  CAPTURE(error, sampled.ErrorOf(sampled.scores), sampled.ErrorOf(counted));
  CHECK(error < 0.3 * sampled.ErrorOf(sampled.scores));
  CHECK(error < 0.85 * sampled.ErrorOf(counted));
}

TEST_CASE("scores of 0 stay 0, others above it and at most 1", "[calibration]") {
  Sampled sampled;
  for (int64_t i = 0; i < kNodes; i += 3) sampled.scores[i] = 0;
  for (int64_t i = 0; i < kNodes; ++i) {
    for (std::vector<uint32_t>& half : sampled.counts.halves) {
      if (i < 100) half[i] = kBatches / 2;  // in every batch
      if (i > kNodes / 2) half[i] = 0;      // never seen
    }
  }
  std::vector<float> corrected = sampled.scores;
  Calibrate(sampled.counts, &corrected);
  for (int64_t i = 0; i < kNodes; ++i) {
    CAPTURE(i);
    REQUIRE((corrected[i] == 0) == (sampled.scores[i] == 0));
    REQUIRE(corrected[i] <= 1);
  }
}

TEST_CASE("without batches nothing changes", "[calibration]") {
  std::vector<float> scores = {0.5F, 0, 1};
  Calibrate({}, &scores);
  CHECK(scores == std::vector<float>{0.5F, 0, 1});
}

TEST_CASE("what is in every batch is counted on", "[calibration]") {
  std::vector<float> scores(1000, 0.25F);
  UseCounts counts;
  counts.num_batches = 20;
  for (std::vector<uint32_t>& half : counts.halves) {
    half.assign(1000, 0);
    for (int64_t i = 0; i < 500; ++i) half[i] = 10;
  }
  Calibrate(counts, &scores);
  CHECK(scores[0] == Approx(1));
  CHECK(scores[999] < 1e-3);
}

}  // namespace
}  // namespace vicinity
