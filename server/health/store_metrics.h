// What RocksDB tells of the shards that are written: by shard.
#pragma once

#include "partition/dataset/dataset.h"
#include "partition/overlay/live_dataset.h"
#include "proto/telemetry/registry.h"

namespace vicinity {

// Of every shard that is served here: memory, files, what is to be merged, work under way, whether
// writes wait for it, and faults. All are 0 while it is left out. Lifetime: dataset and changes
// must outlive the group.
void AddStoreMetrics(const Dataset& dataset, const LiveDataset& live, MetricRegistry::Group* group);

}  // namespace vicinity
