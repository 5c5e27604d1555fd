// Line charts as SVG: a picture that browsers and documents show at any size.
#pragma once

#include <string>

#include "client/cli/output/line_chart.h"

namespace vicinity::cli {

// A whole file. Same chart, same bytes.
std::string SvgChart(const LineChart& chart);

}  // namespace vicinity::cli
