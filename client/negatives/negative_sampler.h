// Draws negatives: pairs of nodes that no edge joins.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/negatives/candidate_nodes.h"
#include "client/negatives/value_pools.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "client/types/negative_values.h"
#include "proto/common/ids.h"
#include "sampler/minibatch_sampler.h"

namespace vicinity {

// Empty if the options make sense, else what is wrong, with the value.
std::string NegativesProblem(const NegativeOptions& options, const NegativeWeights& weights = {});

// Conditional negatives, as Graph-Learn has them: of each link's negatives this share, rounded
// down, has the value that the link's own target has in a column with one value of up to 8 bytes a
// row.
struct SameValue {
  std::string column;
  double share = 0;  // above 0; of all columns together at most 1
};

// As NegativeOptions::same has them: "topic=0.5, language=0.25". InvalidArgument for what is not
// written so.
absl::StatusOr<std::vector<SameValue>> ParseSame(const std::string& text);

// Draws are tried again where an edge joins the pair, each time with other words of the pair's own
// stream; so a pair does not depend on the others of its batch. With NegativeOptions::shared the
// stream is that of the pair's place among its link's, one for all links. Where few pairs are left
// several of their tries are looked at together, and the first that is good counts. After 32 tries
// (a node that has nearly all others for its neighbours) all pairs there are are gone through, and
// one of those without an edge is taken by its chance, so that the distribution is exact there,
// too.
//
// Threads:  any number may draw.
// Lifetime: the router must outlive it.
// Memory:   as CandidateNodes.
class NegativeSampler {
 public:
  // For links of an edge type. Errors as NegativesProblem, CandidateNodes and ValuePools;
  // InvalidArgument for shares that are none. The mode is another than kNone; with `same` it is
  // kTriplet.
  static absl::StatusOr<std::unique_ptr<NegativeSampler>> Make(
      const ShardRouter& router, EdgeTypeId edge_type, const NegativeOptions& options,
      const NegativeWeights& weights = {}, const std::vector<SameValue>& same = {});

  // Whether each belongs to one link, those of the first coming first.
  bool of_each_link() const { return !draws_sources(); }

  // Those of a batch whose links have these sources (global ids), as the lists of seeds that
  // NegativeMode says. `targets`: of each link its own, for those of the batch and for conditional
  // negatives, which come first among a link's, in the order of the columns. FailedPrecondition
  // naming a node that edges join to all there are, or to all of the same value; ResourceExhausted
  // if one in a graph too large to go through has met nothing but edges; else as EdgeIdsOf.
  //
  // Cost: one call a shard to look for edges, another for the pairs that are drawn again, seldom a
  // third; before each one to find the nodes if they are not listed.
  absl::StatusOr<std::vector<TypedSeeds>> Draw(absl::Span<const int64_t> sources,
                                               const MinibatchDraw& draw,
                                               const CallContext& context,
                                               absl::Span<const int64_t> targets = {}) const;

 private:
  struct Pairs {
    std::vector<int64_t> sources;  // global ids
    std::vector<int64_t> targets;
    std::vector<const CandidateNodes*> pools;  // what each target is drawn from
  };
  // What one call of Draw has for all of its pairs.
  struct Batch {
    uint64_t stream;
    const CallContext& context;
    // With in_batch, sources and targets.
    absl::flat_hash_set<std::pair<int64_t, int64_t>> links;
  };
  // Some of a link's negatives, up to the one with this number.
  struct Share {
    ValuePools pools;
    int64_t end;
  };

  NegativeSampler(const ShardRouter& router, EdgeTypeId edge_type, const NegativeOptions& options,
                  std::optional<CandidateNodes> sources, CandidateNodes targets);
  absl::Status AddShares(const std::vector<SameValue>& same);
  // Sets pairs->pools.
  absl::Status FindPools(absl::Span<const int64_t> targets, const CallContext& context,
                         Pairs* pairs) const;

  bool draws_sources() const { return options_.mode == NegativeMode::kBinary; }
  absl::StatusOr<Pairs> StartPairs(absl::Span<const int64_t> sources) const;
  // What tells a pair's draws from those of others.
  uint32_t RowOf(uint32_t pair) const;
  // Sets each of `left`, from its pool, and `left` to those for which it has none.
  absl::Status Settle(const Batch& batch, std::vector<uint32_t>* left, Pairs* pairs) const;
  // So many tries, from the one with this number on, of each of the pairs `which`: one pair's after
  // the other's.
  absl::StatusOr<Pairs> DrawTries(absl::Span<const uint32_t> which, const Batch& batch,
                                  uint32_t number, uint32_t num_tries, const Pairs& pairs) const;
  // Which pairs are no negatives.
  absl::StatusOr<std::vector<bool>> AreJoined(absl::Span<const int64_t> sources,
                                              absl::Span<const int64_t> targets,
                                              const Batch& batch) const;
  // Sets each of `left` to the first of its tries that no edge joins, and `left` to those that have
  // none.
  absl::Status TakeFirst(const Pairs& tries, uint32_t num_tries, const Batch& batch,
                         std::vector<uint32_t>* left, Pairs* pairs) const;
  // For pairs that no try has found: as Settle.
  absl::Status GoThroughAll(const Batch& batch, std::vector<uint32_t>* left, Pairs* pairs) const;
  // ... which may have these sources, and targets of this pool. False if there is none.
  absl::StatusOr<bool> PickFrom(absl::Span<const int64_t> sources, const CandidateNodes& pool,
                                absl::Span<const uint32_t> which, const Batch& batch,
                                Pairs* pairs) const;
  absl::Status TooMany(absl::Span<const int64_t> sources, const CandidateNodes& pool) const;
  // Whose negatives, for errors.
  std::string Describe(absl::Span<const int64_t> sources, const CandidateNodes& pool) const;

  const ShardRouter& router_;
  const EdgeTypeId edge_type_;
  const NegativeOptions options_;
  const CandidateNodes targets_;
  const std::optional<CandidateNodes> own_sources_;  // of pairs; none: those of targets_
  const CandidateNodes& sources_;
  std::vector<Share> shares_;  // by rising ends
};

}  // namespace vicinity
