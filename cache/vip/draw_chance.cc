#include "cache/vip/draw_chance.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/types/span.h"
#include "partition/schema/sampling_spec.h"

namespace vicinity {
namespace {

// The time at which `fanout` of the clocks are expected to have rung, for a fanout below the number
// of clocks. Their number rises ever more slowly, so Newton's steps from below never pass it.
double ExpectedTime(absl::Span<const double> weights, double fanout, double total) {
  constexpr int kMostSteps = 100;
  double time = fanout / total;
  for (int step = 0; step < kMostSteps; ++step) {
    double rung = 0, slope = 0;
    for (const double weight : weights) {
      const double silent = std::exp(-time * weight);
      rung += 1 - silent;
      slope += weight * silent;
    }
    const double missing = fanout - rung;
    if (missing <= 1e-9 * fanout || !(slope > 0)) break;
    time += missing / slope;
  }
  return time;
}

bool IsTimed(const DrawRule& rule) { return rule.weighted && !rule.replace && rule.fanout > 1; }

// Of `edges` alike out of `degree`, none in `draws`.
double NoneOf(int64_t edges, int64_t degree, int64_t draws) {
  double none = 1;
  for (int64_t i = 0; i < edges && none > 0; ++i) {
    none *= static_cast<double>(std::max<int64_t>(0, degree - draws - i)) /
            static_cast<double>(degree - i);
  }
  return none;
}

}  // namespace

double DrawRate(const DrawRule& rule, int64_t degree) {
  return rule.fanout == 0 || degree == 0 ? 0 : 1 / static_cast<double>(degree);
}

double DrawRate(const DrawRule& rule, absl::Span<const double> weights) {
  double total = 0;
  int64_t positive = 0;
  for (const double weight : weights) {
    total += weight;
    positive += weight > 0;
  }
  if (rule.fanout == 0 || positive == 0) return 0;
  if (!IsTimed(rule)) return 1 / total;
  if (rule.fanout >= positive) return std::numeric_limits<double>::infinity();
  return ExpectedTime(weights, static_cast<double>(rule.fanout), total);
}

double DrawChance(const DrawRule& rule, double rate, double amount) {
  if (rule.fanout == 0 || !(rate > 0) || !(amount > 0)) return 0;
  if (rule.fanout == kAllNeighbors) return 1;
  const double draws = static_cast<double>(rule.fanout);
  if (IsTimed(rule)) return -std::expm1(-rate * amount);
  const double share = std::min(1.0, rate * amount);
  if (rule.fanout == 1) return share;
  if (rule.replace) return -std::expm1(draws * std::log1p(-share));
  if (amount == 1) return std::min(1.0, draws * rate);
  return 1 - NoneOf(std::llround(amount), std::llround(1 / rate), rule.fanout);
}

}  // namespace vicinity
