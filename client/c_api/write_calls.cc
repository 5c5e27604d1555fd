// The part of client/c_api/vicinity.h that writes changes of a live graph, and says what became of
// them.
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
#include "client/c_api/options.h"
#include "client/c_api/vicinity.h"
#include "client/types/dlpack_type.h"
#include "client/types/result.h"
#include "client/types/write_values.h"
#include "client/writer.h"
#include "partition/schema/schema.h"
#include "proto/common/mutex.h"

namespace vicinity::c_api {
namespace {

using Json = nlohmann::ordered_json;

Error Create(const std::shared_ptr<const Graph>& graph, const char* options_json,
             VicinityWriter** given) {
  const Result<WriterOptions> options = ParseWriterOptions(options_json);
  if (!options.ok()) return options.error();
  Result<std::unique_ptr<Writer>> writer = Writer::Create(graph.get(), *options);
  if (!writer.ok()) return writer.error();
  auto handle = std::make_unique<VicinityWriter>();
  handle->open.graph = graph;
  handle->open.writer = *std::move(writer);
  *given = handle.release();
  return Error();
}

// While it lives nothing is added to the changes.
class Reading {
 public:
  explicit Reading(const VicinityChanges& changes) : changes_(changes) { Count(1); }
  ~Reading() { Count(-1); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  const GraphChanges& changes() const { return changes_.given.changes; }

 private:
  void Count(int more) {
    MutexLock lock(&changes_.mu);
    changes_.num_writes += more;
  }
  const VicinityChanges& changes_;
};

// Nothing was sent, nor sorted to the shards: no row has anything said of it.
bool SaysNothing(const Written& written) {
  return written.versions.empty() && written.num_applied == 0 && written.refused.empty() &&
         written.unsure.empty() && written.unsent.empty();
}

Error Write(Writer* writer, const VicinityChanges& changes, VicinityWritten** given) {
  *given = nullptr;
  auto handle = std::make_unique<VicinityWritten>();  // before anything is sent
  auto written = std::make_shared<Written>();
  const Reading reading(changes);
  const Error error = writer->Write(reading.changes(), written.get());
  if (!error.ok() && SaysNothing(*written)) return error;
  handle->written = std::move(written);
  *given = handle.release();
  return error;
}

// As VicinityChangeKind numbers them.
constexpr const char* kKinds[] = {"new_nodes",   "new_edges",     "node_values",
                                  "edge_values", "removed_edges", "removed_nodes"};
static_assert(static_cast<int>(ChangeKind::kNewNodes) == VICINITY_NEW_NODES);
static_assert(static_cast<int>(ChangeKind::kNewEdges) == VICINITY_NEW_EDGES);
static_assert(static_cast<int>(ChangeKind::kNodeValues) == VICINITY_NODE_VALUES);
static_assert(static_cast<int>(ChangeKind::kEdgeValues) == VICINITY_EDGE_VALUES);
static_assert(static_cast<int>(ChangeKind::kRemovedEdges) == VICINITY_REMOVED_EDGES);
static_assert(static_cast<int>(ChangeKind::kRemovedNodes) == VICINITY_REMOVED_NODES);

std::string Describe(const std::vector<RefusedRow>& refused) {
  Json rows = Json::array();
  for (const RefusedRow& row : refused) {
    rows.push_back({{"kind", kKinds[static_cast<int>(row.what.kind)]},
                    {"part", row.what.part},
                    {"row", row.what.row},
                    {"code", static_cast<int>(row.why.code())},
                    {"message", row.why.message()}});
  }
  // Messages may quote names, which are bytes of any kind.
  return rows.dump(-1, ' ', false, Json::error_handler_t::replace);
}

DLManagedTensor* TensorOf(const std::vector<ChangedRow>& rows) {
  const auto owned = std::make_shared<std::vector<int64_t>>();
  owned->reserve(3 * rows.size());
  for (const ChangedRow& row : rows) {
    owned->insert(owned->end(), {static_cast<int64_t>(row.kind), row.part, row.row});
  }
  return HostTensor(owned, owned->data(), DlpackType(DType::kInt64),
                    {static_cast<int64_t>(rows.size()), 3});
}

DLManagedTensor* VersionsOf(const Written& written) {
  std::vector<int64_t> versions;
  for (const WrittenVersion& each : written.versions) {
    versions.push_back(static_cast<int64_t>(each.version));
  }
  return HostTensor(std::move(versions), DType::kInt64);
}

DLManagedTensor* ShardsOf(const Written& written) {
  std::vector<int32_t> shards;
  for (const WrittenVersion& each : written.versions) shards.push_back(each.shard);
  return HostTensor(std::move(shards), DType::kInt32);
}

Result<DLManagedTensor*> IdsOf(const std::shared_ptr<const Written>& owner,
                               const std::vector<std::vector<int64_t>>& parts, int32_t index,
                               const char* what) {
  if (index < 0 || static_cast<size_t>(index) >= parts.size()) {
    return Error(ErrorCode::kInvalidArgument, "part " + std::to_string(index) + " of " +
                                                  std::to_string(parts.size()) + " of new " + what);
  }
  const std::vector<int64_t>& ids = parts[index];
  return HostTensor(owner, ids.data(), DlpackType(DType::kInt64),
                    {static_cast<int64_t>(ids.size())});
}

Result<DLManagedTensor*> TensorOf(const std::shared_ptr<const Written>& written, int32_t part,
                                  int32_t index) {
  if (part == VICINITY_WRITTEN_NODE_IDS) return IdsOf(written, written->node_ids, index, "nodes");
  if (part == VICINITY_WRITTEN_EDGE_IDS) return IdsOf(written, written->edge_ids, index, "edges");
  if (index != 0) {
    return Error(ErrorCode::kInvalidArgument, "index " + std::to_string(index) + ": it is 0");
  }
  switch (part) {
    case VICINITY_WRITTEN_SHARDS:
      return ShardsOf(*written);
    case VICINITY_WRITTEN_VERSIONS:
      return VersionsOf(*written);
    case VICINITY_WRITTEN_UNSURE:
      return TensorOf(written->unsure);
    case VICINITY_WRITTEN_UNSENT:
      return TensorOf(written->unsent);
    default:
      return Error(ErrorCode::kInvalidArgument,
                   "part " + std::to_string(part) + " of what was written");
  }
}

}  // namespace
}  // namespace vicinity::c_api

using vicinity::Error;
using vicinity::c_api::Call;
using vicinity::c_api::CheckGiven;

extern "C" {

int32_t vicinity_writer_create(const VicinityGraph* graph, const char* options_json,
                               VicinityWriter** writer) {
  return Call([&]() -> Error {
    Error error =
        CheckGiven({{"graph", graph}, {"options_json", options_json}, {"writer", writer}});
    return error.ok() ? vicinity::c_api::Create(graph->graph, options_json, writer) : error;
  });
}

void vicinity_writer_release(VicinityWriter* writer) { delete writer; }

int32_t vicinity_writer_write(VicinityWriter* writer, const VicinityChanges* changes,
                              VicinityWritten** written) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"writer", writer}, {"changes", changes}, {"written", written}});
    if (!error.ok()) return error;
    return vicinity::c_api::Write(writer->open.writer.get(), *changes, written);
  });
}

void vicinity_written_release(VicinityWritten* written) { delete written; }

int64_t vicinity_written_num_applied(const VicinityWritten* written) {
  return written == nullptr ? 0 : written->written->num_applied;
}

int32_t vicinity_written_refused(const VicinityWritten* written, char** json) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"written", written}, {"json", json}});
    if (!error.ok()) return error;
    return vicinity::c_api::GiveText(vicinity::c_api::Describe(written->written->refused), json);
  });
}

int32_t vicinity_written_tensor(const VicinityWritten* written, int32_t part, int32_t index,
                                DLManagedTensor** tensor) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"written", written}, {"tensor", tensor}});
    if (!error.ok()) return error;
    const vicinity::Result<DLManagedTensor*> made =
        vicinity::c_api::TensorOf(written->written, part, index);
    if (!made.ok()) return made.error();
    *tensor = *made;
    return Error();
  });
}

}  // extern "C"
