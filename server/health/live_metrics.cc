#include "server/health/live_metrics.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "partition/overlay/change_cursors.h"
#include "partition/overlay/live_shard.h"
#include "proto/common/ids.h"
#include "proto/telemetry/metric.h"

namespace vicinity {

void AddLiveMetrics(const Dataset& dataset, const LiveDataset& live, MetricRegistry::Group* group) {
  for (const ShardId id : dataset.wanted()) {
    // Looked up each time: another one may take its place.
    const auto of_shard = [&live, id](double (*number)(const LiveShard&)) {
      return [&live, id, number] {
        const auto found = live.Find(id);
        return found.ok() ? number(**found) : 0.0;
      };
    };
    const MetricLabels labels = {{"shard", absl::StrCat(id.value)}};
    group->Add(
        {kShardVersionMetric, "Batches of changes that a shard has", MetricKind::kGauge}, labels,
        of_shard([](const LiveShard& shard) { return static_cast<double>(shard.version()); }));
    group->Add(
        {kChangesBytesMetric, "Memory for what has changed of a shard", MetricKind::kGauge}, labels,
        of_shard([](const LiveShard& shard) { return static_cast<double>(shard.memory_bytes()); }));
    group->Add(
        {kShardWriterMetric, "Whether the server takes changes of a shard", MetricKind::kGauge},
        labels, of_shard([](const LiveShard& shard) { return shard.refusal().ok() ? 1.0 : 0.0; }));
    group->Add({kWriterTermMetric, "The term of who writes a shard, as the server knows",
                MetricKind::kGauge},
               labels, of_shard([](const LiveShard& shard) {
                 return static_cast<double>(shard.writer().term);
               }));
    group->Add({kCursorBehindMetric,
                "Batches of changes that the cursor which is farthest behind has not acknowledged, "
                "of a shard that is written here",
                MetricKind::kGauge},
               labels, of_shard([](const LiveShard& shard) {
                 const uint64_t last = shard.version();
                 if (!shard.refusal().ok()) return 0.0;
                 return static_cast<double>(last - std::min(last, shard.cursors()->Oldest(last)));
               }));
  }
}

}  // namespace vicinity
