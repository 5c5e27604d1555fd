#include "tests/testing/graphs/random_batches.h"

#include "absl/strings/str_cat.h"
#include "proto/common/checksum.h"

namespace vicinity::testing {

std::string RandomBatches::Bytes(size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(Below(256)));
  return bytes;
}

void RandomBatches::Values(const EdgeTypeSpec& type, int column, int count,
                           proto::ColumnValues* values) {
  const ColumnSpec& spec = type.columns[column];
  if (spec.name != type.weight_column) {
    values->set_rows(Bytes(spec.row_bytes() * count));
    return;
  }
  for (int i = 0; i < count; ++i) {
    const auto weight = static_cast<float>(Below(5));
    values->mutable_rows()->append(reinterpret_cast<const char*>(&weight), sizeof(weight));
  }
}

std::string RandomBatches::Ragged(const RaggedSpec& spec) {
  std::string row;
  const auto count = static_cast<int32_t>(Below(4));
  for (int32_t i = 0; spec.is_sparse() && i < count; ++i) {
    row.append(reinterpret_cast<const char*>(&i), sizeof(i));
  }
  return row + Bytes(DTypeBytes(spec.dtype) * count);
}

void RandomBatches::AddNewNodes(int32_t type, int count, proto::NewNodes* nodes) {
  const NodeTypeSpec& spec = base_.schema.node_types[type];
  nodes->set_node_type(type);
  while (nodes->keys_size() < count) {
    const std::string name = absl::StrCat("node ", random_());
    const uint64_t key =
        spec.id_kind == IdKind::kString ? Checksum(name, spec.key_salt) : random_();
    if (!(base_.book.DirectoryShard(key) == base_.shard.id())) continue;
    nodes->add_keys(key);
    if (spec.id_kind != IdKind::kString) continue;
    nodes->mutable_names()->add_sizes(static_cast<uint32_t>(name.size()));
    nodes->mutable_names()->mutable_rows()->append(name);
  }
  for (const ColumnSpec& column : spec.columns) {
    nodes->add_columns()->set_rows(Bytes(column.row_bytes() * count));
  }
  for (const RaggedSpec& column : spec.ragged) {
    proto::RaggedValues& values = *nodes->add_ragged();
    for (int i = 0; i < count; ++i) {
      const std::string row = Ragged(column);
      values.add_sizes(static_cast<uint32_t>(row.size()));
      values.mutable_rows()->append(row);
    }
  }
}

void RandomBatches::AddNewEdges(int32_t type, int count, proto::NewEdges* edges) {
  const EdgeTypeSpec& spec = base_.schema.edge_types[type];
  edges->set_edge_type(type);
  for (int i = 0; i < count; ++i) {
    const int64_t in_files = base_.NodesInFiles(spec.source_type);
    const auto num_new =
        static_cast<int64_t>(model_.nodes(spec.source_type).keys.size()) - in_files;
    edges->add_sources(
        num_new > 0 && Below(3) == 0
            ? NodeOf(spec.source_type, in_files + static_cast<int64_t>(Below(num_new)))
            : Below(base_.book.num_nodes({spec.source_type})));
    edges->add_targets(Node(spec.target_type));
  }
  for (size_t c = 0; c < spec.columns.size(); ++c) {
    Values(spec, static_cast<int>(c), count, edges->add_columns());
  }
}

bool RandomBatches::NameEdge(int32_t type, proto::EdgeNames* edges) {
  const auto& lists = model_.edges(type).lists;
  for (int attempt = 0; attempt < 20 && !lists.empty(); ++attempt) {
    const uint64_t row = Below(lists.size());
    if (lists[row].empty()) continue;
    edges->set_edge_type(type);
    edges->add_targets(NodeOf(base_.schema.edge_types[type].target_type, row));
    edges->add_edge_ids(lists[row][Below(lists[row].size())].edge_id);
    return true;
  }
  return false;
}

proto::WriteBatch RandomBatches::Batch() {
  proto::WriteBatch batch;
  const auto node_type = static_cast<int32_t>(Below(base_.schema.node_types.size()));
  const auto edge_type = static_cast<int32_t>(Below(base_.schema.edge_types.size()));
  const NodeTypeSpec& nodes = base_.schema.node_types[node_type];
  const EdgeTypeSpec& edges = base_.schema.edge_types[edge_type];
  const int count = 1 + static_cast<int>(Below(4));
  if (Below(4) == 0) AddNewNodes(node_type, count, batch.add_new_nodes());
  const bool has_nodes = HasNodes(node_type);
  if (Below(2) == 0 && HasNodes(edges.target_type))
    AddNewEdges(edge_type, count, batch.add_new_edges());
  if (Below(2) == 0 && has_nodes && !nodes.columns.empty()) {
    proto::NodeRows& part = *batch.add_node_rows();
    part.set_node_type(node_type);
    part.set_column(static_cast<int32_t>(Below(nodes.columns.size())));
    for (int i = 0; i < count; ++i) part.add_nodes(Node(node_type));
    part.mutable_values()->set_rows(Bytes(nodes.columns[part.column()].row_bytes() * count));
  }
  if (Below(3) == 0 && has_nodes && !nodes.ragged.empty()) {
    proto::NodeRaggedRows& part = *batch.add_node_ragged_rows();
    part.set_node_type(node_type);
    part.set_column(static_cast<int32_t>(Below(nodes.ragged.size())));
    for (int i = 0; i < count; ++i) {
      part.add_nodes(Node(node_type));
      const std::string row = Ragged(nodes.ragged[part.column()]);
      part.mutable_values()->add_sizes(static_cast<uint32_t>(row.size()));
      part.mutable_values()->mutable_rows()->append(row);
    }
  }
  if (proto::EdgeNames edge;
      Below(3) == 0 && !edges.columns.empty() && NameEdge(edge_type, &edge)) {
    proto::EdgeRows& part = *batch.add_edge_rows();
    *part.mutable_edges() = edge;
    part.set_column(static_cast<int32_t>(Below(edges.columns.size())));
    Values(edges, part.column(), 1, part.mutable_values());
  }
  if (proto::EdgeNames edge; Below(3) == 0 && NameEdge(edge_type, &edge)) {
    *batch.add_gone_edges() = edge;
  }
  if (Below(20) == 0 && has_nodes) {
    proto::GoneNodes& part = *batch.add_gone_nodes();
    part.set_node_type(node_type);
    part.add_nodes(Node(node_type));
  }
  for (const auto& [key, node] : model_.nodes(node_type).directory) {
    if (node < 0 || Below(200) > 0) continue;
    proto::GoneKeys& part = *batch.add_gone_keys();
    part.set_node_type(node_type);
    part.add_keys(key);
  }
  return batch;
}

}  // namespace vicinity::testing
