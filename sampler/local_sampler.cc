#include "sampler/local_sampler.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/sampling_spec.h"
#include "partition/dataset/schema.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/one_hop.h"
#include "sampler/owner_groups.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

namespace {

// What was in `neighbors` before something was appended.
class SizesOf {
 public:
  explicit SizesOf(const Neighbors& neighbors)
      : counts_(neighbors.counts.size()),
        sources_(neighbors.sources.size()),
        edge_ids_(neighbors.edge_ids.size()),
        edge_positions_(neighbors.edge_positions.size()) {}
  void Restore(Neighbors* neighbors) const {
    neighbors->counts.resize(counts_);
    neighbors->sources.resize(sources_);
    neighbors->edge_ids.resize(edge_ids_);
    neighbors->edge_positions.resize(edge_positions_);
  }

 private:
  const size_t counts_;
  const size_t sources_;
  const size_t edge_ids_;
  const size_t edge_positions_;
};

}  // namespace

absl::Status SampleShard(const Schema& schema, const Shard& shard, EdgeTypeId edge_type,
                         absl::Span<const uint64_t> rows, const OneHopOptions& options,
                         Neighbors* out) {
  const NodeTypeId target{schema.edge_types[edge_type.value].target_type};
  const ShardReader reader(shard);
  const SizesOf before(*out);
  const absl::Status status = reader.ReadLists(edge_type, target, rows, [&] {
    before.Restore(out);
    return SampleOneHop(shard.edges(edge_type), shard.nodes(target).keys, rows, options, out);
  });
  if (status.ok()) return status;
  return At(absl::StrCat("shard ", shard.id().value, ", ", schema.EdgeTypeName(edge_type.value)),
            status);
}

LocalNeighborSource::LocalNeighborSource(const Dataset& dataset, const MinibatchDraw& draw)
    : dataset_(dataset), draw_(draw) {}

absl::Status LocalNeighborSource::Sample(int hop, absl::Span<const RelationRequest> relations,
                                         absl::Span<Neighbors> neighbors) {
  for (size_t i = 0; i < relations.size(); ++i) {
    VICINITY_RETURN_IF_ERROR(SampleRelation(hop, relations[i], &neighbors[i]));
  }
  return absl::OkStatus();
}

absl::Status LocalNeighborSource::SampleRelation(int hop, const RelationRequest& relation,
                                                 Neighbors* out) const {
  const Schema& schema = dataset_.schema();
  const NodeTypeId target{schema.edge_types[relation.edge_type.value].target_type};
  OneHopOptions options = OptionsOf(draw_, hop, relation.edge_type, relation.spec, relation.detail);
  if (dataset_.book().num_shards() == 1 && dataset_.shard({0}) != nullptr) {
    // Global ids are local rows: they need not be taken apart, nor even copied.
    options.trees = relation.trees;
    const absl::Span<const uint64_t> rows(
        reinterpret_cast<const uint64_t*>(relation.targets.data()), relation.targets.size());
    return SampleShard(schema, *dataset_.shard({0}), relation.edge_type, rows, options, out);
  }
  const std::vector<OwnerGroup> groups =
      GroupByOwner(dataset_.book(), target, relation.targets, relation.trees);
  std::vector<Neighbors> answers(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    const Shard* shard = dataset_.shard(groups[g].shard);
    if (shard == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat("shard ", groups[g].shard.value, " is not mapped here"));
    }
    options.trees = groups[g].trees;
    VICINITY_RETURN_IF_ERROR(
        SampleShard(schema, *shard, relation.edge_type, groups[g].rows, options, &answers[g]));
  }
  return MergeByOwner(groups, answers, relation.targets.size(), out);
}

absl::StatusOr<SampledGraph> SampleLocal(const Dataset& dataset, NodeTypeId seed_type,
                                         absl::Span<const int64_t> seeds, const SamplingSpec& spec,
                                         const MinibatchDraw& draw, EdgeDetail detail) {
  LocalNeighborSource source(dataset, draw);
  MinibatchSampler sampler(dataset.schema(), dataset.book());
  return sampler.Sample(spec, seed_type, seeds, detail, &source);
}

}  // namespace vicinity
