#include "partition/cut/node_facts.h"

#include <memory>
#include <numeric>

#include "partition/dataset/base_views.h"
#include "partition/dataset/shard.h"

namespace vicinity {

std::vector<Split> ReadSplits(const Dataset& dataset, NodeTypeId type) {
  const NodeTypeSpec& spec = dataset.schema().node_types[type.value];
  std::vector<Split> splits;
  const int column = spec.split_column.empty() ? -1 : spec.FindColumn(spec.split_column);
  if (column < 0) return splits;
  splits.reserve(dataset.book().num_nodes(type));
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    const BaseNodes nodes(*shard, type);
    const BaseValues values = nodes.column(column);
    for (int64_t row = 0; row < nodes.num_nodes(); ++row) {
      splits.push_back(static_cast<Split>(*values.row(row)));
    }
  }
  return splits;
}

std::vector<int64_t> NodesInSplit(const Dataset& dataset, NodeTypeId type, Split split) {
  std::vector<int64_t> nodes;
  if (split == Split::kNone) {
    nodes.resize(dataset.book().num_nodes(type));
    std::iota(nodes.begin(), nodes.end(), 0);
    return nodes;
  }
  const std::vector<Split> splits = ReadSplits(dataset, type);
  for (size_t node = 0; node < splits.size(); ++node) {
    if (splits[node] == split) nodes.push_back(static_cast<int64_t>(node));
  }
  return nodes;
}

std::vector<int64_t> InDegrees(const Dataset& dataset, NodeTypeId type) {
  const Schema& schema = dataset.schema();
  std::vector<int64_t> degrees(dataset.book().num_nodes(type));
  for (int e = 0; e < static_cast<int>(schema.edge_types.size()); ++e) {
    if (schema.edge_types[e].target_type != type.value) continue;
    for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
      const BaseLists edges(*shard, EdgeTypeId{e});
      const int64_t first = dataset.book().First(type, shard->id()).value;
      const int64_t num_targets = BaseNodes(*shard, type).num_nodes();
      for (int64_t row = 0; row < num_targets; ++row) degrees[first + row] += edges.degree(row);
    }
  }
  return degrees;
}

int64_t NumNodes(const Dataset& dataset) {
  int64_t count = 0;
  for (int32_t t = 0; t < dataset.book().num_node_types(); ++t) {
    count += dataset.book().num_nodes(NodeTypeId{t});
  }
  return count;
}

int64_t NumEdges(const Dataset& dataset) {
  int64_t count = 0;
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    for (size_t e = 0; e < dataset.schema().edge_types.size(); ++e) {
      count += BaseLists(*shard, {static_cast<int32_t>(e)}).num_edges();
    }
  }
  return count;
}

}  // namespace vicinity
