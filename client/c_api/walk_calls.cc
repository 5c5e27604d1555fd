// The part of client/c_api/vicinity.h that concerns walks.
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
#include "client/types/result.h"
#include "partition/dataset/schema.h"
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
