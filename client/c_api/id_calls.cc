// The part of client/c_api/vicinity.h that concerns ids: the user's, which may be names, and
// global.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client/c_api/call.h"
#include "client/c_api/graph_arguments.h"
#include "client/c_api/handles.h"
#include "client/c_api/host_tensor.h"
#include "client/c_api/vicinity.h"
#include "client/graph.h"
#include "client/types/result.h"

namespace vicinity::c_api {
namespace {

// What all calls here are about: a node type and a list of integers.
struct Request {
  int32_t node_type;
  std::vector<int64_t> numbers;
};

Result<Request> Check(const Graph& graph, const char* node_type, const int64_t* numbers,
                      int64_t num_numbers) {
  const Result<int32_t> type = FindNodeType(graph.schema(), node_type);
  if (!type.ok()) return type.error();
  Result<std::vector<int64_t>> list = CopyIds(numbers, num_numbers);
  if (!list.ok()) return list.error();
  return Request{*type, *std::move(list)};
}

Error Give(Result<std::vector<int64_t>> ids, DLManagedTensor** tensor) {
  if (!ids.ok()) return ids.error();
  *tensor = HostTensor(*std::move(ids), DType::kInt64);
  return Error();
}

Error Resolve(const Graph& graph, const Request& request, DLManagedTensor** ids) {
  return Give(graph.Resolve(request.node_type, request.numbers), ids);
}

Error UserIds(const Graph& graph, const Request& request, DLManagedTensor** user_ids) {
  return Give(graph.UserIds(request.node_type, request.numbers), user_ids);
}

Error ResolveNames(const Graph& graph, const char* text, const Request& request,
                   DLManagedTensor** ids) {
  const Result<std::vector<std::string>> names = CopyNames(text, request.numbers);
  if (!names.ok()) return names.error();
  return Give(graph.Resolve(request.node_type, *names), ids);
}

Error UserNames(const Graph& graph, const Request& request, DLManagedTensor** text,
                DLManagedTensor** ends) {
  const Result<std::vector<std::string>> names =
      graph.UserNames(request.node_type, request.numbers);
  if (!names.ok()) return names.error();
  std::vector<uint8_t> joined;
  std::vector<int64_t> name_ends;
  for (const std::string& name : *names) {
    joined.insert(joined.end(), name.begin(), name.end());
    name_ends.push_back(static_cast<int64_t>(joined.size()));
  }
  *text = HostTensor(std::move(joined), DType::kUint8);
  *ends = HostTensor(std::move(name_ends), DType::kInt64);
  return Error();
}

}  // namespace
}  // namespace vicinity::c_api

using vicinity::Error;
using vicinity::Result;
using vicinity::c_api::Call;
using vicinity::c_api::Check;
using vicinity::c_api::CheckGiven;
using vicinity::c_api::Request;

extern "C" {

int32_t vicinity_graph_resolve(const VicinityGraph* graph, const char* node_type,
                               const int64_t* user_ids, int64_t num_ids, DLManagedTensor** ids) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"node_type", node_type}, {"ids", ids}});
    if (!error.ok()) return error;
    const Result<Request> request = Check(*graph->graph, node_type, user_ids, num_ids);
    return request.ok() ? vicinity::c_api::Resolve(*graph->graph, *request, ids) : request.error();
  });
}

int32_t vicinity_graph_resolve_names(const VicinityGraph* graph, const char* node_type,
                                     const char* text, const int64_t* ends, int64_t num_names,
                                     DLManagedTensor** ids) {
  return Call([&]() -> Error {
    Error error =
        CheckGiven({{"graph", graph}, {"node_type", node_type}, {"text", text}, {"ids", ids}});
    if (!error.ok()) return error;
    const Result<Request> request = Check(*graph->graph, node_type, ends, num_names);
    if (!request.ok()) return request.error();
    return vicinity::c_api::ResolveNames(*graph->graph, text, *request, ids);
  });
}

int32_t vicinity_graph_user_ids(const VicinityGraph* graph, const char* node_type,
                                const int64_t* ids, int64_t num_ids, DLManagedTensor** user_ids) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"node_type", node_type}, {"user_ids", user_ids}});
    if (!error.ok()) return error;
    const Result<Request> request = Check(*graph->graph, node_type, ids, num_ids);
    if (!request.ok()) return request.error();
    return vicinity::c_api::UserIds(*graph->graph, *request, user_ids);
  });
}

int32_t vicinity_graph_user_names(const VicinityGraph* graph, const char* node_type,
                                  const int64_t* ids, int64_t num_ids, DLManagedTensor** text,
                                  DLManagedTensor** ends) {
  return Call([&]() -> Error {
    Error error =
        CheckGiven({{"graph", graph}, {"node_type", node_type}, {"text", text}, {"ends", ends}});
    if (!error.ok()) return error;
    const Result<Request> request = Check(*graph->graph, node_type, ids, num_ids);
    if (!request.ok()) return request.error();
    return vicinity::c_api::UserNames(*graph->graph, *request, text, ends);
  });
}

}  // extern "C"
