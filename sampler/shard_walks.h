// Walks on one shard: each goes on until it leaves it.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/schema.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/walk_spec.h"

namespace vicinity {

// Some of a call's walks, which stand at nodes of the shard.
struct StandingWalks {
  absl::Span<const uint32_t> walks;  // their numbers
  absl::Span<const uint32_t> steps;  // that each has made, fewer than the spec's length
  absl::Span<const uint64_t> rows;   // local, of the node type behind so many steps
};

// Where they went, one behind the other.
struct WalkedSteps {
  std::vector<uint32_t> counts;   // of each: so many steps
  std::vector<int64_t> nodes;     // global ids
  std::vector<int64_t> edge_ids;  // as many, if asked for
};

// InvalidArgument naming the first number of steps or row that is too large.
absl::Status CheckStanding(const Schema& schema, const ShardReader& reader, const WalkSpec& spec,
                           const StandingWalks& standing);

// Steps as WalkSampler would make them, of p = q = 1. A walk stops at a node of another shard,
// behind its last step, and where it ends: so one that stops before that at a node of this shard
// has ended. Errors as CheckStanding, before anything is read; Cancelled once `is_gone`; else as
// SampleShard.
//
// Cost: as sampling one neighbour a step. Memory: 8 MiB, and what the answer takes.
absl::Status WalkOnShard(const Schema& schema, const Book& book, const ShardReader& reader,
                         const WalkSpec& spec, const MinibatchDraw& draw,
                         const StandingWalks& standing, bool want_edge_ids,
                         absl::FunctionRef<bool()> is_gone, WalkedSteps* out);

}  // namespace vicinity
