#include "client/cli/output/text_chart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/output/line_chart.h"

namespace vicinity::cli {
namespace {

constexpr int kColumns = 64;
constexpr int kRows = 16;
constexpr int kMargin = 8;  // for the ticks of y

char Letter(size_t series) { return static_cast<char>('a' + series % 26); }

int Spot(double place, int size) {
  return std::clamp(static_cast<int>(std::lround(place * (size - 1))), 0, size - 1);
}

std::vector<std::string> DrawPoints(const LineChart& chart, const ChartAxis& x_axis,
                                    const ChartAxis& y_axis) {
  std::vector<std::string> rows(kRows, std::string(kColumns, ' '));
  for (size_t i = 0; i < chart.series.size(); ++i) {
    for (const auto& [x, y] : chart.series[i].points) {
      char& spot = rows[kRows - 1 - Spot(y_axis.Place(y), kRows)][Spot(x_axis.Place(x), kColumns)];
      if (spot == ' ') spot = Letter(i);
    }
  }
  return rows;
}

// Ticks where they belong; one that would run into the one before is left out.
std::string TickLine(const ChartAxis& axis) {
  std::string line;
  for (const double tick : axis.ticks()) {
    const std::string text = TickText(tick);
    const size_t at = Spot(axis.Place(tick), kColumns);
    if (!line.empty() && at <= line.size()) continue;
    line.resize(at, ' ');
    absl::StrAppend(&line, text);
  }
  return line;
}

}  // namespace

void PrintTextChart(const LineChart& chart, std::ostream& out) {
  const ChartAxis x_axis = XAxis(chart);
  const ChartAxis y_axis = YAxis(chart);
  const std::vector<std::string> points = DrawPoints(chart, x_axis, y_axis);
  std::vector<std::string> labels(kRows);
  for (const double tick : y_axis.ticks()) {
    labels[kRows - 1 - Spot(y_axis.Place(tick), kRows)] = TickText(tick);
  }
  out << chart.title << '\n' << chart.y_label << '\n';
  for (int row = 0; row < kRows; ++row) {
    std::string line = absl::StrFormat("%*s |%s", kMargin, labels[row], points[row]);
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
  const std::string margin(kMargin + 1, ' ');
  out << margin << '+' << std::string(kColumns, '-') << '\n';
  out << margin << ' ' << TickLine(x_axis) << '\n' << margin << ' ' << chart.x_label << '\n';
  for (size_t i = 0; i < chart.series.size(); ++i) {
    out << margin << ' ' << Letter(i) << "  " << chart.series[i].name << '\n';
  }
}

}  // namespace vicinity::cli
