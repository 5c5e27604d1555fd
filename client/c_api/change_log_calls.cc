// The part of client/c_api/vicinity.h that tells what has been written to a live graph.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "client/c_api/call.h"
#include "client/c_api/handles.h"
#include "client/c_api/host_tensor.h"
#include "client/c_api/info.h"
#include "client/c_api/vicinity.h"
#include "client/changes.h"
#include "client/graph.h"
#include "client/types/change_values.h"
#include "client/types/dlpack_type.h"
#include "client/types/result.h"
#include "client/types/version_name.h"
#include "partition/schema/schema.h"

namespace vicinity::c_api {
namespace {

using Json = nlohmann::ordered_json;
using Log = std::vector<ShardChange>;

constexpr int64_t kAnyTerm = -1;

Error Wrong(const std::string& what) { return Error(ErrorCode::kInvalidArgument, what); }

Error GiveStates(const Graph& graph, char** json) {
  const Result<std::vector<ShardState>> states = ReadShardStates(graph);
  if (!states.ok()) return states.error();
  Json all = Json::array();
  for (const ShardState& each : *states) {
    all.push_back({{"shard", each.shard},
                   {"version", each.version},
                   {"term", each.term},
                   {"num_nodes", each.num_nodes},
                   {"num_edges", each.num_edges}});
  }
  return GiveText(all.dump(), json);
}

Result<VersionName> VersionOf(int64_t version, int64_t term) {
  if (version < 0 || term < kAnyTerm) {
    return Wrong("version " + std::to_string(version) + " of term " + std::to_string(term));
  }
  const auto number = static_cast<uint64_t>(version);
  return term == kAnyTerm ? VersionName(number) : VersionName(number, static_cast<uint64_t>(term));
}

Error GiveLog(Result<Log> changes, VicinityChangeLog** log) {
  if (!changes.ok()) return changes.error();
  auto handle = std::make_unique<VicinityChangeLog>();
  handle->changes = std::make_shared<const Log>(*std::move(changes));
  *log = handle.release();
  return Error();
}

Error Changes(const Graph& graph, int32_t shard, int64_t after, int64_t after_term, int64_t count,
              VicinityChangeLog** log) {
  const Result<VersionName> version = VersionOf(after, after_term);
  if (!version.ok()) return version.error();
  return GiveLog(ReadChanges(graph, shard, *version, count), log);
}

Error Acknowledge(const Graph& graph, int32_t shard, const char* cursor, int64_t version,
                  int64_t term) {
  const Result<VersionName> name = VersionOf(version, term);
  return name.ok() ? AcknowledgeChanges(graph, shard, cursor, *name) : name.error();
}

Error GiveCursors(const Graph& graph, char** json) {
  const Result<std::vector<ShardCursor>> cursors = ReadCursors(graph);
  if (!cursors.ok()) return cursors.error();
  Json all = Json::array();
  for (const ShardCursor& each : *cursors) {
    all.push_back({{"name", each.name},
                   {"shard", each.shard},
                   {"version", each.version},
                   {"term", each.term},
                   {"behind", each.behind},
                   {"unix_micros", each.unix_micros}});
  }
  // Names are bytes of any kind.
  return GiveText(all.dump(-1, ' ', false, Json::error_handler_t::replace), json);
}

Result<const ShardChange*> FindChange(const VicinityChangeLog& log, int64_t change) {
  if (change >= 0 && static_cast<size_t>(change) < log.changes->size()) {
    return &(*log.changes)[static_cast<size_t>(change)];
  }
  return Wrong("change " + std::to_string(change) + " of " + std::to_string(log.changes->size()));
}

Result<const ChangeCount*> FindPart(const VicinityChangeLog& log, int64_t change, int32_t part) {
  const Result<const ShardChange*> of = FindChange(log, change);
  if (!of.ok()) return of.error();
  const std::vector<ChangeCount>& counts = (*of)->counts;
  if (part >= 0 && static_cast<size_t>(part) < counts.size()) {
    return &counts[static_cast<size_t>(part)];
  }
  return Wrong("part " + std::to_string(part) + " of " + std::to_string(counts.size()) +
               " of a change");
}

Result<VicinityChangeInfo> InfoOf(const VicinityChangeLog& log, int64_t change) {
  const Result<const ShardChange*> found = FindChange(log, change);
  if (!found.ok()) return found.error();
  const ShardChange& of = **found;
  VicinityChangeInfo info = {};
  info.shard = of.shard;
  info.num_parts = static_cast<int32_t>(of.counts.size());
  info.version = static_cast<int64_t>(of.version);
  info.term = static_cast<int64_t>(of.term);
  info.unix_micros = of.unix_micros;
  info.session = of.session.c_str();
  info.num_session_bytes = static_cast<int64_t>(of.session.size());
  return info;
}

Result<VicinityChangePart> InfoOf(const VicinityChangeLog& log, int64_t change, int32_t part) {
  const Result<const ChangeCount*> found = FindPart(log, change, part);
  if (!found.ok()) return found.error();
  VicinityChangePart info = {};
  info.kind = static_cast<int32_t>((*found)->kind);  // write_calls.cc has that they are the same
  info.type = (*found)->type;
  info.count = (*found)->count;
  info.column = (*found)->column.c_str();
  return info;
}

Result<DLManagedTensor*> TensorOf(const VicinityChangeLog& log, int64_t change, int32_t part,
                                  int32_t ids) {
  const Result<const ChangeCount*> found = FindPart(log, change, part);
  if (!found.ok()) return found.error();
  const ChangeCount& of = **found;
  const std::vector<int64_t>* values = nullptr;
  if (ids == VICINITY_CHANGED_NODES) values = &of.nodes;
  if (ids == VICINITY_CHANGED_SOURCES) values = &of.sources;
  if (ids == VICINITY_CHANGED_EDGE_IDS) values = &of.edge_ids;
  if (values == nullptr) return Wrong("ids " + std::to_string(ids) + " of a change");
  return HostTensor(log.changes, values->data(), DlpackType(DType::kInt64),
                    {static_cast<int64_t>(values->size())});
}

}  // namespace
}  // namespace vicinity::c_api

using vicinity::Error;
using vicinity::c_api::Call;
using vicinity::c_api::CheckGiven;

extern "C" {

int32_t vicinity_graph_shard_states(const VicinityGraph* graph, char** json) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"json", json}});
    return error.ok() ? vicinity::c_api::GiveStates(*graph->graph, json) : error;
  });
}

int32_t vicinity_graph_changes(const VicinityGraph* graph, int32_t shard, int64_t after,
                               int64_t after_term, int64_t count, VicinityChangeLog** log) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"log", log}});
    if (!error.ok()) return error;
    return vicinity::c_api::Changes(*graph->graph, shard, after, after_term, count, log);
  });
}

int32_t vicinity_graph_changes_of(const VicinityGraph* graph, int32_t shard, const char* cursor,
                                  int64_t count, VicinityChangeLog** log) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"cursor", cursor}, {"log", log}});
    if (!error.ok()) return error;
    return vicinity::c_api::GiveLog(vicinity::ReadChangesOf(*graph->graph, shard, cursor, count),
                                    log);
  });
}

int32_t vicinity_graph_acknowledge(const VicinityGraph* graph, int32_t shard, const char* cursor,
                                   int64_t version, int64_t term) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"cursor", cursor}});
    if (!error.ok()) return error;
    return vicinity::c_api::Acknowledge(*graph->graph, shard, cursor, version, term);
  });
}

int32_t vicinity_graph_cursors(const VicinityGraph* graph, char** json) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"json", json}});
    return error.ok() ? vicinity::c_api::GiveCursors(*graph->graph, json) : error;
  });
}

int32_t vicinity_graph_drop_cursor(const VicinityGraph* graph, const char* cursor) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"cursor", cursor}});
    return error.ok() ? vicinity::DropCursor(*graph->graph, cursor) : error;
  });
}

void vicinity_change_log_release(VicinityChangeLog* log) { delete log; }

int64_t vicinity_change_log_size(const VicinityChangeLog* log) {
  return log == nullptr ? 0 : static_cast<int64_t>(log->changes->size());
}

int32_t vicinity_change_log_change(const VicinityChangeLog* log, int64_t change,
                                   VicinityChangeInfo* info) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"log", log}, {"info", info}});
    if (!error.ok()) return error;
    return vicinity::c_api::Fill(vicinity::c_api::InfoOf(*log, change), info);
  });
}

int32_t vicinity_change_log_part(const VicinityChangeLog* log, int64_t change, int32_t part,
                                 VicinityChangePart* info) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"log", log}, {"info", info}});
    if (!error.ok()) return error;
    return vicinity::c_api::Fill(vicinity::c_api::InfoOf(*log, change, part), info);
  });
}

int32_t vicinity_change_log_tensor(const VicinityChangeLog* log, int64_t change, int32_t part,
                                   int32_t ids, DLManagedTensor** tensor) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"log", log}, {"tensor", tensor}});
    if (!error.ok()) return error;
    const vicinity::Result<DLManagedTensor*> made =
        vicinity::c_api::TensorOf(*log, change, part, ids);
    if (!made.ok()) return made.error();
    *tensor = *made;
    return Error();
  });
}

}  // extern "C"
