#include "tests/testing/graphs/numbered_batches.h"

#include <random>
#include <string>

#include "partition/schema/schema.h"
#include "proto/common/ids.h"

namespace vicinity::testing {
namespace {

constexpr int32_t kNode = 0;
constexpr int32_t kLinks = 0;

}  // namespace

LiveBase BaseOf(const Dataset& dataset) {
  const Shard& shard = *dataset.shards()[0];
  return {dataset.schema(), dataset.book(), shard, dataset.fingerprint()};
}

proto::WriteBatch NumberedBatch(const LiveBase& base, uint64_t n) {
  std::mt19937_64 random(n);
  const auto num_nodes = static_cast<uint64_t>(base.NodesInFiles(kNode));
  const int64_t row_bytes = base.schema.node_types[kNode].columns[0].row_bytes();
  proto::WriteBatch batch;
  proto::NodeRows& rows = *batch.add_node_rows();
  for (int i = 0; i < 3; ++i) {
    rows.add_nodes(random() % num_nodes);
    std::string row(row_bytes, '\0');
    for (char& byte : row) byte = static_cast<char>(random());
    rows.mutable_values()->mutable_rows()->append(row);
  }
  proto::NewEdges& edges = *batch.add_new_edges();
  for (int i = 0; i < 2; ++i) {
    edges.add_sources(random() % num_nodes);
    edges.add_targets(random() % num_nodes);
  }
  for (const ColumnSpec& column : base.schema.edge_types[kLinks].columns) {
    edges.add_columns()->set_rows(std::string(2 * column.row_bytes(), '\0'));
  }
  return batch;
}

}  // namespace vicinity::testing
