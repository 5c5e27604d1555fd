#include "client/changes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/graph_impl.h"
#include "client/shards/call_context.h"
#include "client/shards/fan_out.h"
#include "client/shards/pinned_shards.h"
#include "client/shards/shard_access.h"
#include "client/shards/shard_requests.h"
#include "client/shards/shard_router.h"
#include "client/types/error.h"
#include "partition/overlay/live_values.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"
#include "proto/limits.h"
#include "proto/live.pb.h"

namespace vicinity {
namespace {

absl::Status CheckLive(const Graph& graph) {
  VICINITY_RETURN_IF_ERROR(graph.impl().CheckProcess());
  if (graph.is_live()) return absl::OkStatus();
  return absl::FailedPreconditionError("the graph is read-only: nothing changes in it");
}

// Counts by kind, type and column, in the order of the first.
class Counter {
 public:
  explicit Counter(const Schema& schema) : schema_(schema) {}

  std::vector<ChangeCount> CountsOf(const proto::WriteBatch& batch) {
    for (const auto& part : batch.new_nodes()) {
      Add(ChangeKind::kNewNodes, part.node_type(), "", part.keys_size());
    }
    for (const auto& part : batch.new_edges()) {
      Add(ChangeKind::kNewEdges, part.edge_type(), "", part.targets_size());
    }
    for (const auto& part : batch.node_rows()) {
      const auto& columns = schema_.node_types[part.node_type()].columns;
      Add(ChangeKind::kNodeValues, part.node_type(), columns[part.column()].name,
          part.nodes_size());
    }
    for (const auto& part : batch.node_ragged_rows()) {
      const auto& columns = schema_.node_types[part.node_type()].ragged;
      Add(ChangeKind::kNodeValues, part.node_type(), columns[part.column()].name,
          part.nodes_size());
    }
    for (const auto& part : batch.edge_rows()) {
      const int32_t type = part.edges().edge_type();
      Add(ChangeKind::kEdgeValues, type, schema_.edge_types[type].columns[part.column()].name,
          part.edges().targets_size());
    }
    for (const auto& part : batch.gone_edges()) {
      Add(ChangeKind::kRemovedEdges, part.edge_type(), "", part.targets_size());
    }
    AddGone(batch);
    std::vector<ChangeCount> counts;
    for (const auto& [what, count] : counts_) {
      counts.push_back({std::get<0>(what), std::get<1>(what), std::get<2>(what), count});
    }
    return counts;
  }

 private:
  void Add(ChangeKind kind, int32_t type, const std::string& column, int64_t count) {
    counts_[{kind, type, column}] += count;
  }

  // A node may have both its in-edges and its key here.
  void AddGone(const proto::WriteBatch& batch) {
    std::map<int32_t, std::pair<int64_t, int64_t>> by_type;
    for (const auto& part : batch.gone_nodes())
      by_type[part.node_type()].first += part.nodes_size();
    for (const auto& part : batch.gone_keys()) by_type[part.node_type()].second += part.keys_size();
    for (const auto& [type, both] : by_type) {
      Add(ChangeKind::kRemovedNodes, type, "", std::max(both.first, both.second));
    }
  }

  const Schema& schema_;
  std::map<std::tuple<ChangeKind, int32_t, std::string>, int64_t> counts_;
};

// A log is of the schema, or its server would not have it.
absl::Status CheckFits(const Schema& schema, const proto::WriteBatch& batch) {
  const auto fits = [](int32_t at, size_t size) {
    return at >= 0 && static_cast<size_t>(at) < size;
  };
  const auto nodes_fit = [&](int32_t type) { return fits(type, schema.node_types.size()); };
  const auto edges_fit = [&](int32_t type) { return fits(type, schema.edge_types.size()); };
  bool all = true;
  for (const auto& part : batch.new_nodes()) all &= nodes_fit(part.node_type());
  for (const auto& part : batch.new_edges()) all &= edges_fit(part.edge_type());
  for (const auto& part : batch.node_rows()) {
    all &= nodes_fit(part.node_type()) &&
           fits(part.column(), schema.node_types[part.node_type()].columns.size());
  }
  for (const auto& part : batch.node_ragged_rows()) {
    all &= nodes_fit(part.node_type()) &&
           fits(part.column(), schema.node_types[part.node_type()].ragged.size());
  }
  for (const auto& part : batch.edge_rows()) {
    all &= edges_fit(part.edges().edge_type()) &&
           fits(part.column(), schema.edge_types[part.edges().edge_type()].columns.size());
  }
  return all ? absl::OkStatus() : absl::InternalError("a change that does not fit the schema");
}

absl::StatusOr<std::vector<ShardState>> StatesOf(const Graph& graph) {
  VICINITY_RETURN_IF_ERROR(CheckLive(graph));
  VICINITY_ASSIGN_OR_RETURN(std::vector<ShardVersion> versions,
                            ReadVersions(graph.impl().router(), StartOperation()));
  std::vector<ShardState> states;
  for (size_t s = 0; s < versions.size(); ++s) {
    states.push_back({static_cast<int32_t>(s), versions[s].version, versions[s].term,
                      std::move(versions[s].num_nodes), std::move(versions[s].num_edges)});
  }
  return states;
}

absl::Status CheckCursor(const std::string& cursor) {
  constexpr size_t kMostBytes = 64;
  if (!cursor.empty() && cursor.size() <= kMostBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a cursor's name has 1 to ", kMostBytes,
                                                 " bytes, this one has ", cursor.size()));
}

// What came to `question`, which is a reader's of one shard.
absl::StatusOr<std::vector<proto::Change>> AskForChanges(const Graph& graph, int32_t shard,
                                                         ShardChanges question) {
  VICINITY_RETURN_IF_ERROR(CheckLive(graph));
  if (shard < 0 || shard >= graph.num_shards()) {
    return absl::InvalidArgumentError(absl::StrCat("shard ", shard, " of ", graph.num_shards()));
  }
  std::vector<proto::Change> log;
  question.out = &log;
  question.of_writer = !question.cursor.empty();
  FanOut calls;
  graph.impl().router().shard(ShardId{shard}).Ask(question, StartOperation(), calls.Add());
  VICINITY_RETURN_IF_ERROR(calls.Wait());
  return log;
}

absl::StatusOr<std::vector<ShardChange>> ChangesOf(const Graph& graph, int32_t shard,
                                                   ShardChanges question, int64_t count) {
  if (count < 1 || count > kMaxRequestChanges) {
    return absl::InvalidArgumentError(
        absl::StrCat("count is ", count, ", should be from 1 to ", kMaxRequestChanges));
  }
  question.count = static_cast<uint64_t>(count);
  VICINITY_ASSIGN_OR_RETURN(const std::vector<proto::Change> log,
                            AskForChanges(graph, shard, std::move(question)));
  std::vector<ShardChange> changes;
  for (const proto::Change& change : log) {
    VICINITY_RETURN_IF_ERROR(CheckFits(graph.schema(), change.batch()));
    changes.push_back({shard, change.version(), change.term(), change.unix_micros(),
                       change.session().id(), Counter(graph.schema()).CountsOf(change.batch())});
  }
  return changes;
}

absl::StatusOr<std::vector<ShardCursor>> CursorsOf(const Graph& graph) {
  VICINITY_RETURN_IF_ERROR(CheckLive(graph));
  std::vector<ShardVersion> shards(graph.num_shards());
  FanOut calls;
  for (int32_t s = 0; s < graph.num_shards(); ++s) {
    ShardBarrier question{&shards[s], /*of_writer=*/true, /*want_cursors=*/true};
    graph.impl().router().shard(ShardId{s}).Ask(question, StartOperation(), calls.Add());
  }
  VICINITY_RETURN_IF_ERROR(calls.Wait());
  std::vector<ShardCursor> cursors;
  for (int32_t s = 0; s < graph.num_shards(); ++s) {
    for (const ChangeCursor& each : shards[s].cursors) {
      const uint64_t last = std::max(shards[s].version, each.at.version);
      cursors.push_back(
          {s, each.name, each.at.version, each.at.term, last - each.at.version, each.unix_micros});
    }
  }
  return cursors;
}

absl::Status Acknowledge(const Graph& graph, int32_t shard, const std::string& cursor,
                         const VersionName& version) {
  VICINITY_RETURN_IF_ERROR(CheckCursor(cursor));
  ShardChanges question;
  question.after = version.version;
  question.after_term = version.term;
  question.cursor = cursor;
  question.acknowledges = true;
  return AskForChanges(graph, shard, std::move(question)).status();
}

absl::Status Drop(const Graph& graph, const std::string& cursor) {
  VICINITY_RETURN_IF_ERROR(CheckCursor(cursor));
  for (int32_t shard = 0; shard < graph.num_shards(); ++shard) {
    ShardChanges question;
    question.cursor = cursor;
    question.drops = true;
    VICINITY_RETURN_IF_ERROR(AskForChanges(graph, shard, std::move(question)).status());
  }
  return absl::OkStatus();
}

Error ErrorOf(const absl::Status& status) { return status.ok() ? Error() : ToError(status); }

}  // namespace

Result<std::vector<ShardState>> ReadShardStates(const Graph& graph) {
  return ToResult(WithinResources([&] { return StatesOf(graph); }));
}

Result<std::vector<ShardChange>> ReadChanges(const Graph& graph, int32_t shard,
                                             const VersionName& after, int64_t count) {
  return ToResult(WithinResources([&] {
    ShardChanges question;
    question.after = after.version;
    question.after_term = after.term;
    return ChangesOf(graph, shard, std::move(question), count);
  }));
}

Result<std::vector<ShardChange>> ReadChangesOf(const Graph& graph, int32_t shard,
                                               const std::string& cursor, int64_t count) {
  return ToResult(WithinResources([&]() -> absl::StatusOr<std::vector<ShardChange>> {
    VICINITY_RETURN_IF_ERROR(CheckCursor(cursor));
    ShardChanges question;
    question.cursor = cursor;
    return ChangesOf(graph, shard, std::move(question), count);
  }));
}

Error AcknowledgeChanges(const Graph& graph, int32_t shard, const std::string& cursor,
                         const VersionName& version) {
  return ErrorOf(WithinResources([&] { return Acknowledge(graph, shard, cursor, version); }));
}

Result<std::vector<ShardCursor>> ReadCursors(const Graph& graph) {
  return ToResult(WithinResources([&] { return CursorsOf(graph); }));
}

Error DropCursor(const Graph& graph, const std::string& cursor) {
  return ErrorOf(WithinResources([&] { return Drop(graph, cursor); }));
}

}  // namespace vicinity
