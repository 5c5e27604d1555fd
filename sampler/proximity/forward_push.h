// Personalised PageRank of many seeds by forward push: sampler/proximity/ppr_spec.h says what it
// gives, and how exact that is.
//
// In rounds. In each, every node whose residual has reached eps x in-degree keeps alpha of it as
// score and pushes the rest on along its in-edges, to each its share. All such nodes of all seeds
// push at once, so a round asks every owner once for degrees and once for lists, of those nodes
// alone that no seed has met before; by weight once more, for each edge type that has weights.
//
// The same on any cut, to the last bit: each seed numbers the nodes that it meets in the order in
// which it meets them, nodes push in that order along lists whose order does not depend on the cut,
// and so do the additions to each sum.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/neighbor_source.h"
#include "sampler/one_hop.h"
#include "sampler/proximity/ppr_spec.h"

namespace vicinity {

// Whoever knows edges' weights.
class WeightSource {
 public:
  virtual ~WeightSource() = default;

  // Sets weights[i] to that of the i-th of all edges that `drawn`, with their positions, has of
  // `targets`: of the edge type's weight column, which it has.
  virtual absl::Status FindWeights(EdgeTypeId edge_type, absl::Span<const int64_t> targets,
                                   const Neighbors& drawn, std::vector<double>* weights) = 0;
};

// Threads:  one at a time.
// Lifetime: schema, book and sources must outlive it.
// Memory:   beside the answer that of a group of seeds that are pushed together:
//             nodes met   some 60 bytes each: of one seed at most 1 / (alpha x eps) nodes, of a
//                         group Limits::max_group_nodes, or those of its only seed
//             lists kept  8 bytes an edge, by weight 16: Limits::max_kept_edges, a node counting as
//             six, and
//                         those of one round, which are at most 1 / eps of each seed
class ForwardPush {
 public:
  // What bounds memory, and nothing else: scores do not depend on it.
  struct Limits {
    int64_t max_group_nodes = int64_t{1} << 23;  // that the seeds of a group may meet
    int64_t max_kept_edges = int64_t{1} << 24;   // of lists that are kept from round to round
  };

  // `weights` for PprSpec::weighted_by.
  ForwardPush(const Schema& schema, const Book& book, NeighborSource* source,
              WeightSource* weights);
  ForwardPush(const Schema& schema, const Book& book, NeighborSource* source, WeightSource* weights,
              const Limits& limits);

  // Scores for each of `seeds`, global ids of the type, repeats allowed. InvalidArgument: the spec
  // does not fit the schema, or naming the first seed out of range. DataLoss: a neighbour out of
  // range, a weight that is none. Else what the sources said.
  absl::StatusOr<PprScores> Rank(const PprSpec& spec, NodeTypeId seed_type,
                                 absl::Span<const int64_t> seeds);

 private:
  const Schema& schema_;
  const Book& book_;
  NeighborSource* const source_;
  WeightSource* const weights_;
  const Limits limits_;
};

}  // namespace vicinity
