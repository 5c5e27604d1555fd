// The part of client/c_api/vicinity.h that concerns graphs, and what all parts share.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/c_api/call.h"
#include "client/c_api/descriptions.h"
#include "client/c_api/graph_arguments.h"
#include "client/c_api/handles.h"
#include "client/c_api/host_tensor.h"
#include "client/c_api/options.h"
#include "client/c_api/vicinity.h"
#include "client/graph.h"
#include "client/options/option_json.h"
#include "client/types/dlpack_type.h"
#include "client/types/result.h"
#include "client/types/version_name.h"
#include "partition/schema/schema.h"
#include "proto/version.h"

namespace vicinity::c_api {
namespace {

Error Give(Result<std::vector<int64_t>> ids, DLManagedTensor** tensor) {
  if (!ids.ok()) return ids.error();
  *tensor = HostTensor(*std::move(ids), DType::kInt64);
  return Error();
}

Error Open(const char* options_json, VicinityGraph** graph) {
  Result<GraphOptions> options = ParseGraphOptions(options_json);
  if (!options.ok()) return options.error();
  Result<std::unique_ptr<Graph>> opened = Graph::Open(*options);
  if (!opened.ok()) return opened.error();
  *graph = new VicinityGraph{*std::move(opened)};
  return Error();
}

Error Versions(const Graph& graph, DLManagedTensor** tensor) {
  const Result<std::vector<VersionName>> versions = graph.Versions();
  if (!versions.ok()) return versions.error();
  auto pairs = std::make_shared<std::vector<int64_t>>();
  for (const VersionName& name : *versions) {
    pairs->push_back(static_cast<int64_t>(name.version));
    pairs->push_back(static_cast<int64_t>(name.term.value_or(0)));
  }
  const auto shards = static_cast<int64_t>(versions->size());
  *tensor = HostTensor(pairs, pairs->data(), DlpackType(DType::kInt64), {shards, 2});
  return Error();
}

Error At(const Graph& graph, const int64_t* versions, int64_t num_versions, VicinityGraph** at) {
  if (num_versions < 0 || num_versions > graph.num_shards()) {
    return Error(ErrorCode::kInvalidArgument, std::to_string(num_versions) + " versions for " +
                                                  std::to_string(graph.num_shards()) + " shards");
  }
  const Result<std::vector<int64_t>> pairs = CopyIds(versions, 2 * num_versions);
  if (!pairs.ok()) return pairs.error();
  std::vector<VersionName> names;
  for (int64_t i = 0; i < num_versions; ++i) {
    const int64_t version = (*pairs)[2 * i];
    const int64_t term = (*pairs)[2 * i + 1];
    if (version < 0 || term < -1) {
      return Error(ErrorCode::kInvalidArgument,
                   std::to_string(version) + " of term " + std::to_string(term) + " is no version");
    }
    names.emplace_back(static_cast<uint64_t>(version));
    if (term >= 0) names.back().term = static_cast<uint64_t>(term);
  }
  Result<std::unique_ptr<Graph>> pinned = graph.At(names);
  if (!pinned.ok()) return pinned.error();
  *at = new VicinityGraph{*std::move(pinned)};
  return Error();
}

Error Nodes(const Graph& graph, const char* node_type, const char* split, DLManagedTensor** ids) {
  const Result<int32_t> type = FindNodeType(graph.schema(), node_type);
  if (!type.ok()) return type.error();
  const Result<Split> wanted = ParseSplit(split);
  if (!wanted.ok()) return wanted.error();
  return Give(graph.NodesOf(*type, *wanted), ids);
}

Error Fetch(const Graph& graph, const char* node_type, const char* column, const int64_t* ids,
            int64_t num_ids, DLManagedTensor** tensor) {
  const Result<int32_t> type = FindNodeType(graph.schema(), node_type);
  if (!type.ok()) return type.error();
  const Result<std::vector<int64_t>> list = CopyIds(ids, num_ids);
  if (!list.ok()) return list.error();
  Result<Rows> fetched = graph.Fetch(*type, column, *list);
  if (!fetched.ok()) return fetched.error();
  const auto rows = std::make_shared<const Rows>(*std::move(fetched));
  std::vector<int64_t> shape = rows->spec.shape;
  shape.insert(shape.begin(), rows->num_rows);
  *tensor = HostTensor(rows, rows->bytes.data(), DlpackType(rows->spec.dtype), std::move(shape));
  return Error();
}

Error FetchRagged(const Graph& graph, const char* node_type, const char* column, const int64_t* ids,
                  int64_t num_ids, DLManagedTensor** row_ends, DLManagedTensor** indices,
                  DLManagedTensor** values) {
  const Result<int32_t> type = FindNodeType(graph.schema(), node_type);
  if (!type.ok()) return type.error();
  const Result<std::vector<int64_t>> list = CopyIds(ids, num_ids);
  if (!list.ok()) return list.error();
  Result<RaggedRows> fetched = graph.FetchRagged(*type, column, *list);
  if (!fetched.ok()) return fetched.error();
  const auto rows = std::make_shared<const RaggedRows>(*std::move(fetched));
  const auto share = [&rows](const void* data, DType dtype, int64_t count) {
    return HostTensor(rows, data, DlpackType(dtype), {count});
  };
  const int64_t num_values = rows->num_values();
  *row_ends = share(rows->row_ends.data(), DType::kInt64, rows->num_rows());
  *indices =
      rows->spec.is_sparse() ? share(rows->indices.data(), DType::kInt32, num_values) : nullptr;
  *values = share(rows->values.data(), rows->spec.dtype, num_values);
  return Error();
}

Error Degrees(const Graph& graph, const char* edge_type, const int64_t* ids, int64_t num_ids,
              DLManagedTensor** degrees) {
  const Result<int32_t> type = FindEdgeType(graph.schema(), edge_type);
  if (!type.ok()) return type.error();
  const Result<std::vector<int64_t>> list = CopyIds(ids, num_ids);
  if (!list.ok()) return list.error();
  return Give(graph.Degrees(*type, *list), degrees);
}

Error OwnerOf(const Graph& graph, const char* node_type, const int64_t* ids, int64_t num_ids,
              DLManagedTensor** shards) {
  const Result<int32_t> type = FindNodeType(graph.schema(), node_type);
  if (!type.ok()) return type.error();
  const Result<std::vector<int64_t>> list = CopyIds(ids, num_ids);
  if (!list.ok()) return list.error();
  Result<std::vector<int32_t>> owners = graph.OwnersOf(*type, *list);
  if (!owners.ok()) return owners.error();
  *shards = HostTensor(*std::move(owners), DType::kInt32);
  return Error();
}

Error IsLocal(const Graph& graph, const char* node_type, const int64_t* ids, int64_t num_ids,
              DLManagedTensor** local) {
  const Result<int32_t> type = FindNodeType(graph.schema(), node_type);
  if (!type.ok()) return type.error();
  const Result<std::vector<int64_t>> list = CopyIds(ids, num_ids);
  if (!list.ok()) return list.error();
  Result<std::vector<uint8_t>> are = graph.AreLocal(*type, *list);
  if (!are.ok()) return are.error();
  *local = HostTensor(*std::move(are), DType::kBool);
  return Error();
}

Error Ranked(const Graph& graph, const char* name, const std::vector<int32_t>& home,
             const char* node_type, int64_t count, DLManagedTensor** nodes,
             DLManagedTensor** probabilities) {
  const Result<int32_t> type = FindNodeType(graph.schema(), node_type);
  if (!type.ok()) return type.error();
  Result<RankedList> ranked = graph.Ranked(name, home, *type, count);
  if (!ranked.ok()) return ranked.error();
  *nodes = HostTensor(std::move(ranked->nodes), DType::kInt64);
  *probabilities = HostTensor(std::move(ranked->probabilities), DType::kFloat32);
  return Error();
}

Error EdgeIds(const Graph& graph, const char* edge_type, const int64_t* sources,
              const int64_t* targets, int64_t num_pairs, DLManagedTensor** edge_ids) {
  const Result<int32_t> type = FindEdgeType(graph.schema(), edge_type);
  if (!type.ok()) return type.error();
  const Result<std::vector<int64_t>> from = CopyIds(sources, num_pairs);
  if (!from.ok()) return from.error();
  const Result<std::vector<int64_t>> to = CopyIds(targets, num_pairs);
  if (!to.ok()) return to.error();
  return Give(graph.EdgeIds(*type, *from, *to), edge_ids);
}

}  // namespace
}  // namespace vicinity::c_api

using vicinity::Error;
using vicinity::Graph;
using vicinity::c_api::Call;
using vicinity::c_api::CheckGiven;

extern "C" {

const char* vicinity_version(void) { return vicinity::kVersion; }

int32_t vicinity_abi_version(void) { return VICINITY_ABI_VERSION; }

const char* vicinity_last_error(void) { return vicinity::c_api::LastError(); }

const char* vicinity_code_name(int32_t code) {
  if (code == VICINITY_NOT_READY) return "NOT_READY";
  return vicinity::ErrorCodeName(static_cast<vicinity::ErrorCode>(code));
}

void vicinity_string_free(char* text) { free(text); }

int32_t vicinity_options_describe(char** json) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"json", json}});
    if (!error.ok()) return error;
    return vicinity::c_api::GiveText(vicinity::DescribeAllOptions().dump(), json);
  });
}

int32_t vicinity_graph_open(const char* options_json, VicinityGraph** graph) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"options_json", options_json}, {"graph", graph}});
    return error.ok() ? vicinity::c_api::Open(options_json, graph) : error;
  });
}

void vicinity_graph_close(VicinityGraph* graph) { delete graph; }

int32_t vicinity_graph_describe(const VicinityGraph* graph, char** json) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"json", json}});
    if (!error.ok()) return error;
    return vicinity::c_api::GiveText(vicinity::c_api::Describe(*graph->graph), json);
  });
}

int32_t vicinity_graph_versions(const VicinityGraph* graph, DLManagedTensor** versions) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"versions", versions}});
    return error.ok() ? vicinity::c_api::Versions(*graph->graph, versions) : error;
  });
}

int32_t vicinity_graph_at(const VicinityGraph* graph, const int64_t* versions, int64_t num_versions,
                          VicinityGraph** at) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"versions", versions}, {"at", at}});
    if (!error.ok()) return error;
    return vicinity::c_api::At(*graph->graph, versions, num_versions, at);
  });
}

int32_t vicinity_graph_nodes(const VicinityGraph* graph, const char* node_type, const char* split,
                             DLManagedTensor** ids) {
  return Call([&]() -> Error {
    Error error =
        CheckGiven({{"graph", graph}, {"node_type", node_type}, {"split", split}, {"ids", ids}});
    return error.ok() ? vicinity::c_api::Nodes(*graph->graph, node_type, split, ids) : error;
  });
}

int32_t vicinity_graph_fetch(const VicinityGraph* graph, const char* node_type, const char* column,
                             const int64_t* ids, int64_t num_ids, DLManagedTensor** rows) {
  return Call([&]() -> Error {
    Error error = CheckGiven(
        {{"graph", graph}, {"node_type", node_type}, {"column", column}, {"rows", rows}});
    if (!error.ok()) return error;
    return vicinity::c_api::Fetch(*graph->graph, node_type, column, ids, num_ids, rows);
  });
}

int32_t vicinity_graph_fetch_ragged(const VicinityGraph* graph, const char* node_type,
                                    const char* column, const int64_t* ids, int64_t num_ids,
                                    DLManagedTensor** row_ends, DLManagedTensor** indices,
                                    DLManagedTensor** values) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph},
                              {"node_type", node_type},
                              {"column", column},
                              {"row_ends", row_ends},
                              {"indices", indices},
                              {"values", values}});
    if (!error.ok()) return error;
    return vicinity::c_api::FetchRagged(*graph->graph, node_type, column, ids, num_ids, row_ends,
                                        indices, values);
  });
}

int32_t vicinity_graph_degrees(const VicinityGraph* graph, const char* edge_type,
                               const int64_t* ids, int64_t num_ids, DLManagedTensor** degrees) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"edge_type", edge_type}, {"degrees", degrees}});
    if (!error.ok()) return error;
    return vicinity::c_api::Degrees(*graph->graph, edge_type, ids, num_ids, degrees);
  });
}

int32_t vicinity_graph_owner_of(const VicinityGraph* graph, const char* node_type,
                                const int64_t* ids, int64_t num_ids, DLManagedTensor** shards) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"node_type", node_type}, {"shards", shards}});
    if (!error.ok()) return error;
    return vicinity::c_api::OwnerOf(*graph->graph, node_type, ids, num_ids, shards);
  });
}

int32_t vicinity_graph_is_local(const VicinityGraph* graph, const char* node_type,
                                const int64_t* ids, int64_t num_ids, DLManagedTensor** local) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"node_type", node_type}, {"local", local}});
    if (!error.ok()) return error;
    return vicinity::c_api::IsLocal(*graph->graph, node_type, ids, num_ids, local);
  });
}

int32_t vicinity_graph_ranked(const VicinityGraph* graph, const char* name, const int32_t* home,
                              int64_t num_home, const char* node_type, int64_t count,
                              DLManagedTensor** nodes, DLManagedTensor** probabilities) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph},
                              {"name", name},
                              {"home", home},
                              {"node_type", node_type},
                              {"nodes", nodes},
                              {"probabilities", probabilities}});
    if (!error.ok()) return error;
    if (num_home < 0) {
      return Error(vicinity::ErrorCode::kInvalidArgument,
                   std::to_string(num_home) + " shards of a home");
    }
    return vicinity::c_api::Ranked(*graph->graph, name, {home, home + num_home}, node_type, count,
                                   nodes, probabilities);
  });
}

int32_t vicinity_graph_edge_ids(const VicinityGraph* graph, const char* edge_type,
                                const int64_t* sources, const int64_t* targets, int64_t num_pairs,
                                DLManagedTensor** edge_ids) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"edge_type", edge_type}, {"edge_ids", edge_ids}});
    if (!error.ok()) return error;
    return vicinity::c_api::EdgeIds(*graph->graph, edge_type, sources, targets, num_pairs,
                                    edge_ids);
  });
}

int32_t vicinity_graph_stats(const VicinityGraph* graph, char** json) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"json", json}});
    if (!error.ok()) return error;
    return vicinity::c_api::GiveText(vicinity::c_api::Describe(graph->graph->traffic()), json);
  });
}

int32_t vicinity_graph_metrics(const VicinityGraph* graph, char** json) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"json", json}});
    if (!error.ok()) return error;
    return vicinity::c_api::GiveText(vicinity::c_api::Describe(graph->graph->metrics()), json);
  });
}

int32_t vicinity_graph_metrics_text(const VicinityGraph* graph, char** text) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"text", text}});
    if (!error.ok()) return error;
    return vicinity::c_api::GiveText(graph->graph->MetricsText(), text);
  });
}

int32_t vicinity_graph_metrics_address(const VicinityGraph* graph, char** text) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"text", text}});
    if (!error.ok()) return error;
    return vicinity::c_api::GiveText(graph->graph->metrics_address(), text);
  });
}

}  // extern "C"
