#include "client/c_api/descriptions.h"

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "partition/schema/reverse_type.h"
#include "partition/schema/schema.h"

namespace vicinity::c_api {
namespace {

using nlohmann::ordered_json;

// Names of datasets may be any bytes; what is no UTF-8 is shown as U+FFFD.
std::string Text(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

const char* IdKindName(IdKind kind) {
  if (kind == IdKind::kString) return "string";
  return kind == IdKind::kDense ? "dense" : "int64";
}

ordered_json Columns(const std::vector<ColumnSpec>& columns) {
  ordered_json list = ordered_json::array();
  for (const ColumnSpec& column : columns) {
    list.push_back(
        {{"name", column.name}, {"dtype", DTypeName(column.dtype)}, {"shape", column.shape}});
    if (!column.of_source.empty()) list.back()["of_source"] = column.of_source;
  }
  return list;
}

ordered_json Ragged(const std::vector<RaggedSpec>& columns) {
  ordered_json list = ordered_json::array();
  for (const RaggedSpec& column : columns) {
    list.push_back({{"name", column.name},
                    {"dtype", DTypeName(column.dtype)},
                    {"num_columns", column.num_columns}});
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
                     {"id_kind", IdKindName(type.id_kind)},
                     {"columns", Columns(type.columns)},
                     {"ragged_columns", Ragged(type.ragged)},
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
                     {"reverse_type", FindReverse(schema, static_cast<int>(i))},
                     {"weight_column", type.weight_column},
                     {"time_order", type.time_order},
                     {"columns", Columns(type.columns)}});
  }
  char fingerprint[17];
  snprintf(fingerprint, sizeof(fingerprint), "%016llx",
           static_cast<unsigned long long>(graph.fingerprint()));  // NOLINT(google-runtime-int)
  return Text({{"name", graph.name()},
               {"fingerprint", fingerprint},
               {"num_shards", graph.num_shards()},
               {"live", graph.is_live()},
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

std::string Describe(const TrafficStats& stats) {
  return Text({{"calls", stats.calls},
               {"sampled_edges_local", stats.sampled_edges_local},
               {"sampled_edges_remote", stats.sampled_edges_remote},
               {"rows_local", stats.rows_local},
               {"rows_remote", stats.rows_remote},
               {"bytes_sent", stats.bytes_sent},
               {"bytes_received", stats.bytes_received},
               {"bytes_copied", stats.bytes_copied},
               {"shard_calls", stats.shard_calls},
               {"attempts", stats.attempts},
               {"retries", stats.retries},
               {"hedges", stats.hedges},
               {"hedge_wins", stats.hedge_wins},
               {"quarantines", stats.quarantines},
               {"bulk_tcp_calls", stats.bulk_tcp_calls},
               {"bulk_unix_calls", stats.bulk_unix_calls},
               {"bulk_tcp_bytes_received", stats.bulk_tcp_bytes_received},
               {"bulk_unix_bytes_received", stats.bulk_unix_bytes_received}});
}

std::string Describe(const std::vector<MetricValue>& metrics) {
  ordered_json list = ordered_json::array();
  for (const MetricValue& metric : metrics) {
    ordered_json labels = ordered_json::object();
    for (const auto& [name, value] : metric.labels) labels[name] = value;
    list.push_back({{"name", metric.name},
                    {"help", metric.help},
                    {"is_counter", metric.is_counter},
                    {"labels", labels},
                    {"value", metric.value}});
  }
  return Text(list);
}

}  // namespace vicinity::c_api
