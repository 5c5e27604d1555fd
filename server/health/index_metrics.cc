#include "server/health/index_metrics.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/manifest.pb.h"
#include "proto/telemetry/metric.h"

namespace vicinity {
namespace {

int64_t RowsOf(const Shard& shard, const proto::Index& index) {
  return index.of_edges() ? shard.edges(EdgeTypeId{index.type()}).num_edges()
                          : shard.nodes(NodeTypeId{index.type()}).num_nodes();
}

MetricLabels LabelsOf(const Schema& schema, ShardId shard, const proto::Index& index) {
  MetricLabels labels = {{"shard", absl::StrCat(shard.value)}};
  if (index.of_edges()) {
    labels.emplace_back("type", schema.EdgeTypeName(index.type()));
    labels.emplace_back("column", schema.edge_types[index.type()].columns[index.column()].name);
  } else {
    labels.emplace_back("type", schema.node_types[index.type()].name);
    labels.emplace_back("column", schema.node_types[index.type()].columns[index.column()].name);
  }
  return labels;
}

}  // namespace

void AddIndexMetrics(const Dataset& dataset, MetricRegistry::Group* group) {
  for (const ShardId shard : dataset.wanted()) {
    for (const proto::Index& index : dataset.manifest().indexes()) {
      const MetricLabels labels = LabelsOf(dataset.schema(), shard, index);
      const auto bytes = static_cast<int64_t>(index.files(shard.value).size());
      group->Add({kIndexBytesMetric, "Bytes of a stored index of a column", MetricKind::kGauge},
                 labels, [&dataset, shard, bytes] {
                   return static_cast<double>(dataset.shard(shard) == nullptr ? 0 : bytes);
                 });
      group->Add({kIndexRowsMetric, "Rows that a stored index finds", MetricKind::kGauge}, labels,
                 [&dataset, &index, shard] {
                   const Shard* const open = dataset.shard(shard);
                   return static_cast<double>(open == nullptr ? 0 : RowsOf(*open, index));
                 });
    }
  }
}

}  // namespace vicinity
