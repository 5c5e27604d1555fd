// What has changed in a live graph, as plain values (client/changes.h).
//
// Public header: standard C++ and the project's own plain headers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/types/write_values.h"

namespace vicinity {

// A shard as it is now.
struct ShardState {
  int32_t shard = 0;
  uint64_t version = 0;              // batches that were committed; 0: the files alone
  uint64_t term = 0;                 // of the writer that made the version
  std::vector<int64_t> num_nodes{};  // of each node type, those that are gone counted
  std::vector<int64_t> num_edges{};  // of each edge type, likewise
};

// How far a reader of a shard's changes, who names itself, has come (client/changes.h).
struct ShardCursor {
  int32_t shard = 0;
  std::string name{};       // any bytes, 1 to 64
  uint64_t version = 0;     // the last that it has acknowledged
  uint64_t term = 0;        // of the writer that made it
  uint64_t behind = 0;      // versions that have come since
  int64_t unix_micros = 0;  // when it did, by the server's clock
};

// How many nodes or edges of a type a batch of changes has of one kind, and which: lists as long as
// the count, in the order they were written, but of nodes that go.
struct ChangeCount {
  ChangeKind kind = ChangeKind::kNewNodes;
  int32_t type = 0;      // of nodes, or of edges where the kind is of them
  std::string column{};  // of kNodeValues and kEdgeValues
  int64_t count = 0;
  // Global ids; of edges where they lead. Nodes that go are told by the shards that own them: one
  // that only lists a node's key counts it, and has no id of it.
  std::vector<int64_t> nodes{};
  std::vector<int64_t> sources{};   // global ids, of kNewEdges alone
  std::vector<int64_t> edge_ids{};  // of edges
};

// What made a version of a shard out of the one before it.
struct ShardChange {
  int32_t shard = 0;
  uint64_t version = 0;
  uint64_t term = 0;        // of the writer that made it
  int64_t unix_micros = 0;  // when it was committed, by the server's clock
  std::string session{};    // the writer's, any bytes
  std::vector<ChangeCount> counts{};
};

}  // namespace vicinity
