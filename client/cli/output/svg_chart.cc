#include "client/cli/output/svg_chart.h"

#include <array>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "client/cli/output/line_chart.h"

namespace vicinity::cli {
namespace {

constexpr double kWidth = 900;
constexpr double kHeight = 480;
// The plot's own rectangle; the legend is to the right of it.
constexpr double kLeft = 80;
constexpr double kTop = 48;
constexpr double kPlotWidth = 600;
constexpr double kPlotHeight = 360;
constexpr double kLegendLeft = kLeft + kPlotWidth + 24;
constexpr double kLegendLine = 20;

// Okabe and Ito's colours, told apart by everybody; dashed the second time round.
constexpr std::array<const char*, 8> kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#56b4e9", "#e69f00", "#000000", "#999933"};

std::string Escape(const std::string& text) {
  return absl::StrReplaceAll(text,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string Stroke(size_t series) {
  return absl::StrFormat("stroke=\"%s\"%s", kColors[series % kColors.size()],
                         series / kColors.size() % 2 == 1 ? " stroke-dasharray=\"6 4\"" : "");
}

void AppendLine(double x1, double y1, double x2, double y2, const std::string& stroke,
                std::string* svg) {
  absl::StrAppendFormat(svg, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1,
                        x2, y2, stroke);
}

void AppendText(double x, double y, const char* anchor, const std::string& text, std::string* svg) {
  absl::StrAppendFormat(svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y,
                        anchor, Escape(text));
}

class Plot {
 public:
  explicit Plot(const LineChart& chart) : chart_(chart), x_(XAxis(chart)), y_(YAxis(chart)) {}

  double X(double value) const { return kLeft + x_.Place(value) * kPlotWidth; }
  double Y(double value) const { return kTop + (1 - y_.Place(value)) * kPlotHeight; }

  void AppendAxes(std::string* svg) const {
    for (const double tick : y_.ticks()) {
      AppendLine(kLeft, Y(tick), kLeft + kPlotWidth, Y(tick), "stroke=\"#dddddd\"", svg);
      AppendText(kLeft - 8, Y(tick) + 4, "end", TickText(tick), svg);
    }
    for (const double tick : x_.ticks()) {
      AppendLine(X(tick), kTop + kPlotHeight, X(tick), kTop + kPlotHeight + 6, "stroke=\"#333333\"",
                 svg);
      AppendText(X(tick), kTop + kPlotHeight + 22, "middle", TickText(tick), svg);
    }
    AppendLine(kLeft, kTop + kPlotHeight, kLeft + kPlotWidth, kTop + kPlotHeight,
               "stroke=\"#333333\"", svg);
    AppendText(kLeft + kPlotWidth / 2, kHeight - 16, "middle", chart_.x_label, svg);
    absl::StrAppendFormat(
        svg,
        "<text transform=\"translate(20 %.1f) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
        kTop + kPlotHeight / 2, Escape(chart_.y_label));
  }

  void AppendSeries(size_t index, std::string* svg) const {
    const LineChart::Series& series = chart_.series[index];
    std::string points;
    for (const auto& [x, y] : series.points)
      absl::StrAppendFormat(&points, "%.1f,%.1f ", X(x), Y(y));
    if (!points.empty()) points.pop_back();
    absl::StrAppendFormat(svg, "<polyline points=\"%s\" fill=\"none\" stroke-width=\"2\" %s/>\n",
                          points, Stroke(index));
    for (const auto& [x, y] : series.points) {
      absl::StrAppendFormat(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", X(x),
                            Y(y), kColors[index % kColors.size()]);
    }
    const double y = kTop + 8 + kLegendLine * static_cast<double>(index);
    AppendLine(kLegendLeft, y, kLegendLeft + 28, y, "stroke-width=\"2\" " + Stroke(index), svg);
    AppendText(kLegendLeft + 36, y + 4, "start", series.name, svg);
  }

 private:
  const LineChart& chart_;
  const ChartAxis x_;
  const ChartAxis y_;
};

}  // namespace

std::string SvgChart(const LineChart& chart) {
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      kWidth, kHeight);
  AppendText(kLeft, 28, "start", chart.title, &svg);
  const Plot plot(chart);
  plot.AppendAxes(&svg);
  for (size_t i = 0; i < chart.series.size(); ++i) plot.AppendSeries(i, &svg);
  absl::StrAppend(&svg, "</svg>\n");
  return svg;
}

}  // namespace vicinity::cli
