// Batches of changes that follow from their numbers: whoever knows how many were applied knows what
// a shard holds. For graphs of RandomGraph (small_graphs.h) in one shard.
#pragma once

#include <cstdint>

#include "partition/dataset/dataset.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_shard.h"
#include "proto/live.pb.h"

namespace vicinity::testing {

LiveBase BaseOf(const Dataset& dataset);

// The n-th, from 1 on: other rows of three nodes, and two new edges.
proto::WriteBatch NumberedBatch(const LiveBase& base, uint64_t n);

// Every fifth on disk.
inline Durability NumberedDurability(uint64_t n) {
  return n % 5 == 0 ? Durability::kSync : Durability::kBuffered;
}

}  // namespace vicinity::testing
