#include "client/planning/sampled_trace.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "client/loading/seed_schedule.h"
#include "client/planning/batch_nodes.h"
#include "client/planning/distinct_nodes.h"
#include "client/planning/seed_batches.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/sampled_graph.h"

namespace vicinity {
namespace {

std::vector<int64_t> RemoteNodes(const TrainerView& view, const std::vector<SampledNodes>& nodes) {
  std::vector<int64_t> remote, scratch;
  for (size_t t = 0; t < nodes.size(); ++t) {
    const int64_t first = view.first({static_cast<int32_t>(t)});
    for (const int64_t id : DistinctNodes(nodes[t], &scratch)) {
      if (view.is_remote(first + id)) remote.push_back(first + id);
    }
  }
  return remote;
}

}  // namespace

absl::StatusOr<AccessTrace> SampleTrace(const TrainerView& view, const TraceOptions& options,
                                        Progress* progress) {
  const Dataset& dataset = view.dataset();
  const std::vector<int64_t>& seeds = view.seeds().nodes;
  ScheduleOptions schedule_options;
  schedule_options.batch_size = view.options().batch_size;
  schedule_options.run_seed = options.run_seed;
  const SeedSchedule schedule =
      SeedSchedule::Global(schedule_options, static_cast<int64_t>(seeds.size()));
  const std::unique_ptr<BatchNodes> nodes =
      NewBatchNodes(dataset, view.options().sampling, options.query);
  AccessTrace trace(view.num_nodes());
  progress->Begin("sampling epochs", options.num_epochs * schedule.steps(), "batches");
  for (int64_t epoch = 0; epoch < options.num_epochs; ++epoch) {
    const EpochOrder order = schedule.Epoch(options.first_epoch + epoch);
    for (int64_t step = 0; step < schedule.steps(); ++step) {
      SeedBatch batch;
      TypedSeeds& list = batch.seeds.emplace_back(TypedSeeds{view.seeds().type, {}});
      for (const int64_t i : order.Batch(step)) list.ids.push_back(seeds[i]);
      if (!options.node_times.empty()) {
        for (const int64_t node : list.ids) list.times.push_back(options.node_times[node]);
      }
      batch.draw.run_seed = options.run_seed;
      batch.draw.epoch = static_cast<uint64_t>(options.first_epoch + epoch);
      batch.draw.batch = schedule.DrawBatch(step);
      VICINITY_ASSIGN_OR_RETURN(const std::vector<SampledNodes> needed, nodes->Of(batch));
      trace.AddBatch(RemoteNodes(view, needed));
      progress->Update(epoch * schedule.steps() + step + 1);
    }
    trace.EndEpoch();
  }
  progress->End();
  return trace;
}

}  // namespace vicinity
