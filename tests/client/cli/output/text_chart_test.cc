#include "client/cli/output/text_chart.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "client/cli/output/line_chart.h"

namespace vicinity::cli {
namespace {

std::vector<std::string> Lines(const LineChart& chart) {
  std::stringstream out;
  PrintTextChart(chart, out);
  std::vector<std::string> lines;
  for (std::string line; std::getline(out, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("points are letters in their places", "[chart]") {
  LineChart chart;
  chart.title = "title";
  chart.x_label = "size";
  chart.y_label = "rows";
  chart.series = {{"falls", {{0, 100}, {10, 0}}}, {"rises", {{0, 0}, {5, 50}, {10, 100}}}};
  const std::vector<std::string> lines = Lines(chart);
  REQUIRE(lines.size() == 2 + 16 + 3 + 2);
  CHECK(lines[0] == "title");
  CHECK(lines[1] == "rows");
  CHECK(lines[2] == "     100 |a" + std::string(62, ' ') + "b");
  CHECK(lines[17] == "       0 |b" + std::string(62, ' ') + "a");
  CHECK(std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
          return line.size() > 42 && line[42] == 'b';
        }) == 1);
  CHECK_THAT(lines[19], Catch::Contains("0") && Catch::Contains("10"));
  CHECK_THAT(lines[20], Catch::Contains("size"));
  CHECK_THAT(lines[21], Catch::Contains("a  falls"));
  CHECK_THAT(lines[22], Catch::Contains("b  rises"));
  for (const std::string& line : lines) CHECK(line.size() < 80);
}

TEST_CASE("of letters in one place the first is shown", "[chart]") {
  LineChart chart;
  chart.series = {{"one", {{0, 5}, {1, 10}}}, {"two", {{0, 5}, {1, 10}}}};
  for (const std::string& line : Lines(chart)) {
    if (line.find('|') != std::string::npos) CHECK(line.find('b') == std::string::npos);
  }
}

TEST_CASE("a chart of nothing has axes", "[chart]") {
  CHECK(Lines(LineChart()).size() == 2 + 16 + 3);
}

}  // namespace
}  // namespace vicinity::cli
