// What sampling gives: blocks over a list of unique nodes, seeds first.
//
// Standard C++ alone, since the client's public headers show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vicinity {

// What to tell of each sampled edge, beside its ends.
struct EdgeDetail {
  bool ids = false;
  bool positions = false;
  bool times = false;  // along edge types that are drawn by time; for who samples, not in a graph

  EdgeDetail() = default;
  // Implicit: most callers ask for ids or for nothing.
  EdgeDetail(bool want_ids, bool want_positions = false)  // NOLINT(google-explicit-constructor)
      : ids(want_ids), positions(want_positions) {}
};

// One hop along one edge type as a compressed bipartite graph. Target i is node
// `first_target + i` of the target type's list; its sampled in-neighbours are
// sources[offsets[i]] .. sources[offsets[i + 1] - 1], positions in the source type's list.
struct Block {
  int32_t edge_type = 0;
  int64_t first_target = 0;
  std::vector<int64_t> offsets;  // num targets + 1
  std::vector<int32_t> sources;
  std::vector<int64_t> edge_ids;  // of each source, positions in the user's input; if asked for
  // Of each source, where its edge is in the columns of its target's shard; if asked for.
  std::vector<int64_t> edge_positions;

  int64_t num_targets() const { return static_cast<int64_t>(offsets.size()) - 1; }
};

// The unique nodes of one type, in the order in which sampling met them.
struct SampledNodes {
  std::vector<int64_t> ids;       // global ids
  std::vector<int64_t> hop_ends;  // hop_ends[h]: how many were known after hop h; [0]: the seeds
  // Disjoint sampling only: of each node, the seed whose tree it is in, counted through all lists
  // of seeds. A node is listed once for each tree that it is in.
  std::vector<uint32_t> trees;
};

// A list of seeds, in the order in which they were given.
struct SampledSeeds {
  int32_t node_type = 0;
  std::vector<int32_t> positions;  // of each, in nodes[node_type].ids; seeds may repeat
};

// An induced sample (SamplingSpec::subgraph) is one hop, however many met its nodes: `hops` has one
// element, in it a block for each edge type that is followed and whose target type has nodes. Its
// targets are all nodes of the type (first_target 0), its sources any. hop_ends are the seeds and
// all nodes.
struct SampledGraph {
  std::vector<SampledSeeds>
      seeds;  // of nodes one list; of links their sources, their targets, then negatives
  std::vector<SampledNodes> nodes;  // by node type
  std::vector<std::vector<Block>>
      hops;  // hops[0] is next to the seeds; in it one block an edge type
             // that was asked for and whose target type had a frontier
  int64_t num_edges() const {
    int64_t edges = 0;
    for (const std::vector<Block>& hop : hops) {
      for (const Block& block : hop) edges += static_cast<int64_t>(block.sources.size());
    }
    return edges;
  }

  int64_t num_seeds() const {
    int64_t all = 0;
    for (const SampledSeeds& list : seeds) all += static_cast<int64_t>(list.positions.size());
    return all;
  }

  // Of all lists together, as far as they are filled.
  int64_t num_bytes() const {
    size_t bytes = num_seeds() * sizeof(int32_t);
    for (const SampledNodes& of_type : nodes) {
      bytes += of_type.ids.size() * sizeof(int64_t) + of_type.trees.size() * sizeof(uint32_t);
    }
    for (const std::vector<Block>& hop : hops) {
      for (const Block& block : hop) {
        bytes += block.offsets.size() * sizeof(int64_t) + block.sources.size() * sizeof(int32_t) +
                 (block.edge_ids.size() + block.edge_positions.size()) * sizeof(int64_t);
      }
    }
    return static_cast<int64_t>(bytes);
  }
};

}  // namespace vicinity
