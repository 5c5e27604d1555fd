// What `vicinity partition` tells about a cut.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>

#include "client/planning/graph_cut.h"

namespace vicinity::cli {

void PrintPartitionReport(const PartitionReport& report, std::ostream& out);
nlohmann::ordered_json PartitionReportJson(const PartitionReport& report);

}  // namespace vicinity::cli
