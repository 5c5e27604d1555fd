// The part of client/c_api/vicinity.h that collects changes of a live graph.
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/c_api/call.h"
#include "client/c_api/graph_arguments.h"
#include "client/c_api/handles.h"
#include "client/c_api/vicinity.h"
#include "client/types/result.h"
#include "client/types/write_values.h"
#include "partition/schema/schema.h"
#include "proto/common/mutex.h"

namespace vicinity::c_api {
namespace {

Error Wrong(const std::string& what) { return Error(ErrorCode::kInvalidArgument, what); }

Result<DType> FindDType(const std::string& name) {
  std::string known;
  for (int i = static_cast<int>(DType::kBool); i <= static_cast<int>(DType::kFloat64); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (DTypeName(dtype) == name) return dtype;
    known += ' ' + std::string(DTypeName(dtype));
  }
  return Wrong("there is no dtype \"" + name + "\"; there are:" + known);
}

// `what` is for the error.
template <typename Value>
Error Copy(const char* what, const void* values, int64_t count, std::vector<Value>* copy) {
  if (count < 0) return Wrong(std::to_string(count) + ' ' + what);
  if (values == nullptr && count > 0) return Wrong(std::string(what) + " is null");
  const auto* const begin = static_cast<const Value*>(values);
  copy->assign(begin, begin + count);
  return Error();
}

// One list of nodes, or two of edges.
Error CopyBoth(const int64_t* first, const int64_t* second, int64_t count,
               std::vector<int64_t>* first_copy, std::vector<int64_t>* second_copy) {
  Error error = Copy("ids", first, count, first_copy);
  return error.ok() ? Copy("ids", second, count, second_copy) : error;
}

// The part as it lies there, of which no columns are taken yet.
template <typename Part>
Part* AddPart(Part part, int64_t num_rows, std::vector<Part>* parts, GivenChanges* given) {
  parts->push_back(std::move(part));
  given->columns = nullptr;
  given->ragged = nullptr;
  given->num_rows = num_rows;
  return &parts->back();
}

template <typename Part>
void AddPartOfNodes(Part part, int64_t num_rows, std::vector<Part>* parts, GivenChanges* given) {
  Part* const added = AddPart(std::move(part), num_rows, parts, given);
  given->columns = &added->columns;
  given->ragged = &added->ragged;
}

template <typename Part>
void AddPartOfEdges(Part part, int64_t num_rows, std::vector<Part>* parts, GivenChanges* given) {
  given->columns = &AddPart(std::move(part), num_rows, parts, given)->columns;
}

Error AddNodes(const char* node_type, const int64_t* ids, int64_t num_nodes, GivenChanges* given) {
  NewNodes part;
  part.node_type = node_type;
  Error error = Copy("ids", ids, num_nodes, &part.ids);
  if (!error.ok()) return error;
  AddPartOfNodes(std::move(part), num_nodes, &given->changes.new_nodes, given);
  return Error();
}

Error AddNamedNodes(const char* node_type, const char* text, const int64_t* ends, int64_t num_nodes,
                    GivenChanges* given) {
  const Result<std::vector<int64_t>> stops = CopyIds(ends, num_nodes);
  if (!stops.ok()) return stops.error();
  Result<std::vector<std::string>> names = CopyNames(text, *stops);
  if (!names.ok()) return names.error();
  NewNodes part;
  part.node_type = node_type;
  part.names = *std::move(names);
  AddPartOfNodes(std::move(part), num_nodes, &given->changes.new_nodes, given);
  return Error();
}

Error AddEdges(const char* edge_type, const int64_t* sources, const int64_t* targets,
               int64_t num_edges, GivenChanges* given) {
  NewEdges part;
  part.edge_type = edge_type;
  Error error = CopyBoth(sources, targets, num_edges, &part.sources, &part.targets);
  if (!error.ok()) return error;
  AddPartOfEdges(std::move(part), num_edges, &given->changes.new_edges, given);
  return Error();
}

Error UpdateNodes(const char* node_type, const int64_t* nodes, int64_t num_nodes,
                  GivenChanges* given) {
  NodeValues part;
  part.node_type = node_type;
  Error error = Copy("ids", nodes, num_nodes, &part.nodes);
  if (!error.ok()) return error;
  AddPartOfNodes(std::move(part), num_nodes, &given->changes.node_values, given);
  return Error();
}

Error UpdateEdges(const char* edge_type, const int64_t* targets, const int64_t* edge_ids,
                  int64_t num_edges, GivenChanges* given) {
  EdgeValues part;
  part.edge_type = edge_type;
  Error error = CopyBoth(targets, edge_ids, num_edges, &part.targets, &part.edge_ids);
  if (!error.ok()) return error;
  AddPartOfEdges(std::move(part), num_edges, &given->changes.edge_values, given);
  return Error();
}

Error RemoveEdges(const char* edge_type, const int64_t* targets, const int64_t* edge_ids,
                  int64_t num_edges, GivenChanges* given) {
  RemovedEdges part;
  part.edge_type = edge_type;
  Error error = CopyBoth(targets, edge_ids, num_edges, &part.targets, &part.edge_ids);
  if (!error.ok()) return error;
  AddPart(std::move(part), num_edges, &given->changes.removed_edges, given);
  return Error();
}

Error RemoveNodes(const char* node_type, const int64_t* nodes, int64_t num_nodes,
                  GivenChanges* given) {
  RemovedNodes part;
  part.node_type = node_type;
  Error error = Copy("ids", nodes, num_nodes, &part.nodes);
  if (!error.ok()) return error;
  AddPart(std::move(part), num_nodes, &given->changes.removed_nodes, given);
  return Error();
}

Error NoColumns(const char* name, const char* kind) {
  return Wrong("column \"" + std::string(name) + "\": the part that was added last has no " + kind +
               "columns, or there is none");
}

Error AddColumn(const char* name, const char* dtype, const void* values, int64_t num_bytes,
                GivenChanges* given) {
  if (given->columns == nullptr) return NoColumns(name, "");
  const Result<DType> type = FindDType(dtype);
  if (!type.ok()) return type.error();
  GivenColumn column;
  column.name = name;
  column.dtype = *type;
  Error error = Copy("bytes of values", values, num_bytes, &column.bytes);
  if (error.ok()) given->columns->push_back(std::move(column));
  return error;
}

Error AddRagged(const char* name, const char* dtype, const int64_t* row_ends,
                const int32_t* indices, int64_t num_indices, const void* values, int64_t num_bytes,
                GivenChanges* given) {
  if (given->ragged == nullptr) return NoColumns(name, "ragged ");
  const Result<DType> type = FindDType(dtype);
  if (!type.ok()) return type.error();
  GivenRagged column;
  column.name = name;
  column.dtype = *type;
  Error error = Copy("row_ends", row_ends, given->num_rows, &column.row_ends);
  if (error.ok()) error = Copy("indices", indices, num_indices, &column.indices);
  if (error.ok()) error = Copy("bytes of values", values, num_bytes, &column.values);
  if (error.ok()) given->ragged->push_back(std::move(column));
  return error;
}

// What `work` does to changes that nobody reads meanwhile; `what` must be there.
template <typename Work>
int32_t Change(VicinityChanges* changes, std::initializer_list<Argument> what, Work&& work) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"changes", changes}});
    if (error.ok()) error = CheckGiven(what);
    if (!error.ok()) return error;
    MutexLock lock(&changes->mu);
    if (changes->num_writes == 0) return work(&changes->given);
    return Error(ErrorCode::kFailedPrecondition,
                 "these changes are being written: collect others in new ones");
  });
}

}  // namespace
}  // namespace vicinity::c_api

using vicinity::Error;
using vicinity::c_api::Change;
using vicinity::c_api::GivenChanges;

extern "C" {

int32_t vicinity_changes_create(VicinityChanges** changes) {
  return vicinity::c_api::Call([&]() -> Error {
    Error error = vicinity::c_api::CheckGiven({{"changes", changes}});
    if (error.ok()) *changes = std::make_unique<VicinityChanges>().release();
    return error;
  });
}

void vicinity_changes_release(VicinityChanges* changes) { delete changes; }

int32_t vicinity_changes_add_nodes(VicinityChanges* changes, const char* node_type,
                                   const int64_t* ids, int64_t num_nodes) {
  return Change(changes, {{"node_type", node_type}}, [&](GivenChanges* given) {
    return vicinity::c_api::AddNodes(node_type, ids, num_nodes, given);
  });
}

int32_t vicinity_changes_add_named_nodes(VicinityChanges* changes, const char* node_type,
                                         const char* text, const int64_t* ends, int64_t num_nodes) {
  return Change(changes, {{"node_type", node_type}, {"text", text}}, [&](GivenChanges* given) {
    return vicinity::c_api::AddNamedNodes(node_type, text, ends, num_nodes, given);
  });
}

int32_t vicinity_changes_add_edges(VicinityChanges* changes, const char* edge_type,
                                   const int64_t* sources, const int64_t* targets,
                                   int64_t num_edges) {
  return Change(changes, {{"edge_type", edge_type}}, [&](GivenChanges* given) {
    return vicinity::c_api::AddEdges(edge_type, sources, targets, num_edges, given);
  });
}

int32_t vicinity_changes_update_nodes(VicinityChanges* changes, const char* node_type,
                                      const int64_t* nodes, int64_t num_nodes) {
  return Change(changes, {{"node_type", node_type}}, [&](GivenChanges* given) {
    return vicinity::c_api::UpdateNodes(node_type, nodes, num_nodes, given);
  });
}

int32_t vicinity_changes_update_edges(VicinityChanges* changes, const char* edge_type,
                                      const int64_t* targets, const int64_t* edge_ids,
                                      int64_t num_edges) {
  return Change(changes, {{"edge_type", edge_type}}, [&](GivenChanges* given) {
    return vicinity::c_api::UpdateEdges(edge_type, targets, edge_ids, num_edges, given);
  });
}

int32_t vicinity_changes_remove_edges(VicinityChanges* changes, const char* edge_type,
                                      const int64_t* targets, const int64_t* edge_ids,
                                      int64_t num_edges) {
  return Change(changes, {{"edge_type", edge_type}}, [&](GivenChanges* given) {
    return vicinity::c_api::RemoveEdges(edge_type, targets, edge_ids, num_edges, given);
  });
}

int32_t vicinity_changes_remove_nodes(VicinityChanges* changes, const char* node_type,
                                      const int64_t* nodes, int64_t num_nodes) {
  return Change(changes, {{"node_type", node_type}}, [&](GivenChanges* given) {
    return vicinity::c_api::RemoveNodes(node_type, nodes, num_nodes, given);
  });
}

int32_t vicinity_changes_column(VicinityChanges* changes, const char* name, const char* dtype,
                                const void* values, int64_t num_bytes) {
  return Change(changes, {{"name", name}, {"dtype", dtype}}, [&](GivenChanges* given) {
    return vicinity::c_api::AddColumn(name, dtype, values, num_bytes, given);
  });
}

int32_t vicinity_changes_ragged(VicinityChanges* changes, const char* name, const char* dtype,
                                const int64_t* row_ends, const int32_t* indices,
                                int64_t num_indices, const void* values, int64_t num_bytes) {
  return Change(changes, {{"name", name}, {"dtype", dtype}}, [&](GivenChanges* given) {
    return vicinity::c_api::AddRagged(name, dtype, row_ends, indices, num_indices, values,
                                      num_bytes, given);
  });
}

}  // extern "C"
