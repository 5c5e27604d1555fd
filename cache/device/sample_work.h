// Neighbour sampling in passes, each a loop over threads that do not depend on each other's order:
// the same threads on a device and, one after the other, on the host. device_sampler.h puts the
// passes in order; the result is the CPU sampler's (sampler/minibatch_sampler.h), number by number.
//
// Plain values and addresses: nothing here owns memory. Every index is checked against what the
// arrays hold, so topology of any content does no harm.
#pragma once

#include <cstdint>

#include "cache/device/atomics.h"
#include "cache/device/draws.h"
#include "proto/common/device_code.h"

namespace vicinity {

// One shard's part of an edge type: partition/dataset/shard.h's EdgeTable and its target nodes'
// keys.
struct TopologyPart {
  int64_t first_target = 0;  // global id of its local row 0
  int64_t num_targets = 0;
  int64_t num_edges = 0;
  const uint64_t* offsets = nullptr;  // num_targets + 1
  const uint32_t* narrow = nullptr;   // global ids of the sources: one of the two
  const uint64_t* wide = nullptr;
  const uint64_t* keys = nullptr;
};

// The unique nodes of one type: a list in the order in which they are met, and a table from id to
// position. Of new nodes the table says kNewMention + the first mention until they are numbered.
struct NodeList {
  int64_t* ids = nullptr;
  int64_t max_nodes = 0;
  uint64_t* cell_ids = nullptr;  // all ones: empty
  uint32_t* cell_values = nullptr;
  int shift = 63;             // 2^(64 - shift) cells
  int64_t num_in_graph = 0;   // ids are below it
  int64_t* counts = nullptr;  // of type NodeCount

  VICINITY_HOST_DEVICE uint64_t num_cells() const { return uint64_t{1} << (64 - shift); }
};
enum NodeCount { kKnown, kFrontierBegin, kFrontierEnd, kNumNodeCounts };

inline constexpr uint32_t kNewMention = uint32_t{1} << 31;
inline constexpr uint32_t kNoCell = ~uint32_t{0};

enum class SampleError : int64_t {
  kNone,
  kNoSuchList,    // a target whose list does not lie in the file
  kNoSuchNode,    // an id that is not in the graph
  kTooManyEdges,  // more than the arrays hold
  kTooManyNodes,
};

enum class SamplePass {
  kCount,      // target_counts[i]: how many neighbours target i draws; 0 behind the last target
  kChoose,     // places: which
  kGather,     // mentions: their ids
  kInsert,     // cells: where the table has them
  kMarkFirst,  // is_first[i]: whether mention i is the first of a new node; 0 behind the last
  kNumber,     // new nodes go to the list
  kResolve,    // positions: of each mention in the list
  kFinishHop,  // the nodes met so far, or the new ones, become the frontier
};

struct SampleStep {
  SamplePass pass = SamplePass::kCount;
  const TopologyPart* parts = nullptr;  // by rising first target
  int32_t num_parts = 0;
  ListDraw draw;
  NodeList targets;
  NodeList nodes;  // of the mentions
  int64_t max_targets = 0;
  int64_t max_mentions = 0;

  int64_t* target_counts = nullptr;       // max_targets + 1
  const int64_t* offsets = nullptr;       // max_targets + 1: prefix sums of the counts
  const int64_t* num_mentions = nullptr;  // one number
  uint64_t* places = nullptr;             // max_mentions: part << kPartShift | position
  int64_t* mentions = nullptr;            // max_mentions
  uint32_t* cells = nullptr;              // max_mentions
  int64_t* is_first = nullptr;            // max_mentions + 1
  const int64_t* ranks = nullptr;         // max_mentions + 1: prefix sums of is_first
  int32_t* positions = nullptr;           // max_mentions

  bool expand_all = false;     // kFinishHop
  int64_t* hop_end = nullptr;  // kFinishHop: gets the number of nodes
  uint64_t* error = nullptr;   // two: a SampleError, the first there was, and its value
};

inline constexpr int kPartShift = 48;

inline int64_t ThreadsOf(const SampleStep& step) {
  switch (step.pass) {
    case SamplePass::kCount:
      return step.max_targets + 1;
    case SamplePass::kChoose:
      return step.max_targets;
    case SamplePass::kMarkFirst:
      return step.max_mentions + 1;
    case SamplePass::kFinishHop:
      return 1;
    default:
      return step.max_mentions;
  }
}

namespace sample {

VICINITY_HOST_DEVICE inline void Fail(const SampleStep& step, SampleError error, int64_t value) {
  if (CompareAndSwap(&step.error[0], 0, static_cast<uint64_t>(error)) == 0) {
    step.error[1] = static_cast<uint64_t>(value);
  }
}

VICINITY_HOST_DEVICE inline int64_t NumTargets(const SampleStep& step) {
  const int64_t* const counts = step.targets.counts;
  const int64_t num_targets = counts[kFrontierEnd] - counts[kFrontierBegin];
  return num_targets < step.max_targets ? num_targets : step.max_targets;
}

VICINITY_HOST_DEVICE inline int64_t NumMentions(const SampleStep& step) {
  return *step.num_mentions < step.max_mentions ? *step.num_mentions : step.max_mentions;
}

// A target's list: positions [begin, begin + degree) of part `part`. degree 0 where there is none.
struct TargetList {
  int32_t part = 0;
  uint64_t key = 0;
  uint64_t begin = 0;
  uint64_t degree = 0;
};

VICINITY_HOST_DEVICE inline TargetList ListOf(const SampleStep& step, int64_t target) {
  const int64_t node = step.targets.ids[step.targets.counts[kFrontierBegin] + target];
  TargetList list;
  int32_t end = step.num_parts;  // the last part that begins at or before the node
  while (end - list.part > 1) {
    const int32_t middle = list.part + (end - list.part) / 2;
    if (step.parts[middle].first_target <= node) {
      list.part = middle;
    } else {
      end = middle;
    }
  }
  const TopologyPart& part = step.parts[list.part];
  const int64_t row = node - part.first_target;
  if (row < 0 || row >= part.num_targets) {
    Fail(step, SampleError::kNoSuchNode, node);
    return list;
  }
  const uint64_t begin = part.offsets[row];
  const uint64_t end_of_list = part.offsets[row + 1];
  if (begin > end_of_list || end_of_list > static_cast<uint64_t>(part.num_edges)) {
    Fail(step, SampleError::kNoSuchList, node);
    return list;
  }
  list.key = part.keys[row];
  list.begin = begin;
  list.degree = end_of_list - begin;
  return list;
}

VICINITY_HOST_DEVICE inline void Count(const SampleStep& step, int64_t i) {
  uint64_t count = 0;
  if (i < NumTargets(step)) count = step.draw.CountFor(ListOf(step, i).degree);
  step.target_counts[i] = static_cast<int64_t>(count);
}

VICINITY_HOST_DEVICE inline void Choose(const SampleStep& step, int64_t i) {
  if (i >= NumTargets(step)) return;
  if (step.offsets[i + 1] > step.max_mentions) {
    return Fail(step, SampleError::kTooManyEdges, step.offsets[i + 1]);
  }
  const TargetList list = ListOf(step, i);
  const uint64_t first = static_cast<uint64_t>(list.part) << kPartShift | list.begin;
  DrawPositions(step.draw, list.key, list.degree, first, step.places + step.offsets[i]);
}

VICINITY_HOST_DEVICE inline void Gather(const SampleStep& step, int64_t i) {
  if (i >= NumMentions(step) || step.error[0] != 0) return;
  const TopologyPart& part = step.parts[step.places[i] >> kPartShift];
  const uint64_t position = step.places[i] & ((uint64_t{1} << kPartShift) - 1);
  step.mentions[i] = part.narrow != nullptr ? int64_t{part.narrow[position]}
                                            : static_cast<int64_t>(part.wide[position]);
}

// The place of `id` in the table, where it is put if it is new; kNoCell if the table is full.
VICINITY_HOST_DEVICE inline uint32_t FindOrAddCell(const NodeList& nodes, uint64_t id) {
  const uint64_t mask = nodes.num_cells() - 1;
  uint64_t cell = (id * 0x9e3779b97f4a7c15u) >> nodes.shift;
  for (uint64_t tries = 0; tries <= mask; ++tries, cell = (cell + 1) & mask) {
    uint64_t found = nodes.cell_ids[cell];
    if (found == ~uint64_t{0}) found = CompareAndSwap(&nodes.cell_ids[cell], found, id);
    if (found == ~uint64_t{0} || found == id) return static_cast<uint32_t>(cell);
  }
  return kNoCell;
}

VICINITY_HOST_DEVICE inline void Insert(const SampleStep& step, int64_t i) {
  if (i >= NumMentions(step)) return;
  step.cells[i] = kNoCell;
  if (step.error[0] != 0) return;
  const int64_t id = step.mentions[i];
  if (id < 0 || id >= step.nodes.num_in_graph) return Fail(step, SampleError::kNoSuchNode, id);
  const uint32_t cell = FindOrAddCell(step.nodes, static_cast<uint64_t>(id));
  if (cell == kNoCell) return Fail(step, SampleError::kTooManyNodes, step.nodes.max_nodes);
  step.cells[i] = cell;
  AtomicMin(&step.nodes.cell_values[cell], kNewMention + static_cast<uint32_t>(i));
}

VICINITY_HOST_DEVICE inline void MarkFirst(const SampleStep& step, int64_t i) {
  bool first = false;
  if (i < NumMentions(step) && step.cells[i] != kNoCell) {
    first = step.nodes.cell_values[step.cells[i]] == kNewMention + static_cast<uint32_t>(i);
  }
  step.is_first[i] = first ? 1 : 0;
}

VICINITY_HOST_DEVICE inline void Number(const SampleStep& step, int64_t i) {
  if (i >= NumMentions(step) || step.is_first[i] == 0) return;
  const int64_t position = step.nodes.counts[kKnown] + step.ranks[i];
  if (position >= step.nodes.max_nodes) {
    return Fail(step, SampleError::kTooManyNodes, step.nodes.max_nodes);
  }
  step.nodes.ids[position] = step.mentions[i];
  step.nodes.cell_values[step.cells[i]] = static_cast<uint32_t>(position);
}

VICINITY_HOST_DEVICE inline void Resolve(const SampleStep& step, int64_t i) {
  const int64_t num_mentions = NumMentions(step);
  if (i == 0 && step.error[0] == 0) step.nodes.counts[kKnown] += step.ranks[num_mentions];
  if (i >= num_mentions || step.cells[i] == kNoCell) return;
  step.positions[i] = static_cast<int32_t>(step.nodes.cell_values[step.cells[i]]);
}

VICINITY_HOST_DEVICE inline void FinishHop(const SampleStep& step) {
  int64_t* const counts = step.nodes.counts;
  counts[kFrontierBegin] = step.expand_all ? 0 : counts[kFrontierEnd];
  counts[kFrontierEnd] = counts[kKnown];
  *step.hop_end = counts[kKnown];
}

}  // namespace sample

template <SamplePass kPass>
VICINITY_HOST_DEVICE inline void SampleThread(const SampleStep& step, int64_t thread) {
  if constexpr (kPass == SamplePass::kCount) sample::Count(step, thread);
  if constexpr (kPass == SamplePass::kChoose) sample::Choose(step, thread);
  if constexpr (kPass == SamplePass::kGather) sample::Gather(step, thread);
  if constexpr (kPass == SamplePass::kInsert) sample::Insert(step, thread);
  if constexpr (kPass == SamplePass::kMarkFirst) sample::MarkFirst(step, thread);
  if constexpr (kPass == SamplePass::kNumber) sample::Number(step, thread);
  if constexpr (kPass == SamplePass::kResolve) sample::Resolve(step, thread);
  if constexpr (kPass == SamplePass::kFinishHop) sample::FinishHop(step);
}

}  // namespace vicinity
