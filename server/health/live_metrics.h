// How far the shards that are written have come: gauges, by shard.
#pragma once

#include "partition/dataset/dataset.h"
#include "partition/overlay/live_dataset.h"
#include "proto/telemetry/registry.h"

namespace vicinity {

inline constexpr char kShardVersionMetric[] = "vicinity_server_shard_version";
inline constexpr char kChangesBytesMetric[] = "vicinity_server_changes_memory_bytes";

inline constexpr char kShardWriterMetric[] = "vicinity_server_shard_writes";
inline constexpr char kWriterTermMetric[] = "vicinity_server_shard_writer_term";
inline constexpr char kCursorBehindMetric[] = "vicinity_server_changes_cursor_behind_versions";

// Of every shard that is served here: its version, the memory for what has changed of it, whether
// changes of it are taken here, its writer's term, and, where changes are taken, how far the
// cursor that is farthest behind is behind. All are 0 while it is left out. Lifetime:
// dataset and changes must outlive the group.
void AddLiveMetrics(const Dataset& dataset, const LiveDataset& live, MetricRegistry::Group* group);

}  // namespace vicinity
