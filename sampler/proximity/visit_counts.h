// The nodes that walks come to most often: the neighbours that PinSAGE gives a node (Ying et al.,
// KDD 2018), weighed by how often they were visited.
//
// Standard C++ alone, since the client's public headers show it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "partition/schema/schema.h"
#include "sampler/walk_spec.h"

namespace vicinity {

struct VisitSpec {
  WalkSpec walk;
  int64_t num_walks = 0;  // from each start, at least 1
  int64_t top = 0;        // nodes of each start, at least 1
  // Nodes of this type are counted, wherever in a walk; -1: of the type of the starts.
  int32_t node_type = -1;
  // Without the start among its own nodes. With it, as DGL has it, walks that come back to their
  // start count; that they begin there never does.
  bool exclude_start = false;
};

struct TopVisited {
  int64_t top = 0;
  // Both [number of starts, top]. Global ids, the most visited first, of equals the one that the
  // start's walks, one after the other, came to first; -1 behind them.
  std::vector<int64_t> nodes;
  std::vector<int64_t> counts;  // visits of each, 0 behind them
};

// Limit that every entry point enforces: of all starts, a row's -1 included.
inline constexpr int64_t kMaxTopNodes = int64_t{1} << 27;

// Which type is counted.
int32_t CountedType(const Schema& schema, const VisitSpec& spec);

// Empty if the spec fits the schema and so many starts, else what is wrong, with the value.
std::string VisitProblem(const Schema& schema, const VisitSpec& spec, int64_t num_starts);

// Each start num_walks times, which is how walks are numbered.
std::vector<int64_t> RepeatStarts(const std::vector<int64_t>& starts, int64_t num_walks);

// Counts the visits of walks from RepeatStarts, along spec.walk. Spec and walks fit each other and
// the schema.
//
// Cost: a look at every node of the walks. Memory: besides the answer, what one start visits.
TopVisited CountVisits(const Schema& schema, const VisitSpec& spec, const Walks& walks);

}  // namespace vicinity
