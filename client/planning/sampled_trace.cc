#include "client/planning/sampled_trace.h"

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "client/loading/seed_schedule.h"
#include "client/planning/distinct_nodes.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/local_sampler.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/sampled_graph.h"

namespace vicinity {
namespace {

std::vector<int64_t> RemoteNodes(const TrainerView& view, const SampledGraph& graph) {
  std::vector<int64_t> remote, scratch;
  for (size_t t = 0; t < graph.nodes.size(); ++t) {
    const int64_t first = view.first({static_cast<int32_t>(t)});
    for (const int64_t id : DistinctNodes(graph.nodes[t], &scratch)) {
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
  const SamplingSpec spec = NodesOf(view.options().sampling);
  MinibatchSampler sampler(dataset.schema(), dataset.book());
  AccessTrace trace(view.num_nodes());
  progress->Begin("sampling epochs", options.num_epochs * schedule.steps(), "batches");
  for (int64_t epoch = 0; epoch < options.num_epochs; ++epoch) {
    const EpochOrder order = schedule.Epoch(options.first_epoch + epoch);
    for (int64_t step = 0; step < schedule.steps(); ++step) {
      TypedSeeds batch{view.seeds().type, {}};
      for (const int64_t i : order.Batch(step)) batch.ids.push_back(seeds[i]);
      if (!options.node_times.empty()) {
        for (const int64_t node : batch.ids) batch.times.push_back(options.node_times[node]);
      }
      MinibatchDraw draw;
      draw.run_seed = options.run_seed;
      draw.epoch = static_cast<uint64_t>(options.first_epoch + epoch);
      draw.batch = schedule.DrawBatch(step);
      LocalNeighborSource source(dataset, draw);
      VICINITY_ASSIGN_OR_RETURN(const SampledGraph graph,
                                sampler.Sample(spec, {batch}, /*want_edge_ids=*/false, &source));
      trace.AddBatch(RemoteNodes(view, graph));
      progress->Update(epoch * schedule.steps() + step + 1);
    }
    trace.EndEpoch();
  }
  progress->End();
  return trace;
}

}  // namespace vicinity
