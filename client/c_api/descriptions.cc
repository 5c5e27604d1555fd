#include "client/c_api/descriptions.h"

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "partition/dataset/schema.h"

namespace vicinity::c_api {
namespace {

using nlohmann::ordered_json;

// Names of datasets may be any bytes; what is no UTF-8 is shown as U+FFFD.
std::string Text(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json Columns(const std::vector<ColumnSpec>& columns) {
  ordered_json list = ordered_json::array();
  for (const ColumnSpec& column : columns) {
    list.push_back(
        {{"name", column.name}, {"dtype", DTypeName(column.dtype)}, {"shape", column.shape}});
  }
  return list;
}

}  // namespace

std::string Describe(const Graph& graph) {
  const Schema& schema = graph.schema();
  ordered_json nodes = ordered_json::array();
  for (size_t i = 0; i < schema.node_types.size(); ++i) {
    const NodeTypeSpec& type = schema.node_types[i];
    nodes.push_back({{"name", type.name},
                     {"num_nodes", graph.num_nodes(static_cast<int32_t>(i))},
                     {"columns", Columns(type.columns)},
                     {"label_column", type.label_column},
                     {"num_classes", type.num_classes},
                     {"split_column", type.split_column},
                     {"target_column", type.target_column}});
  }
  ordered_json edges = ordered_json::array();
  for (size_t i = 0; i < schema.edge_types.size(); ++i) {
    const EdgeTypeSpec& type = schema.edge_types[i];
    edges.push_back({{"name", schema.EdgeTypeName(static_cast<int>(i))},
                     {"source_type", type.source_type},
                     {"target_type", type.target_type},
                     {"weight_column", type.weight_column},
                     {"columns", Columns(type.columns)}});
  }
  char fingerprint[17];
  snprintf(fingerprint, sizeof(fingerprint), "%016llx",
           static_cast<unsigned long long>(graph.fingerprint()));  // NOLINT(google-runtime-int)
  return Text({{"name", graph.name()},
               {"fingerprint", fingerprint},
               {"num_shards", graph.num_shards()},
               {"node_types", nodes},
               {"edge_types", edges}});
}

std::string Describe(const LoaderStats& stats) {
  ordered_json stages = ordered_json::array();
  for (const StageTime& stage : stats.stages) {
    stages.push_back({{"stage", stage.stage},
                      {"num_threads", stage.num_threads},
                      {"batches", stage.batches},
                      {"busy_seconds", stage.busy_seconds},
                      {"starved_seconds", stage.starved_seconds},
                      {"blocked_seconds", stage.blocked_seconds},
                      {"rows", stage.rows}});
  }
  return Text({{"stages", stages},
               {"wall_seconds", stats.wall_seconds},
               {"nodes", stats.nodes},
               {"rows_local", stats.rows_local},
               {"rows_cached", stats.rows_cached},
               {"rows_remote", stats.rows_remote},
               {"bytes_remote", stats.bytes_remote},
               {"cache_rows", stats.cache_rows},
               {"cache_bytes", stats.cache_bytes},
               {"ranked_by", stats.ranked_by},
               {"device_bytes", stats.device_bytes}});
}

}  // namespace vicinity::c_api
