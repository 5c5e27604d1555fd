// The part of client/c_api/vicinity.h that concerns single samples.
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/c_api/call.h"
#include "client/c_api/graph_arguments.h"
#include "client/c_api/handles.h"
#include "client/c_api/options.h"
#include "client/c_api/vicinity.h"
#include "client/graph.h"
#include "client/types/loader_values.h"
#include "client/types/result.h"
#include "partition/schema/schema.h"

namespace vicinity::c_api {
namespace {

Error AddColumn(const Graph& graph, const LoaderOptions::ColumnRequest& request, MiniBatch* batch) {
  const Result<int32_t> type = FindNodeType(graph.schema(), request.node_type.c_str());
  if (!type.ok()) return type.error();
  const std::vector<int64_t>& ids = batch->graph.nodes[*type].ids;
  if (graph.schema().node_types[*type].FindRagged(request.column) >= 0) {
    Result<RaggedRows> ragged = graph.FetchRagged(*type, request.column, ids);
    if (!ragged.ok()) return ragged.error();
    batch->ragged.push_back({*type, *std::move(ragged)});
    return Error();
  }
  Result<Rows> rows = graph.Fetch(*type, request.column, ids);
  if (!rows.ok()) return rows.error();
  BatchColumn& column = batch->columns.emplace_back();
  column.node_type = *type;
  column.spec = std::move(rows->spec);
  column.num_rows = rows->num_rows;
  column.bytes = std::move(rows->bytes);
  return Error();
}

Error AddEdgeColumn(const Graph& graph, const LoaderOptions::EdgeColumnRequest& request,
                    MiniBatch* batch) {
  const Result<int32_t> type = FindEdgeType(graph.schema(), request.edge_type.c_str());
  if (!type.ok()) return type.error();
  Result<std::vector<EdgeRows>> blocks = graph.FetchEdges(batch->graph, *type, request.column);
  if (!blocks.ok()) return blocks.error();
  std::move(blocks->begin(), blocks->end(), std::back_inserter(batch->edge_columns));
  return Error();
}

Error Sample(const Graph& graph, const std::vector<SeedNodes>& seeds, const SampleOptions& options,
             VicinityBatch** given) {
  auto batch = std::make_unique<MiniBatch>();
  batch->epoch = static_cast<int64_t>(options.draw.epoch);
  batch->step = static_cast<int64_t>(options.draw.batch);
  const EdgeDetail detail(options.edge_ids, /*want_positions=*/!options.edge_columns.empty());
  Result<SampledGraph> sampled = graph.Sample(seeds, options.sampling, options.draw, detail);
  if (!sampled.ok()) return sampled.error();
  batch->graph = *std::move(sampled);
  for (const LoaderOptions::ColumnRequest& request : options.columns) {
    Error error = AddColumn(graph, request, batch.get());
    if (!error.ok()) return error;
  }
  for (const LoaderOptions::EdgeColumnRequest& request : options.edge_columns) {
    Error error = AddEdgeColumn(graph, request, batch.get());
    if (!error.ok()) return error;
  }
  auto handle = std::make_unique<VicinityBatch>();
  handle->open = std::make_shared<const OpenBatch>(std::make_shared<const Schema>(graph.schema()),
                                                   std::move(batch));
  *given = handle.release();
  return Error();
}

Result<SeedNodes> Copied(const Graph& graph, const VicinitySeedNodes& list) {
  if (list.node_type == nullptr) {
    return Error(ErrorCode::kInvalidArgument, "seeds: node_type is null");
  }
  const Result<int32_t> type = FindNodeType(graph.schema(), list.node_type);
  if (!type.ok()) return type.error();
  Result<std::vector<int64_t>> ids = CopyIds(list.ids, list.num_ids);
  if (!ids.ok()) return ids.error();
  if (list.times == nullptr) return SeedNodes{*type, *std::move(ids), {}};
  Result<std::vector<int64_t>> times = CopyIds(list.times, list.num_ids);
  if (!times.ok()) return times.error();
  return SeedNodes{*type, *std::move(ids), *std::move(times)};
}

Error Sample(const Graph& graph, const VicinitySeedNodes* seeds, int32_t num_lists,
             const char* options_json, VicinityBatch** batch) {
  if (num_lists < 1) {
    return Error(ErrorCode::kInvalidArgument,
                 "seeds are " + std::to_string(num_lists) + " lists: give one at least");
  }
  std::vector<SeedNodes> lists;
  for (int32_t i = 0; i < num_lists; ++i) {
    Result<SeedNodes> list = Copied(graph, seeds[i]);
    if (!list.ok()) return list.error();
    lists.push_back(*std::move(list));
  }
  const Result<SampleOptions> options = ParseSampleOptions(graph.schema(), options_json);
  if (!options.ok()) return options.error();
  return Sample(graph, lists, *options, batch);
}

}  // namespace
}  // namespace vicinity::c_api

using vicinity::Error;

extern "C" int32_t vicinity_graph_sample(const VicinityGraph* graph, const VicinitySeedNodes* seeds,
                                         int32_t num_lists, const char* options_json,
                                         VicinityBatch** batch) {
  return vicinity::c_api::Call([&]() -> Error {
    Error error = vicinity::c_api::CheckGiven(
        {{"graph", graph}, {"seeds", seeds}, {"options_json", options_json}, {"batch", batch}});
    if (!error.ok()) return error;
    return vicinity::c_api::Sample(*graph->graph, seeds, num_lists, options_json, batch);
  });
}
