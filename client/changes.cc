#include "client/changes.h"

#include <algorithm>
#include <cstddef>
#include <string>
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
#include "client/writes/told_change.h"
#include "partition/overlay/live_values.h"
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
    VICINITY_ASSIGN_OR_RETURN(
        ShardChange told,
        TellChange(graph.schema(), graph.impl().router().book(), ShardId{shard}, change));
    changes.push_back(std::move(told));
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
