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

absl::StatusOr<std::vector<ShardChange>> ChangesOf(const Graph& graph, int32_t shard,
                                                   const VersionName& after, int64_t count) {
  VICINITY_RETURN_IF_ERROR(CheckLive(graph));
  if (shard < 0 || shard >= graph.num_shards()) {
    return absl::InvalidArgumentError(absl::StrCat("shard ", shard, " of ", graph.num_shards()));
  }
  if (count < 1 || count > kMaxRequestChanges) {
    return absl::InvalidArgumentError(
        absl::StrCat("count is ", count, ", should be from 1 to ", kMaxRequestChanges));
  }
  std::vector<proto::Change> log;
  FanOut calls;
  graph.impl()
      .router()
      .shard(ShardId{shard})
      .Ask(ShardChanges{after.version, after.term, static_cast<uint64_t>(count), &log},
           StartOperation(), calls.Add());
  VICINITY_RETURN_IF_ERROR(calls.Wait());
  std::vector<ShardChange> changes;
  for (const proto::Change& change : log) {
    VICINITY_RETURN_IF_ERROR(CheckFits(graph.schema(), change.batch()));
    changes.push_back({shard, change.version(), change.term(), change.unix_micros(),
                       change.session().id(), Counter(graph.schema()).CountsOf(change.batch())});
  }
  return changes;
}

}  // namespace

Result<std::vector<ShardState>> ReadShardStates(const Graph& graph) {
  return ToResult(WithinResources([&] { return StatesOf(graph); }));
}

Result<std::vector<ShardChange>> ReadChanges(const Graph& graph, int32_t shard,
                                             const VersionName& after, int64_t count) {
  return ToResult(WithinResources([&] { return ChangesOf(graph, shard, after, count); }));
}

}  // namespace vicinity
