// A transfer plan as a table, as JSON and as a chart.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>

#include "client/cli/output/line_chart.h"
#include "client/planning/transfer_plan.h"

namespace vicinity::cli {

void PrintTransferPlan(const TransferPlan& plan, std::ostream& out);
nlohmann::ordered_json TransferPlanJson(const TransferPlan& plan);
LineChart TransferChart(const TransferPlan& plan, const std::string& dataset_name);

}  // namespace vicinity::cli
