// What has been written to a live graph, and when.
//
//   auto shards = vicinity::ReadShardStates(*graph);
//   if (!shards.ok()) return shards.error();
//   for (const vicinity::ShardState& shard : *shards) {
//     auto changes = vicinity::ReadChanges(*graph, shard.shard, /*after=*/0, /*count=*/100);
//     if (!changes.ok()) return changes.error();
//   }
//
// Public header: standard C++ and the project's own plain headers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/graph.h"
#include "client/types/change_values.h"
#include "client/types/result.h"
#include "client/types/version_name.h"

namespace vicinity {

// Threads: functions of their arguments alone.
// Errors:  kFailedPrecondition for a graph that is not live; else as Graph's.

// All shards, each at a version that has every write which was acknowledged before.
Result<std::vector<ShardState>> ReadShardStates(const Graph& graph);

// What made the versions of a shard behind `after`, in order: `count` of them, from 1 to 65,536, or
// fewer where it has no more. A node that goes, whose key another shard lists, counts in each.
// kInvalidArgument for a shard or count out of range; kOutOfRange if `after` has a term and was
// taken back, when the writer was lost: others have followed in its place. Memory: the batches as
// the log has them, without rows: up to about 1 MiB each.
Result<std::vector<ShardChange>> ReadChanges(const Graph& graph, int32_t shard,
                                             const VersionName& after, int64_t count);

// Readers that name themselves, by 1 to 64 bytes, and go on where they were, whoever runs them and
// wherever: a cursor of each shard says what they have acknowledged.
//
//   auto read = vicinity::ReadChangesOf(*graph, /*shard=*/0, "indexer", /*count=*/100);
//   if (!read.ok()) return read.error();
//   // ... work that may be done twice ...
//   if (!read->empty()) {
//     const vicinity::ShardChange& last = read->back();
//     vicinity::AcknowledgeChanges(*graph, /*shard=*/0, "indexer", {last.version, last.term});
//   }
//
// Every change is read at least once: again if its reader ended before it was acknowledged. The
// server that writes a shard keeps its cursors, on its disk and over restarts, 1,024 a shard; who
// is not known there, also since another server was promoted, begins with the first change. It
// alone is asked: kUnavailable while there is none.

// As ReadChanges, behind what the cursor has acknowledged.
Result<std::vector<ShardChange>> ReadChangesOf(const Graph& graph, int32_t shard,
                                               const std::string& cursor, int64_t count);
// All changes up to this version have been dealt with; a lower one than before changes nothing. On
// disk when it returns. kOutOfRange: there is no such version, or it was taken back;
// kResourceExhausted: too many cursors.
Error AcknowledgeChanges(const Graph& graph, int32_t shard, const std::string& cursor,
                         const VersionName& version);
// Of all shards. One that has acknowledged nothing is not among them.
Result<std::vector<ShardCursor>> ReadCursors(const Graph& graph);
// Forgets it in all shards; fine if there is none.
Error DropCursor(const Graph& graph, const std::string& cursor);

}  // namespace vicinity
