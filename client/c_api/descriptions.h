// What graphs and loaders tell of themselves, as JSON; client/c_api/vicinity.h has the fields.
#pragma once

#include <string>
#include <vector>

#include "client/graph.h"
#include "client/types/graph_values.h"
#include "client/types/loader_values.h"

namespace vicinity::c_api {

std::string Describe(const Graph& graph);
std::string Describe(const LoaderStats& stats);
std::string Describe(const TrafficStats& stats);
std::string Describe(const std::vector<MetricValue>& metrics);

}  // namespace vicinity::c_api
