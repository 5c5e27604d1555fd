// The part of client/c_api/vicinity.h that concerns walks, and what is counted on them.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/c_api/call.h"
#include "client/c_api/graph_arguments.h"
#include "client/c_api/handles.h"
#include "client/c_api/host_tensor.h"
#include "client/c_api/options.h"
#include "client/c_api/vicinity.h"
#include "client/graph.h"
#include "client/options/walk_options.h"
#include "client/types/result.h"
#include "partition/schema/schema.h"
#include "sampler/proximity/visit_counts.h"
#include "sampler/walk_spec.h"

namespace vicinity::c_api {
namespace {

// [number of walks, width], of one of the lists of `walks`, which it keeps.
DLManagedTensor* TensorOf(const std::shared_ptr<const Walks>& walks,
                          const std::vector<int64_t>& values, int64_t width) {
  return HostTensor(walks, values.data(), DlpackType(DType::kInt64), {walks->num_walks(), width});
}

Error Walk(const Graph& graph, const char* metapath, const int64_t* starts, int64_t num_starts,
           int64_t length, const char* options_json, DLManagedTensor** nodes,
           DLManagedTensor** edge_ids) {
  const Result<std::vector<int64_t>> list = CopyIds(starts, num_starts);
  if (!list.ok()) return list.error();
  Result<WalkOptions> options = ParseWalkOptions(options_json);
  if (!options.ok()) return options.error();
  Result<std::vector<int32_t>> types = FindMetapath(graph.schema(), metapath);
  if (!types.ok()) return types.error();
  options->walk.metapath = *std::move(types);
  options->walk.length = length;
  Result<Walks> walked = graph.Walk(*list, options->walk, options->draw, edge_ids != nullptr);
  if (!walked.ok()) return walked.error();
  const auto walks = std::make_shared<const Walks>(*std::move(walked));
  *nodes = TensorOf(walks, walks->nodes, walks->length + 1);
  if (edge_ids != nullptr) *edge_ids = TensorOf(walks, walks->edge_ids, walks->length);
  return Error();
}

Error MostVisited(const Graph& graph, const char* metapath, const std::vector<int64_t>& starts,
                  int64_t length, int64_t num_walks, int64_t top, const char* options_json,
                  DLManagedTensor** nodes, DLManagedTensor** counts) {
  Result<VisitOptions> options = ParseVisitOptions(graph.schema(), options_json);
  if (!options.ok()) return options.error();
  Result<std::vector<int32_t>> types = FindMetapath(graph.schema(), metapath);
  if (!types.ok()) return types.error();
  VisitSpec& spec = options->visits;
  spec.walk.metapath = *std::move(types);
  spec.walk.length = length;
  spec.num_walks = num_walks;
  spec.top = top;
  Result<TopVisited> found = graph.MostVisited(starts, spec, options->draw);
  if (!found.ok()) return found.error();
  const auto visited = std::make_shared<const TopVisited>(*std::move(found));
  const std::vector<int64_t> shape = {static_cast<int64_t>(starts.size()), top};
  *nodes = HostTensor(visited, visited->nodes.data(), DlpackType(DType::kInt64), shape);
  *counts = HostTensor(visited, visited->counts.data(), DlpackType(DType::kInt64), shape);
  return Error();
}

}  // namespace
}  // namespace vicinity::c_api

using vicinity::Error;

extern "C" int32_t vicinity_graph_walk(const VicinityGraph* graph, const char* metapath,
                                       const int64_t* starts, int64_t num_starts, int64_t length,
                                       const char* options_json, DLManagedTensor** nodes,
                                       DLManagedTensor** edge_ids) {
  return vicinity::c_api::Call([&]() -> Error {
    Error error = vicinity::c_api::CheckGiven({{"graph", graph},
                                               {"metapath", metapath},
                                               {"options_json", options_json},
                                               {"nodes", nodes}});
    if (!error.ok()) return error;
    return vicinity::c_api::Walk(*graph->graph, metapath, starts, num_starts, length, options_json,
                                 nodes, edge_ids);
  });
}

extern "C" int32_t vicinity_graph_top_visited(const VicinityGraph* graph, const char* metapath,
                                              const int64_t* starts, int64_t num_starts,
                                              int64_t length, int64_t num_walks, int64_t top,
                                              const char* options_json, DLManagedTensor** nodes,
                                              DLManagedTensor** counts) {
  return vicinity::c_api::Call([&]() -> Error {
    Error error = vicinity::c_api::CheckGiven({{"graph", graph},
                                               {"metapath", metapath},
                                               {"options_json", options_json},
                                               {"nodes", nodes},
                                               {"counts", counts}});
    if (!error.ok()) return error;
    const vicinity::Result<std::vector<int64_t>> list =
        vicinity::c_api::CopyIds(starts, num_starts);
    if (!list.ok()) return list.error();
    return vicinity::c_api::MostVisited(*graph->graph, metapath, *list, length, num_walks, top,
                                        options_json, nodes, counts);
  });
}
