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
#include "sampler/walk_draws.h"
#include "sampler/walk_spec.h"

namespace vicinity {

// InvalidArgument: the spec does not fit the schema, the walks are more than kMaxWalkNodes long in
// all, or naming the first start out of range.
absl::Status CheckWalks(const Schema& schema, const Book& book, const WalkSpec& spec,
                        absl::Span<const int64_t> starts);

// Walks that have not gone anywhere.
Walks NoSteps(const WalkSpec& spec, absl::Span<const int64_t> starts, bool want_edge_ids);

// An edge that a walk takes.
struct Turn {
  int64_t node = -1;     // where it leads; -1: there is none
  int64_t edge_id = -1;  // if asked for
};

// Makes node2vec's steps by itself, if it can.
class TurnTaker {
 public:
  virtual ~TurnTaker() = default;

  // Of walks that stand at `nodes` and came from previous[walk]: sets each one's turn, to what
  // WalkSampler would have it without a TurnTaker. False: it cannot, and WalkSampler is to do so.
  virtual absl::StatusOr<bool> Take(const WalkSpec& spec, int64_t step,
                                    absl::Span<const uint32_t> walks,
                                    absl::Span<const int64_t> nodes,
                                    absl::Span<const int64_t> previous, bool want_edge_ids,
                                    std::vector<Turn>* turns) = 0;
};

// Threads:  one at a time.
// Lifetime: schema, book, source, finder and turns must outlive it.
// Memory:   of a step some 50 bytes a walk; of node2vec's, up to 256 candidates for each of those
//           that have not found one among the first few.
class WalkSampler {
 public:
  // Neighbours from `source`, which draws by the same `draw`; `edges` for p or q other than 1, and
  // who may know a shorter way there, or null.
  WalkSampler(const Schema& schema, const Book& book, const MinibatchDraw& draw,
              NeighborSource* source, EdgeFinder* edges, TurnTaker* turns = nullptr);

  // A walk from each of `starts`, global ids, repeats allowed. Errors as CheckWalks; DataLoss: a
  // neighbour out of range; else what source and finder said.
  //
  // Cost: a hop of one neighbour a step. node2vec: a hop of some candidates, the more the less
  // likely one of them is accepted, and a look for pairs; those that accept none have another
  // round. Where edges back are likelier than any others, first a look for those; walks that have
  // one, and those that have none, then go apart.
  absl::StatusOr<Walks> Walk(const WalkSpec& spec, absl::Span<const int64_t> starts,
                             bool want_edge_ids);

 private:
  // Those that have not ended, by rising number, and where they stand.
  struct Front {
    std::vector<uint32_t> walks;
    std::vector<int64_t> nodes;
  };
  // Leaves out walks that end by chance before the step.
  void EndByChance(const WalkSpec& spec, int64_t step, Front* front) const;
  // Sets drawn_ to `amount` edges of each, or none. Rounds of one step draw apart.
  absl::Status Draw(const WalkSpec& spec, int64_t step, int64_t round, int64_t amount,
                    const Front& front);
  absl::Status TakeAny(const WalkSpec& spec, int64_t step, const Front& front,
                       std::vector<Turn>* taken);
  // Behind the first step, of walks that came from `previous` (by walk).
  absl::Status TakeByPrevious(const WalkSpec& spec, int64_t step, const Front& front,
                              absl::Span<const int64_t> previous, std::vector<Turn>* taken);
  // Of some of those: sets taken[place[i]] of each of them.
  absl::Status TakeInRounds(const WalkSpec& spec, int64_t step, const TurnBias& bias, Front left,
                            std::vector<uint32_t> place, absl::Span<const int64_t> previous,
                            std::vector<Turn>* taken);
  // Of drawn_.
  absl::Status Accept(const WalkSpec& spec, int64_t step, int64_t round, const TurnBias& bias,
                      const Front& front, absl::Span<const int64_t> previous,
                      std::vector<Turn>* taken, std::vector<bool>* settled);

  const Schema& schema_;
  const Book& book_;
  const MinibatchDraw draw_;
  NeighborSource* const source_;
  EdgeFinder* const edges_;
  TurnTaker* const turns_;
  bool want_edge_ids_ = false;
  Neighbors drawn_;  // keeps its memory from step to step
};

}  // namespace vicinity
