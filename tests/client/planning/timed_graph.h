// A graph with times on nodes and edges, to plan draws by time and by conditions on.
#pragma once

#include <cstdint>

#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::testing {

// RandomGraph without labels, whose nodes and edges have a column "time" (int64): those of nodes,
// which may be seeds, from 50 to 99, those of edges from 0 to 99, every one as likely.
MemoryGraph TimedGraph(int64_t num_nodes, int64_t num_edges, int64_t feature_width);

// Of a node or an edge, by its position.
int64_t NodeTime(const MemoryGraph& graph, int64_t position);
int64_t EdgeTime(const MemoryGraph& graph, int64_t edge_id);

}  // namespace vicinity::testing
