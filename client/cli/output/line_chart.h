// A line chart as plain values: what the tool draws as a picture (svg_chart.h) or as text
// (text_chart.h).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace vicinity::cli {

struct LineChart {
  struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points;  // x rising, finite
  };

  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Series> series;
  bool log_x = false;  // where all x are above 0
};

// One axis: which values it shows, and where. It begins and ends with a tick.
class ChartAxis {
 public:
  // From `low` to `high`, made rounder; about `num_ticks` ticks (of a logarithmic axis: one a power
  // of ten, or two more between). high >= low; both above 0 if logarithmic.
  ChartAxis(double low, double high, int num_ticks, bool is_log);

  const std::vector<double>& ticks() const { return ticks_; }
  // 0 at the first tick, 1 at the last.
  double Place(double value) const;

 private:
  const bool is_log_;
  std::vector<double> ticks_;
};
ChartAxis XAxis(const LineChart& chart);
ChartAxis YAxis(const LineChart& chart);  // from 0

// Short, for a tick: "0", "0.05", "250", "1.5k", "20M".
std::string TickText(double value);

}  // namespace vicinity::cli
