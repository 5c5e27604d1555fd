#include "client/planning/batch_nodes.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "client/planning/distinct_nodes.h"
#include "proto/common/status.h"
#include "sampler/local_sampler.h"
#include "sampler/minibatch_sampler.h"

namespace vicinity {
namespace {

class MinibatchNodes final : public BatchNodes {
 public:
  MinibatchNodes(const Dataset& dataset, const SamplingSpec& spec)
      : dataset_(dataset), spec_(NodesOf(spec)), sampler_(dataset.schema(), dataset.book()) {}

  absl::StatusOr<std::vector<SampledNodes>> Of(const SeedBatch& batch) override {
    LocalNeighborSource source(dataset_, batch.draw);
    VICINITY_ASSIGN_OR_RETURN(
        SampledGraph graph, sampler_.Sample(spec_, batch.seeds, /*want_edge_ids=*/false, &source));
    return std::move(graph.nodes);
  }

 private:
  const Dataset& dataset_;
  const SamplingSpec spec_;
  MinibatchSampler sampler_;
};

class AnswerNodes final : public BatchNodes {
 public:
  explicit AnswerNodes(const QueryBatches& query) : query_(query) {}

  absl::StatusOr<std::vector<SampledNodes>> Of(const SeedBatch& batch) override {
    VICINITY_ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> ids,
                              query_.NodesOf(batch.seeds.front().ids, batch.draw));
    std::vector<SampledNodes> nodes(ids.size());
    for (size_t type = 0; type < ids.size(); ++type) nodes[type].ids = std::move(ids[type]);
    return nodes;
  }

 private:
  const QueryBatches& query_;
};

}  // namespace

std::unique_ptr<BatchNodes> NewBatchNodes(const Dataset& dataset, const SamplingSpec& spec,
                                          const QueryBatches* query) {
  if (query != nullptr) return std::make_unique<AnswerNodes>(*query);
  return std::make_unique<MinibatchNodes>(dataset, spec);
}

}  // namespace vicinity
