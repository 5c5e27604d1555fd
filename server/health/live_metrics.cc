#include "server/health/live_metrics.h"

#include "absl/strings/str_cat.h"
#include "partition/overlay/live_shard.h"
#include "proto/common/ids.h"
#include "proto/telemetry/metric.h"

namespace vicinity {

void AddLiveMetrics(const Dataset& dataset, const LiveDataset& live, MetricRegistry::Group* group) {
  for (const ShardId id : dataset.wanted()) {
    const absl::StatusOr<LiveShard*> found = live.Find(id);
    const LiveShard* const shard = found.ok() ? *found : nullptr;
    const MetricLabels labels = {{"shard", absl::StrCat(id.value)}};
    group->Add({kShardVersionMetric, "Batches of changes that a shard has", MetricKind::kGauge},
               labels,
               [shard] { return shard == nullptr ? 0.0 : static_cast<double>(shard->version()); });
    group->Add(
        {kChangesBytesMetric, "Memory for what has changed of a shard", MetricKind::kGauge}, labels,
        [shard] { return shard == nullptr ? 0.0 : static_cast<double>(shard->memory_bytes()); });
  }
}

}  // namespace vicinity
