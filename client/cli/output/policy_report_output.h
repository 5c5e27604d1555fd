// A report on cache policies as a table, as JSON and as a chart.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>

#include "client/cli/output/line_chart.h"
#include "client/planning/policy_report.h"

namespace vicinity::cli {

void PrintPolicyReport(const PolicyReport& report, std::ostream& out);
nlohmann::ordered_json PolicyReportJson(const PolicyReport& report);
LineChart PolicyChart(const PolicyReport& report, const std::string& dataset_name);

}  // namespace vicinity::cli
