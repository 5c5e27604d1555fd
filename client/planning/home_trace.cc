#include "client/planning/home_trace.h"

#include <algorithm>
#include <utility>

#include "client/loading/ahead_limits.h"
#include "proto/common/parallel.h"
#include "proto/common/progress.h"
#include "proto/common/status.h"
#include "sampler/local_sampler.h"
#include "sampler/minibatch_sampler.h"

namespace vicinity {
namespace {

constexpr int64_t kPieceBatches = 8;  // sampled one behind the other

}  // namespace

HomeTrace::HomeTrace(const Dataset& dataset, const HomePlan& plan, const Assignment& assignment,
                     const std::vector<WantedRows>& wanted, int32_t home,
                     std::unique_ptr<SeedBatches> seeds)
    : dataset_(dataset),
      plan_(plan),
      assignment_(assignment),
      wanted_(wanted),
      home_(home),
      seeds_(std::move(seeds)) {}

absl::Status HomeTrace::Extend(int64_t num_batches) {
  const auto first = static_cast<int64_t>(batches_.size());
  std::vector<SeedBatch> seeds;
  for (int64_t i = 0; i < num_batches; ++i) seeds.push_back(seeds_->Next());
  batches_.resize(first + num_batches);
  const int64_t num_pieces = (num_batches + kPieceBatches - 1) / kPieceBatches;
  return ForEachInParallel(num_pieces, NoProgress(), [&](int64_t piece) -> absl::StatusOr<int64_t> {
    const int64_t begin = piece * kPieceBatches;
    const int64_t end = std::min(num_batches, begin + kPieceBatches);
    VICINITY_RETURN_IF_ERROR(SamplePiece(begin, end, seeds, first));
    return end - begin;
  });
}

absl::Status HomeTrace::SamplePiece(int64_t begin, int64_t end, const std::vector<SeedBatch>& seeds,
                                    int64_t first) {
  MinibatchSampler sampler(dataset_.schema(), dataset_.book());
  for (int64_t i = begin; i < end; ++i) {
    LocalNeighborSource source(dataset_, seeds[i].draw);
    VICINITY_ASSIGN_OR_RETURN(const SampledGraph graph,
                              sampler.Sample(plan_.options.sampling, seeds[i].seeds,
                                             /*want_edge_ids=*/false, &source));
    batches_[first + i] = TraceOf(graph);
  }
  return absl::OkStatus();
}

TracedBatch HomeTrace::TraceOf(const SampledGraph& graph) const {
  TracedBatch batch;
  batch.remote.resize(graph.nodes.size());
  batch.window_bytes = batch.announced_bytes = graph.num_bytes();
  for (size_t type = 0; type < graph.nodes.size(); ++type) {
    if (wanted_[type].bytes == 0) continue;
    std::vector<int64_t>& remote = batch.remote[type];
    for (const int64_t id : graph.nodes[type].ids) {
      if (plan_.home_of[assignment_.shard_of[type][id]] != home_) remote.push_back(id);
    }
    const auto num_remote = static_cast<int64_t>(remote.size());
    const auto num_rows = static_cast<int64_t>(graph.nodes[type].ids.size());
    batch.num_remote += num_remote;
    batch.window_bytes += (num_rows + num_remote) * wanted_[type].bytes;
    batch.announced_bytes += num_remote * wanted_[type].columns * kAnnouncedIdBytes;
  }
  return batch;
}

double HomeTrace::mean_remote() const {
  int64_t sum = 0;
  for (const TracedBatch& batch : batches_) sum += batch.num_remote;
  return std::max(1.0, static_cast<double>(sum) / static_cast<double>(batches_.size()));
}

double HomeTrace::mean_announced_bytes() const {
  int64_t sum = 0;
  for (const TracedBatch& batch : batches_) sum += batch.announced_bytes;
  return std::max(1.0, static_cast<double>(sum) / static_cast<double>(batches_.size()));
}

}  // namespace vicinity
