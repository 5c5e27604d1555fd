// Small trainers with sampled epochs, and slow counts to compare the policies' with.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"
#include "partition/dataset/dataset.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::testing {

// One of three trainers of a random graph on three shards, with three epochs of it.
struct SmallTrainer {
  TempDir dir;
  std::unique_ptr<Dataset> dataset;
  std::unique_ptr<TrainerView> view;
  std::unique_ptr<AccessTrace> trace;
};
// `typed`: several node and edge types, not all of which are followed in every hop.
std::unique_ptr<SmallTrainer> MakeSmallTrainer(bool typed);

// Every edge of the dataset, ends in the view's numbering.
struct NumberedEdge {
  int32_t type;
  int64_t source;
  int64_t target;
};
std::vector<NumberedEdge> AllEdges(const TrainerView& view);
bool IsFollowed(const TrainerView& view, int hop, int32_t edge_type);

// Remote nodes with a score, highest first, equal ones by number, by a sort of all.
std::vector<int64_t> NaiveOrder(const TrainerView& view, const std::vector<double>& scores);

// That a policy is a StaticOrder of `order`.
void CheckStaticOrder(const Policy& policy, const std::vector<int64_t>& order);

// A trace whose batches need node i with probability chance[i], each by itself.
AccessTrace RandomTrace(const std::vector<double>& chances, int num_batches, uint64_t seed);

}  // namespace vicinity::testing
