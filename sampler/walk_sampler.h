// Random walks, once for everybody: as a minibatch they only need a NeighborSource, whose lists may
// be mapped here or behind servers.
//
// Walk i is drawn as tree i of disjoint sampling is, one neighbour a step, with replacement: a step
// depends on (draw, step, edge type, the node's key, i) alone, so walks are the same for any cut,
// and two that meet go on apart.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/edge_finder.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/one_hop.h"
#include "sampler/walk_spec.h"

namespace vicinity {

// InvalidArgument: the spec does not fit the schema, the walks are more than kMaxWalkNodes long in
// all, or naming the first start out of range.
absl::Status CheckWalks(const Schema& schema, const Book& book, const WalkSpec& spec,
                        absl::Span<const int64_t> starts);

// Walks that have not gone anywhere.
Walks NoSteps(const WalkSpec& spec, absl::Span<const int64_t> starts, bool want_edge_ids);

// Threads:  one at a time.
// Lifetime: schema, book, source and finder must outlive it.
// Memory:   of a step some 50 bytes a walk; of node2vec's, up to 256 candidates for each of those
//           that have not found one among the first few.
class WalkSampler {
 public:
  // Neighbours from `source`, which draws by the same `draw`; `edges` for p or q other than 1.
  WalkSampler(const Schema& schema, const Book& book, const MinibatchDraw& draw,
              NeighborSource* source, EdgeFinder* edges);

  // A walk from each of `starts`, global ids, repeats allowed. Errors as CheckWalks; DataLoss: a
  // neighbour out of range; else what source and finder said.
  //
  // Cost: a hop of one neighbour a step. node2vec: a hop of some candidates, the more the less
  // likely one of them is accepted, and a look for pairs; those that accept none have another
  // round.
  absl::StatusOr<Walks> Walk(const WalkSpec& spec, absl::Span<const int64_t> starts,
                             bool want_edge_ids);

 private:
  // Those that have not ended, by rising number, and where they stand.
  struct Front {
    std::vector<uint32_t> walks;
    std::vector<int64_t> nodes;
  };
  // An edge for one of the walks.
  struct Taken {
    int64_t node = -1;  // -1: there is none
    int64_t edge_id = -1;
  };

  // Leaves out walks that end by chance before the step.
  void EndByChance(const WalkSpec& spec, int64_t step, Front* front) const;
  // Sets drawn_ to `amount` edges of each, or none. Rounds of one step draw apart.
  absl::Status Draw(const WalkSpec& spec, int64_t step, int64_t round, int64_t amount,
                    const Front& front);
  absl::Status TakeAny(const WalkSpec& spec, int64_t step, const Front& front,
                       std::vector<Taken>* taken);
  // Behind the first step, of walks that came from `previous` (by walk).
  absl::Status TakeByPrevious(const WalkSpec& spec, int64_t step, const Front& front,
                              absl::Span<const int64_t> previous, std::vector<Taken>* taken);
  // Of drawn_.
  absl::Status Accept(const WalkSpec& spec, int64_t step, int64_t round, const Front& front,
                      absl::Span<const int64_t> previous, std::vector<Taken>* taken,
                      std::vector<bool>* settled);

  const Schema& schema_;
  const Book& book_;
  const MinibatchDraw draw_;
  NeighborSource* const source_;
  EdgeFinder* const edges_;
  bool want_edge_ids_ = false;
  Neighbors drawn_;  // keeps its memory from step to step
};

}  // namespace vicinity
