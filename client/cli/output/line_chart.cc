#include "client/cli/output/line_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace vicinity::cli {
namespace {

constexpr int kNumTicks = 6;
constexpr std::array<double, 3> kRound = {1, 2, 5};

// The smallest round number not below `value`, which is above 0.
double RoundUp(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double round : kRound) {
    if (round * power >= value * (1 - 1e-9)) return round * power;
  }
  return 10 * power;
}

std::vector<double> LinearTicks(double low, double high, int num_ticks) {
  const double step = RoundUp(high > low ? (high - low) / (num_ticks - 1) : 1);
  std::vector<double> ticks;
  // Multiples, not sums, so that no rounding adds up.
  double i = std::floor(low / step + 1e-9);
  do {
    ticks.push_back(i++ * step);
  } while (ticks.back() < high - step * 1e-9 || ticks.size() < 2);
  return ticks;
}

std::vector<double> LogTicks(double low, double high) {
  std::vector<double> ticks;
  for (double power = std::floor(std::log10(low)); power <= std::ceil(std::log10(high)); ++power) {
    for (const double round : kRound) {
      const double tick = round * std::pow(10, power);
      if (tick <= low * (1 + 1e-9)) ticks.clear();
      ticks.push_back(tick);
      if (tick >= high * (1 - 1e-9) && ticks.size() >= 2) return ticks;
    }
  }
  return ticks;
}

using Point = std::pair<double, double>;

ChartAxis AxisOf(const LineChart& chart, double Point::*coordinate, double low, bool is_log) {
  double high = -std::numeric_limits<double>::infinity();
  for (const LineChart::Series& series : chart.series) {
    for (const Point& point : series.points) {
      low = std::min(low, point.*coordinate);
      high = std::max(high, point.*coordinate);
    }
  }
  if (high < low) low = high = is_log ? 1 : 0;  // no points
  return ChartAxis(low, high, kNumTicks, is_log);
}

}  // namespace

ChartAxis::ChartAxis(double low, double high, int num_ticks, bool is_log)
    : is_log_(is_log), ticks_(is_log ? LogTicks(low, high) : LinearTicks(low, high, num_ticks)) {}

double ChartAxis::Place(double value) const {
  const double first = is_log_ ? std::log(ticks_.front()) : ticks_.front();
  const double last = is_log_ ? std::log(ticks_.back()) : ticks_.back();
  return ((is_log_ ? std::log(value) : value) - first) / (last - first);
}

ChartAxis XAxis(const LineChart& chart) {
  return AxisOf(chart, &Point::first, std::numeric_limits<double>::infinity(), chart.log_x);
}

ChartAxis YAxis(const LineChart& chart) { return AxisOf(chart, &Point::second, 0, false); }

std::string TickText(double value) {
  constexpr std::array<const char*, 5> kUnits = {"", "k", "M", "G", "T"};
  size_t unit = 0;
  while (std::abs(value) >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return absl::StrCat(absl::StrFormat("%.4g", value), kUnits[unit]);
}

}  // namespace vicinity::cli
