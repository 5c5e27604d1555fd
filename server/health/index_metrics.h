// Which stored indexes a server has: gauges, by which tools tell whether it was started again since
// `vicinity index`.
#pragma once

#include "partition/dataset/dataset.h"
#include "proto/telemetry/registry.h"

namespace vicinity {

inline constexpr char kIndexBytesMetric[] = "vicinity_server_index_bytes";
inline constexpr char kIndexRowsMetric[] = "vicinity_server_index_rows";

// Of every index of every shard that is served here, by the labels shard, type (of nodes or edges)
// and column: the bytes of its file, and its rows. Both are 0 while the shard is left out.
// Lifetime: the dataset must outlive the group.
void AddIndexMetrics(const Dataset& dataset, MetricRegistry::Group* group);

}  // namespace vicinity
