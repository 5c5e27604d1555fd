#include "client/cli/output/svg_chart.h"

#include <catch2/catch.hpp>
#include <string>

#include "client/cli/output/line_chart.h"

namespace vicinity::cli {
namespace {

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE("a picture has a line, a mark a point and a legend for every series", "[chart]") {
  LineChart chart;
  chart.title = "rows & bytes < \"all\"";
  chart.x_label = "x";
  chart.y_label = "y";
  for (int i = 0; i < 10; ++i) {
    chart.series.push_back({"series " + std::to_string(i), {{1, i + 1.0}, {2, i + 2.0}}});
  }
  const std::string svg = SvgChart(chart);
  CHECK(svg.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\"", 0) == 0);
  CHECK(Count(svg, "<polyline ") == 10);
  CHECK(Count(svg, "<circle ") == 20);
  CHECK(Count(svg, ">series 7</text>") == 1);
  CHECK(Count(svg, "rows &amp; bytes &lt; &quot;all&quot;") == 1);
  CHECK(Count(svg, "stroke-dasharray") == 4);  // line and legend of the two that reuse a colour
  CHECK(Count(svg, "<text") == Count(svg, "</text>"));
  CHECK(svg == SvgChart(chart));
}

TEST_CASE("a point lies where its axes say", "[chart]") {
  LineChart chart;
  chart.series = {{"one", {{0, 0}, {10, 100}}}};
  const std::string svg = SvgChart(chart);
  CHECK(Count(svg, "points=\"80.0,408.0 680.0,48.0\"") == 1);
}

TEST_CASE("a chart of nothing is a picture too", "[chart]") {
  const std::string svg = SvgChart(LineChart());
  CHECK(Count(svg, "</svg>") == 1);
  CHECK(Count(svg, "nan") == 0);
}

}  // namespace
}  // namespace vicinity::cli
