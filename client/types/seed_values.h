// Where a loader's batches begin when that is not a split of the import: nodes or
// links that the user chooses, as plain values.
//
// Order:    without shuffling, that of the list; of a mask, that of the nodes' keys. With it, one
//           that depends on run_seed, the epoch and the number of seeds alone. The same choice by
//           user ids or by mask therefore gives the same batches on any cut of the graph and in
//           any deployment of it. GlobalIds number the nodes of one cut, and mean others in
//           another.
// Repeats:  a node that is listed twice is two seeds.
// Errors:   of Loader::Create. kNotFound names user ids that the graph does not have, and where in
//           the list they are; kInvalidArgument likewise global ids out of range, and says that a
//           list is empty, that a mask has another length than there are nodes, or none of them,
//           and ids of the wrong kind.
//
// Public header: standard C++.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace vicinity {

// What Graph::Resolve and Graph::NodesOf give.
struct GlobalIds {
  std::vector<int64_t> ids;
};

// The ids that the user gave at import, of a type whose ids are integers.
struct UserIds {
  std::vector<int64_t> ids;
};

// Likewise, of a type whose ids are strings.
struct UserNames {
  std::vector<std::string> ids;
};

// For every node of the type whether it is a seed, in the order of Graph::NodesOf: where ids are
// dense, entry i is of the node whose id is i.
struct NodeMask {
  std::vector<uint8_t> chosen;  // 0: no
};

using NodeIds = std::variant<GlobalIds, UserIds, UserNames>;

// Pairs of nodes that an edge of the type joins, or could join: whether the graph has it is not
// asked. LoaderOptions::batch_size counts links: the seeds of a batch are two lists, its sources
// and its targets (SampledGraph::seeds), then those of negatives (client/types/negative_values.h).
// They bring no labels. With SeedPolicy::kHome a link is of the shard of its target.
struct LinkList {
  // "source:relation:target", or a relation that is the only one of its name.
  std::string edge_type;
  NodeIds sources;
  NodeIds targets;  // as many
};

// Which edges the neighbourhoods of links do not have: drawing goes on as if a batch's edges were
// not in the graph, so that a target still has its fanout of those that are left.
enum class LinkExclusion : uint8_t {
  kNone,
  kSelf,  // edges of the links' type that join the ends of any link of the batch, as the link does
  kReverse,  // these, and those that lead back: of LoaderOptions::reverse_edge_type
};

// std::monostate: none, so that the seeds are those of LoaderOptions::split.
using SeedList = std::variant<std::monostate, GlobalIds, UserIds, UserNames, NodeMask, LinkList>;

}  // namespace vicinity
