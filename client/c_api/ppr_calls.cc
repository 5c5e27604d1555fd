// The part of client/c_api/vicinity.h that concerns personalised PageRank.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "client/c_api/call.h"
#include "client/c_api/graph_arguments.h"
#include "client/c_api/handles.h"
#include "client/c_api/host_tensor.h"
#include "client/c_api/options.h"
#include "client/c_api/vicinity.h"
#include "client/graph.h"
#include "client/options/ppr_options.h"
#include "client/types/dlpack_type.h"
#include "client/types/result.h"
#include "partition/schema/schema.h"
#include "sampler/proximity/ppr_spec.h"

namespace vicinity::c_api {
namespace {

Result<PprScores> Rank(const Graph& graph, const char* seed_type, const std::vector<int64_t>& seeds,
                       int64_t top, const char* edge_types, const char* options_json) {
  const Result<int32_t> type = FindNodeType(graph.schema(), seed_type);
  if (!type.ok()) return type.error();
  Result<PprOptions> options = ParsePprOptions(graph.schema(), options_json);
  if (!options.ok()) return options.error();
  if (edge_types[0] != '\0') {
    Result<std::vector<int32_t>> types = FindMetapath(graph.schema(), edge_types);
    if (!types.ok()) return types.error();
    options->ppr.edge_types = *std::move(types);
  }
  options->ppr.top = top;
  return graph.PersonalizedPageRank(*type, seeds, options->ppr, options->draw);
}

void Give(PprScores scores, DLManagedTensor** nodes, DLManagedTensor** values,
          DLManagedTensor** residuals) {
  const auto ranked = std::make_shared<const PprScores>(std::move(scores));
  const auto num_seeds = static_cast<int64_t>(ranked->residuals.size());
  const std::vector<int64_t> shape = {num_seeds, ranked->top};
  *nodes = HostTensor(ranked, ranked->nodes.data(), DlpackType(DType::kInt64), shape);
  *values = HostTensor(ranked, ranked->scores.data(), DlpackType(DType::kFloat64), shape);
  if (residuals == nullptr) return;
  *residuals =
      HostTensor(ranked, ranked->residuals.data(), DlpackType(DType::kFloat64), {num_seeds});
}

}  // namespace
}  // namespace vicinity::c_api

using vicinity::Error;

extern "C" int32_t vicinity_graph_ppr(const VicinityGraph* graph, const char* seed_type,
                                      const int64_t* seeds, int64_t num_seeds, int64_t top,
                                      const char* edge_types, const char* options_json,
                                      DLManagedTensor** nodes, DLManagedTensor** scores,
                                      DLManagedTensor** residuals) {
  return vicinity::c_api::Call([&]() -> Error {
    Error error = vicinity::c_api::CheckGiven({{"graph", graph},
                                               {"seed_type", seed_type},
                                               {"edge_types", edge_types},
                                               {"options_json", options_json},
                                               {"nodes", nodes},
                                               {"scores", scores}});
    if (!error.ok()) return error;
    const vicinity::Result<std::vector<int64_t>> list = vicinity::c_api::CopyIds(seeds, num_seeds);
    if (!list.ok()) return list.error();
    vicinity::Result<vicinity::PprScores> ranked =
        vicinity::c_api::Rank(*graph->graph, seed_type, *list, top, edge_types, options_json);
    if (!ranked.ok()) return ranked.error();
    vicinity::c_api::Give(*std::move(ranked), nodes, scores, residuals);
    return Error();
  });
}
