// Takes a hop's targets apart by owner, and puts the owners' answers together again in the order of
// the targets, so that the result does not show who answered.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "proto/common/ids.h"
#include "sampler/excluded_edges.h"
#include "sampler/one_hop.h"
#include "sampler/rules/draw_spec.h"

namespace vicinity {

// The targets of one owner.
struct OwnerGroup {
  ShardId shard;
  std::vector<uint64_t> rows;       // local rows, in the order of the targets
  std::vector<uint32_t> positions;  // of each row, its index in the targets
  std::vector<uint32_t> trees;      // of each row; empty where the targets have none
  std::vector<TimeBounds> times;    // likewise
};

// Groups by rising shard id, none of them empty. Every target must be in the book. `trees` and
// `times`: of each target, or empty.
std::vector<OwnerGroup> GroupByOwner(const Book& book, NodeTypeId type,
                                     absl::Span<const int64_t> targets,
                                     absl::Span<const uint32_t> trees = {},
                                     absl::Span<const TimeBounds> times = {});

// Those of a group's rows, by their index in it. `excluded`: of all targets, by rising target.
std::vector<ExcludedEdge> ExcludedOf(const OwnerGroup& group,
                                     absl::Span<const ExcludedEdge> excluded);

// Sets `out` to the neighbours of targets 0 .. num_targets - 1. answers[i] belongs to groups[i];
// the groups cover every target once. Takes the answers' memory where it can, so what they hold
// afterwards means nothing. InvalidArgument naming the shard if an answer's counts do not match its
// group or its sources, or some answers have edge ids (positions, times) and others have none.
absl::Status MergeByOwner(absl::Span<const OwnerGroup> groups, absl::Span<Neighbors> answers,
                          int64_t num_targets, Neighbors* out);

}  // namespace vicinity
