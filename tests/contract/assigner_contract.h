// What every Assigner must do, whatever it decides by: run by each implementation's test.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"

namespace vicinity::testing {

struct AssignerKind {
  // For a dataset and as many shards: one that reads its cut from files writes them here. It may
  // be asked for numbers of shards that it will refuse.
  std::function<std::unique_ptr<Assigner>(const Dataset& dataset, int32_t num_shards)> make;
  // What the largest shard may have of all nodes, as a multiple of the mean; 0: nothing is
  // promised.
  double balance = 0;
};

// Every node of every type gets a shard that there is; also from a source of several shards.
void CheckEveryNodeIsAssigned(const AssignerKind& kind);
// The same dataset and seed give the same cut.
void CheckDeterminism(const AssignerKind& kind);
// Types without nodes, and graphs without edges, are no trouble.
void CheckEmptyTypes(const AssignerKind& kind);
// More shards than nodes, no shards, and a dataset that is not whole are InvalidArgument; as many
// shards as nodes are not.
void CheckRefusals(const AssignerKind& kind);
// Shards are as even as was promised.
void CheckBalance(const AssignerKind& kind);

inline void CheckAssigner(const AssignerKind& kind) {
  CheckEveryNodeIsAssigned(kind);
  CheckDeterminism(kind);
  CheckEmptyTypes(kind);
  CheckRefusals(kind);
  CheckBalance(kind);
}

}  // namespace vicinity::testing
