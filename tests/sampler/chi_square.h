// Chi-square tests with a limit that a right sampler passes all but once in a million.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vicinity::testing {

// The statistic of counts against their expected values.
inline double ChiSquare(const std::vector<int64_t>& counts, const std::vector<double>& expected) {
  double sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double difference = static_cast<double>(counts[i]) - expected[i];
    sum += difference * difference / expected[i];
  }
  return sum;
}

// What the statistic exceeds with probability 1e-6 (Wilson and Hilferty's approximation).
inline double ChiSquareLimit(int64_t degrees_of_freedom) {
  constexpr double kNormalQuantile = 4.7534;  // of 1 - 1e-6
  const double df = static_cast<double>(degrees_of_freedom);
  const double spread = 2 / (9 * df);
  return df * std::pow(1 - spread + kNormalQuantile * std::sqrt(spread), 3);
}

}  // namespace vicinity::testing
