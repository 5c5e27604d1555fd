#include "cache/vip/draw_chance.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "partition/schema/sampling_spec.h"

namespace vicinity {
namespace {

// The chance that one of the first `count` edges is among `draws`: all outcomes counted.
double Enumerated(const std::vector<double>& weights, size_t count, int64_t draws, bool replace) {
  std::map<uint32_t, double> taken = {{0, 1.0}};
  for (int64_t draw = 0; draw < draws; ++draw) {
    std::map<uint32_t, double> next;
    for (const auto& [set, probability] : taken) {
      double left = 0;
      for (size_t i = 0; i < weights.size(); ++i) {
        if (replace || (set >> i & 1) == 0) left += weights[i];
      }
      if (left == 0) next[set] += probability;
      for (size_t i = 0; i < weights.size(); ++i) {
        if (weights[i] == 0 || (!replace && (set >> i & 1) != 0)) continue;
        next[set | uint32_t{1} << i] += probability * weights[i] / left;
      }
    }
    taken = std::move(next);
  }
  double drawn = 0;
  for (const auto& [set, probability] : taken) {
    if ((set & ((uint32_t{1} << count) - 1)) != 0) drawn += probability;
  }
  return drawn;
}

TEST_CASE("edges alike are drawn as enumeration says, several as one question", "[draw_chance]") {
  const bool replace = GENERATE(false, true);
  for (size_t degree = 1; degree <= 7; ++degree) {
    for (int64_t fanout = 1; fanout <= 8; ++fanout) {
      const DrawRule rule{fanout, replace, false};
      for (size_t count = 1; count <= degree; ++count) {
        CAPTURE(replace, degree, fanout, count);
        CHECK(DrawChance(rule, DrawRate(rule, static_cast<int64_t>(degree)),
                         static_cast<double>(count)) ==
              Approx(Enumerated(std::vector<double>(degree, 1), count, fanout, replace)));
      }
    }
  }
}

TEST_CASE("weighted draws with replacement, and single ones, are exact", "[draw_chance]") {
  const std::vector<double> weights = {0.5, 3, 0, 1.25, 0.25, 7};
  for (int64_t fanout = 1; fanout <= 6; ++fanout) {
    for (const bool replace : {false, true}) {
      if (!replace && fanout > 1) continue;
      const DrawRule rule{fanout, replace, true};
      const double rate = DrawRate(rule, weights);
      double amount = 0;
      for (size_t count = 1; count <= weights.size(); ++count) {
        amount += weights[count - 1];
        CHECK(DrawChance(rule, rate, amount) ==
              Approx(Enumerated(weights, count, fanout, replace)));
      }
    }
  }
}

TEST_CASE("weighted draws without replacement are near enumeration", "[draw_chance]") {
  std::mt19937_64 random(5);
  std::exponential_distribution<double> exponential;
  std::lognormal_distribution<double> log_normal(0, 2);
  const bool wild = GENERATE(false, true);
  for (const auto& [degree, fanout] :
       std::vector<std::pair<size_t, int64_t>>{{6, 2}, {6, 4}, {10, 3}, {10, 5}, {10, 8}}) {
    double error = 0, worst = 0;
    constexpr int kLists = 20;
    for (int list = 0; list < kLists; ++list) {
      std::vector<double> weights(degree);
      for (double& weight : weights) weight = wild ? log_normal(random) : exponential(random);
      const DrawRule rule{fanout, false, true};
      const double rate = DrawRate(rule, weights);
      double drawn = 0;
      for (size_t i = 0; i < degree; ++i) {
        std::swap(weights[0], weights[i]);
        const double chance = DrawChance(rule, rate, weights[0]);
        const double off = std::abs(chance - Enumerated(weights, 1, fanout, false));
        std::swap(weights[0], weights[i]);
        drawn += chance;
        error += off / static_cast<double>(fanout) / kLists;
        worst = std::max(worst, off);
      }
      CHECK(drawn == Approx(static_cast<double>(fanout)));
    }
    CAPTURE(wild, degree, fanout, error, worst);
    CHECK(error < 0.05);
    CHECK(worst < 0.1);
  }
}

TEST_CASE("equal weights draw as edges alike do", "[draw_chance]") {
  for (const int64_t fanout : {1, 3, 9, 10, 11}) {
    const DrawRule weighted{fanout, false, true}, alike{fanout, false, false};
    CHECK(DrawChance(weighted, DrawRate(weighted, std::vector<double>(10, 0.3)), 0.3) ==
          Approx(DrawChance(alike, DrawRate(alike, 10), 1)));
  }
}

TEST_CASE("weights of any size and lists of any length", "[draw_chance]") {
  const DrawRule rule{3, false, true};
  std::vector<double> weights(5000);
  std::iota(weights.begin(), weights.end(), 0.0);
  const double scale = GENERATE(1e-30, 1.0, 1e30);
  for (double& weight : weights) weight *= scale;
  const double rate = DrawRate(rule, weights);
  double drawn = 0;
  for (const double weight : weights) drawn += DrawChance(rule, rate, weight);
  CHECK(drawn == Approx(3));
  CHECK(DrawChance(rule, rate, 0) == 0);
  // A few that outweigh all others by far are drawn, and one of the rest.
  const std::vector<double> extreme = {1e12, 1e12, 1, 1, 1, 1};
  const double extreme_rate = DrawRate(rule, extreme);
  CHECK(DrawChance(rule, extreme_rate, 1e12) == Approx(1));
  CHECK(DrawChance(rule, extreme_rate, 1) == Approx(0.25));
}

TEST_CASE("nothing is drawn from nothing, and all where all are taken", "[draw_chance]") {
  for (const bool replace : {false, true}) {
    for (const bool weighted : {false, true}) {
      const DrawRule none{0, replace, weighted}, all{kAllNeighbors, replace, weighted};
      const std::vector<double> weights = {0, 2};
      CHECK(DrawChance(none, DrawRate(none, weights), 2) == 0);
      CHECK(DrawChance(none, DrawRate(none, 2), 1) == 0);
      CHECK(DrawChance(all, DrawRate(all, weights), 2) == 1);
      CHECK(DrawChance(all, DrawRate(all, weights), 0) == 0);
      const DrawRule some{2, replace, weighted};
      CHECK(DrawRate(some, 0) == 0);
      CHECK(DrawRate(some, std::vector<double>{0, 0}) == 0);
      CHECK(DrawChance(some, 0, 1) == 0);
    }
  }
}

}  // namespace
}  // namespace vicinity
