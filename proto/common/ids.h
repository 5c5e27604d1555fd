// The ways to number things. Ids never travel between functions as bare integers; bulk
// arrays (spans, files, wire) hold raw integers and their comment says which these are.
#pragma once

#include <cstdint>

namespace vicinity {

struct GlobalNode {
  int64_t value;  // position in its node type over the whole dataset
  friend bool operator==(GlobalNode a, GlobalNode b) { return a.value == b.value; }
};
struct LocalRow {
  int64_t value;  // position in one shard's part of a node type
  friend bool operator==(LocalRow a, LocalRow b) { return a.value == b.value; }
};
struct ShardId {
  int32_t value;
  friend bool operator==(ShardId a, ShardId b) { return a.value == b.value; }
};
struct NodeTypeId {
  int32_t value;  // position in Schema::node_types
  friend bool operator==(NodeTypeId a, NodeTypeId b) { return a.value == b.value; }
};
struct EdgeTypeId {
  int32_t value;  // position in Schema::edge_types
  friend bool operator==(EdgeTypeId a, EdgeTypeId b) { return a.value == b.value; }
};

}  // namespace vicinity
