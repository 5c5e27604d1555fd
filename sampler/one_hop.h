// One hop of neighbour sampling on a mapped shard: for each target, some of its in-neighbours.
//
// A draw depends on (stream, the target's key, its tree) alone and picks positions in a list whose
// order does not depend on the cut, so the answer is the same on every server and for any shards.
// LABOR's draws depend on the stream and the global ids of sources instead: on the cut, and on
// nothing else (sampler/layer_chooser.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "sampler/excluded_edges.h"
#include "sampler/rules/draw_spec.h"

namespace vicinity {

class MatchingCache;
class MatchingEdges;

struct OneHopOptions : DrawSpec {
  bool want_edge_ids = false;
  bool want_edge_positions = false;
  bool want_edge_times = false;  // SampleLists gives them, of draws by time
  bool in_time_order = false;    // with time_column: lists are in its order
  uint64_t stream = 0;           // StreamKey() of the hop and edge type, or LABOR's LayerStream()
  // Of each row, the tree it is drawn for; empty: all of tree 0.
  absl::Span<const uint32_t> trees;
  // What follows, and times, SampleLists (sampler/local_sampler.h) heeds; SampleOneHop draws from
  // lists as they are.
  absl::Span<const ExcludedEdge> excluded;  // by rising row index
  absl::Span<const TimeBounds> times;       // of each row, for draws by time
  MatchingCache* matching_cache =
      nullptr;  // where SampleLists finds what meets `where`; may be null
  // For SampleOneHop: a list has only these edges. Not by weight, nor by LABOR. Null: all.
  const MatchingEdges* matching = nullptr;
};

// Neighbours of targets 0 .. n-1, one list behind the other.
struct Neighbors {
  std::vector<uint32_t> counts;   // for each target
  std::vector<int64_t> sources;   // global ids
  std::vector<int64_t> edge_ids;  // for each source, if asked for
  // For each source, if asked for: where its edge is in the columns of its target's shard.
  std::vector<int64_t> edge_positions;
  // For each source, if asked for: when its edge was.
  std::vector<int64_t> edge_times{};

  void Clear();  // keeps the memory
};

// How much was in some Neighbors before more was appended, for who appends again.
class NeighborsSize {
 public:
  explicit NeighborsSize(const Neighbors& neighbors);
  void Restore(Neighbors* neighbors) const;

 private:
  const size_t counts_;
  const size_t sources_;
  const size_t edge_ids_;
  const size_t edge_positions_;
  const size_t edge_times_;
};

// Appends the neighbours of `rows` (local rows of the edge type's target nodes) to `out`.
// `target_keys` are the keys of all of the shard's target nodes, by local row.
//
// Without replacement every k-subset of a list of d > k positions is equally likely (Floyd's
// algorithm, exactly uniform draws); lists of d <= k are taken whole, in order. Parallel edges are
// positions of their own. Weighted draws: sampler/weighted_chooser.h; LABOR, by weight as well,
// reads whole lists: sampler/layer_chooser.h. InvalidArgument naming the row if one is out of
// range, for a fanout of 0, below -1 or above kMaxFanout, for weighted draws of edges without
// weights, or if there are trees, but not one a row; DataLoss naming the row whose list does not
// lie in the file, or the page that fails its check: of sources, edge ids and weights the pages
// drawn from are verified here, of offsets and keys by the caller (ShardReader::ReadLists);
// ResourceExhausted naming the row whose list is longer than a count can say. Rows are checked
// before anything is read; after an error `out` is to be thrown away. Memory: O(result); weighted:
// and of the longest list drawn from, where few positions have nearly all of its weight. Cost: two
// cache misses a target and one a drawn neighbour; weighted: two; of
// `matching` edges one more a target.
absl::Status SampleOneHop(const EdgeTable& edges, absl::Span<const uint64_t> target_keys,
                          absl::Span<const uint64_t> rows, const OneHopOptions& options,
                          Neighbors* out);

}  // namespace vicinity
