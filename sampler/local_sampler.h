// Samples from the mapped shards of this process: a whole minibatch without any client, and the
// hops that a client with local shards need not ask for.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/one_hop.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// Appends the neighbours of local rows of one shard to `out`: changed lists as the reader's overlay
// has them, the others as the files do, all without the edges that the options exclude, that are
// outside their target's bounds of time, or that do not meet the condition. Errors as
// SampleOneHop's and ShardReader's. A list of which edges are excluded is read whole; so is every
// list in draws by time, but where it is in time order, and with a condition, but where it is known
// which edges meet it (OneHopOptions::matching_cache).
absl::Status SampleLists(const ShardReader& reader, EdgeTypeId edge_type, NodeTypeId target_type,
                         absl::Span<const uint64_t> rows, const OneHopOptions& options,
                         Neighbors* out);

// The same; errors name shard and edge type.
absl::Status SampleShard(const Schema& schema, const ShardReader& reader, EdgeTypeId edge_type,
                         absl::Span<const uint64_t> rows, const OneHopOptions& options,
                         Neighbors* out);

// Neighbours from a dataset whose shards are all mapped here; FailedPrecondition, naming the shard,
// if one is not.
//
// Lifetime: the dataset must outlive it. Threads: one at a time.
class LocalNeighborSource : public NeighborSource {
 public:
  LocalNeighborSource(const Dataset& dataset, const MinibatchDraw& draw);
  absl::Status Sample(int hop, absl::Span<const RelationRequest> relations,
                      absl::Span<Neighbors> neighbors) override;
  absl::Status CountEdges(absl::Span<const RelationRequest> relations,
                          absl::Span<std::vector<int64_t>> degrees) override;

 private:
  absl::StatusOr<const Shard*> Find(ShardId id) const;
  absl::Status SampleRelation(int hop, const RelationRequest& relation, Neighbors* out) const;

  const Dataset& dataset_;
  const MinibatchDraw draw_;
};

// One minibatch. Errors as MinibatchSampler's and the source's.
absl::StatusOr<SampledGraph> SampleLocal(const Dataset& dataset, NodeTypeId seed_type,
                                         absl::Span<const int64_t> seeds, const SamplingSpec& spec,
                                         const MinibatchDraw& draw, EdgeDetail detail = {});

}  // namespace vicinity
