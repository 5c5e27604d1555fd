// What a policy that ranks nodes may look at: the graph, and what one trainer samples of it.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/vip/vip.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"

namespace vicinity {

// Nodes of all types in one numbering: node n of type t is first(t) + n.
//
// Threads:  immutable; any number may read.
// Lifetime: the dataset must outlive it.
class TrainerView {
 public:
  // `home`: the shards near the trainer; rows of the others' nodes are remote. FailedPrecondition:
  // the dataset is not whole. InvalidArgument: a spec that does not fit, a batch size below 1, a
  // home shard or seed that does not exist.
  static absl::StatusOr<TrainerView> Create(const Dataset* dataset, std::vector<int32_t> home,
                                            HomeSeeds seeds, const VipOptions& options);

  const Dataset& dataset() const { return *dataset_; }
  const HomeSeeds& seeds() const { return seeds_; }
  const VipOptions& options() const { return options_; }

  int64_t num_nodes() const { return firsts_.back(); }
  int64_t first(NodeTypeId type) const { return firsts_[type.value]; }
  bool is_remote(int64_t number) const { return is_remote_[number] != 0; }

  // Edge types that a hop follows; that any hop does.
  std::vector<int32_t> Followed(int hop) const;
  std::vector<int32_t> FollowedByAny() const;

  // 1 for every seed, 0 for other nodes.
  std::vector<double> SeedMarks() const;

  // to[u] += from[v] for every edge of these types from u to v: as far as one step of sampling,
  // which goes from v to its in-neighbours. DataLoss for a source that is not in the book.
  absl::Status SpreadToSources(absl::Span<const int32_t> edge_types, absl::Span<const double> from,
                               std::vector<double>* to) const;

  // By node, its in-edges of these types.
  std::vector<double> InDegrees(absl::Span<const int32_t> edge_types) const;

  // Sets the scores of nodes that are not remote to 0: policies choose among the others.
  void KeepRemote(std::vector<double>* scores) const;

 private:
  TrainerView(const Dataset* dataset, HomeSeeds seeds, const VipOptions& options);

  const Dataset* dataset_;
  HomeSeeds seeds_;
  VipOptions options_;
  std::vector<int64_t> firsts_;  // by type, and num_nodes()
  std::vector<char> is_remote_;  // by number
};

}  // namespace vicinity
