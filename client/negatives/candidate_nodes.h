// The nodes of a type that negatives are drawn from, each with its chance.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "proto/common/ids.h"
#include "proto/common/random.h"

namespace vicinity {

// Nodes are told by their place in the order of their keys, which is the same on any cut of the
// graph. Where chances differ, each is a whole number of units (client/types/negative_values.h says
// how fine they are), so that drawing is exact: one unit of all, uniformly, and the node that has
// it.
//
// Threads:  immutable; any number may read.
// Lifetime: the router must outlive it.
// Memory:   8 bytes a node, but none of a type with dense ids that is too large to be listed; 8
//           more where chances differ.
class CandidateNodes {
 public:
  // Of dense ids so many are listed at most; of more, each node is asked for when it is drawn.
  static constexpr int64_t kMostListed = int64_t{1} << 23;

  // All alike. InvalidArgument if the type has no nodes. Cost: the keys of all nodes are read, if
  // they are listed.
  static absl::StatusOr<CandidateNodes> Uniform(const ShardRouter& router, NodeTypeId type,
                                                int64_t most_listed = kMostListed);
  // The targets of an edge type by their in-degree to the power > 0. InvalidArgument if no node has
  // an in-edge. Cost: the keys and degrees of all nodes are read.
  static absl::StatusOr<CandidateNodes> ByDegree(const ShardRouter& router, EdgeTypeId edge_type,
                                                 double power);
  // By a column of theirs, or by weights by place. NotFound naming the columns there are;
  // InvalidArgument if the column does not hold one number a row, weights are not as many as nodes,
  // one is negative or no number, or all are 0. Cost: the keys of all nodes are read, and the
  // column.
  static absl::StatusOr<CandidateNodes> ByColumn(const ShardRouter& router, NodeTypeId type,
                                                 const std::string& column);
  static absl::StatusOr<CandidateNodes> ByWeights(const ShardRouter& router, NodeTypeId type,
                                                  absl::Span<const double> weights);

  // These nodes of the type, global ids, all alike; one that comes several times is as often as
  // likely.
  static CandidateNodes Given(const ShardRouter& router, NodeTypeId type,
                              absl::Span<const int64_t> nodes);

  // Those at some places, in their order, with the chances that they have among all. Of listed
  // ones.
  CandidateNodes Some(absl::Span<const int64_t> places) const;

  NodeTypeId type() const { return type_; }
  int64_t size() const { return size_; }
  // Global ids by place; empty: not listed, a place is a key.
  absl::Span<const int64_t> listed() const { return nodes_; }

  bool are_alike() const { return sums_.empty(); }
  // Whether one of them has a chance, as those that are made by anything but Some have.
  bool can_draw() const { return sums_.empty() ? size_ > 0 : sums_.back() > 0; }
  // A place, by chance.
  int64_t Draw(NodeDraws* draws) const;
  // Of a place, up to a common factor; may be 0.
  double chance(int64_t place) const;
  // Global ids of places.
  absl::StatusOr<std::vector<int64_t>> NodesAt(absl::Span<const int64_t> places,
                                               const CallContext& context) const;

 private:
  CandidateNodes(const ShardRouter& router, NodeTypeId type);

  // With the nodes of all places, and chances yet to set.
  static absl::StatusOr<CandidateNodes> Listed(const ShardRouter& router, NodeTypeId type);
  // By weights that are 0 or more and finite; false if all are 0.
  bool SetChances(absl::Span<const double> weights);
  // `of`: what the weights are, for errors.
  absl::Status CheckAndSetChances(absl::Span<const double> weights, const std::string& of);

  const ShardRouter* router_;
  NodeTypeId type_;
  int64_t size_ = 0;
  std::vector<int64_t> nodes_;  // by place; empty: not listed, a place is a key
  std::vector<uint64_t> sums_;  // of units up to and with each place; empty: all alike
};

}  // namespace vicinity
