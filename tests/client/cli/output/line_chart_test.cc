#include "client/cli/output/line_chart.h"

#include <catch2/catch.hpp>
#include <vector>

namespace vicinity::cli {
namespace {

void CheckTicks(const ChartAxis& axis, const std::vector<double>& expected) {
  REQUIRE(axis.ticks().size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) CHECK(axis.ticks()[i] == Approx(expected[i]));
}

TEST_CASE("axes have round ticks around their values", "[chart]") {
  CheckTicks(ChartAxis(0, 97, 6, false), {0, 20, 40, 60, 80, 100});
  CheckTicks(ChartAxis(0, 100, 6, false), {0, 20, 40, 60, 80, 100});
  CheckTicks(ChartAxis(0, 0.3, 4, false), {0, 0.1, 0.2, 0.3});
  CheckTicks(ChartAxis(-3, 12, 4, false), {-5, 0, 5, 10, 15});
  CheckTicks(ChartAxis(7, 7, 6, false), {7, 8});
  CheckTicks(ChartAxis(0.05, 1, 6, true), {0.05, 0.1, 0.2, 0.5, 1});
  CheckTicks(ChartAxis(3, 150, 6, true), {2, 5, 10, 20, 50, 100, 200});
  CheckTicks(ChartAxis(1, 1, 6, true), {1, 2});
}

TEST_CASE("values lie between the ends of their axis", "[chart]") {
  const ChartAxis linear(0, 100, 6, false);
  CHECK(linear.Place(0) == Approx(0));
  CHECK(linear.Place(25) == Approx(0.25));
  CHECK(linear.Place(100) == Approx(1));
  const ChartAxis log(1, 100, 6, true);
  CHECK(log.Place(1) == Approx(0).margin(1e-12));
  CHECK(log.Place(10) == Approx(0.5));
  CHECK(log.Place(100) == Approx(1));
}

TEST_CASE("axes of a chart hold all its points, y from 0", "[chart]") {
  LineChart chart;
  CHECK(YAxis(chart).ticks().size() == 2);  // nothing to show is no reason to fail
  CHECK(XAxis(chart).ticks().size() == 2);
  chart.series = {{"a", {{1, 30}, {4, 45}}}, {"b", {{2, 20}, {5, 31}}}, {"none", {}}};
  CheckTicks(XAxis(chart), {1, 2, 3, 4, 5});
  CheckTicks(YAxis(chart), {0, 10, 20, 30, 40, 50});
  chart.log_x = true;
  CheckTicks(XAxis(chart), {1, 2, 5});
}

TEST_CASE("ticks are short", "[chart]") {
  CHECK(TickText(0) == "0");
  CHECK(TickText(0.05) == "0.05");
  CHECK(TickText(250) == "250");
  CHECK(TickText(1500) == "1.5k");
  CHECK(TickText(20e6) == "20M");
  CHECK(TickText(-2000) == "-2k");
}

}  // namespace
}  // namespace vicinity::cli
