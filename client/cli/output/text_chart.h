// Line charts as text, for a terminal.
#pragma once

#include <ostream>

#include "client/cli/output/line_chart.h"

namespace vicinity::cli {

// Each series is a letter at its points, which the legend explains; of letters in one place the
// first is shown. Below 80 columns, some 20 lines and one a series.
void PrintTextChart(const LineChart& chart, std::ostream& out);

}  // namespace vicinity::cli
