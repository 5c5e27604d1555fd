// Small graphs held in memory, which tests write as datasets and use as their oracle.
//
// A node's *position* is its place in its type's list here, the user's order. Which global id it
// has in a dataset is up to the Placement it was written with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"

namespace vicinity::testing {

struct MemoryNodes {
  std::vector<uint64_t> keys;
  std::vector<std::string> names;                // STRING ids only
  std::vector<std::string> columns;              // each: all rows' bytes, one after the other
  std::vector<std::vector<std::string>> ragged;  // each: the bytes of every row
};

struct MemoryEdges {
  std::vector<int64_t> sources;  // positions; an edge's id is its place in this list
  std::vector<int64_t> targets;
  std::vector<std::string> columns;
};

// One in-edge of a node.
struct InEdge {
  int64_t source;  // position
  int64_t edge_id;
};

struct MemoryGraph {
  Schema schema;
  std::vector<MemoryNodes> nodes;
  std::vector<MemoryEdges> edges;

  int64_t num_nodes(NodeTypeId type) const;
  std::string_view row(NodeTypeId type, int column, int64_t position) const;
  // Of a ragged column, or kNamesColumn.
  std::string_view ragged_row(NodeTypeId type, int column, int64_t position) const;
  std::string_view edge_row(EdgeTypeId type, int column, int64_t edge_id) const;
  // Sorted by (source key, edge id), or by (time, source key, edge id), as datasets keep them.
  // Cost: looks at every edge; InEdgesOfAll, by target, does so once.
  std::vector<InEdge> InEdges(EdgeTypeId type, int64_t target) const;
  std::vector<std::vector<InEdge>> InEdgesOfAll(EdgeTypeId type) const;
};

struct RandomGraphOptions {
  int64_t num_nodes = 100;
  int64_t num_edges = 500;    // ends drawn uniformly: loops and doubles happen
  int64_t feature_width = 8;  // 0: no such column
  int32_t num_classes = 4;    // 0: no labels
  bool splits = true;
  bool weights = false;     // an edge column, the weight column
  bool times = false;       // another, of int64: from -5 to 5, and some as far off as can be
  bool time_order = false;  // with times: lists are in their order
  IdKind id_kind = IdKind::kDense;
  uint64_t seed = 1;
};

// One node type "node" with columns "features" (float32), "label" (int32, a tenth of them -1),
// "split", and one edge type "links" with, if asked for, "weight" (float32, a tenth of them 0) and
// "time" (int64).
MemoryGraph RandomGraph(const RandomGraphOptions& options);

// Types user (64-bit ids, some negative; features, label, split; ragged: clicks, lists of int64),
// item (string ids; features, a column of doubles, one without values; ragged: words, a sparse
// matrix of 40 columns of float32, and title, texts), tag (dense ids, no columns), and relations
// user:buys:item (with a weight), item:bought_by:user, item:has:tag, user:knows:user, and
// tag:of:user, which is empty.
MemoryGraph TypedGraph(int64_t num_users, int64_t num_items, int64_t num_tags, uint64_t seed);

// Adds the type that has the edges of `type` the other way round, as import calls and makes it.
void AddReverse(EdgeTypeId type, MemoryGraph* graph);

// Makes `count` edge types of the graph's only one, which have its edges: each but the last a
// quarter of those that are left, so that of many types most lists are empty.
void SplitEdges(int count, MemoryGraph* graph);

// Where each node goes: order[type] lists positions in the order of their global ids.
struct Placement {
  std::vector<std::vector<int64_t>> order;
  Book book;

  int64_t PositionOf(NodeTypeId type, GlobalNode node) const {
    return order[type.value][node.value];
  }
};
Placement InUserOrder(const MemoryGraph& graph);  // one shard
Placement Shuffled(const MemoryGraph& graph, int32_t num_shards, uint64_t seed);

// Writes through DatasetWriter.
absl::Status WriteGraph(const MemoryGraph& graph, const Placement& placement,
                        const std::string& directory);
inline absl::Status WriteGraph(const MemoryGraph& graph, const std::string& directory) {
  return WriteGraph(graph, InUserOrder(graph), directory);
}

// The first difference in content (schema, keys, names, rows, lists in their order), or "" if the
// whole dataset holds what the graph holds, wherever its nodes are.
std::string Difference(const MemoryGraph& graph, const Dataset& dataset);

}  // namespace vicinity::testing
