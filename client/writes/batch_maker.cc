#include "client/writes/batch_maker.h"

#include <string>
#include <utility>

#include "partition/schema/schema.h"

namespace vicinity {
namespace {

// Rows of one part that follow each other.
struct Run {
  const CheckedPart& part;
  absl::Span<const RowRef> rows;
};

// Calls each(run) for all of them, in order.
template <typename Each>
void ForEachRun(const CheckedChanges& changes, absl::Span<const RowRef> rows, const Each& each) {
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin + 1;
    while (end < rows.size() && rows[end].part == rows[begin].part) ++end;
    each(Run{changes.parts()[rows[begin].part], rows.subspan(begin, end - begin)});
    begin = end;
  }
}

void FillColumn(const Run& run, const CheckedPart::Column& column, proto::ColumnValues* out) {
  const int64_t width = column.spec->row_bytes();
  std::string* const bytes = out->mutable_rows();
  bytes->reserve(run.rows.size() * width);
  for (const RowRef& row : run.rows) bytes->append(column.rows + row.row * width, width);
}

void FillRagged(const Run& run, const CheckedPart::Ragged& column, proto::RaggedValues* out) {
  for (const RowRef& row : run.rows) {
    const std::string bytes = RaggedRowOf(column, row.row);
    out->add_sizes(static_cast<uint32_t>(bytes.size()));
    out->mutable_rows()->append(bytes);
  }
}

template <typename Numbers>
void FillNumbers(const Run& run, absl::Span<const int64_t> from, Numbers* out) {
  out->Reserve(static_cast<int>(run.rows.size()));
  for (const RowRef& row : run.rows) out->Add(static_cast<uint64_t>(from[row.row]));
}

void FillEdges(const Run& run, proto::EdgeNames* out) {
  out->set_edge_type(run.part.type);
  FillNumbers(run, run.part.nodes, out->mutable_targets());
  FillNumbers(run, run.part.edge_ids, out->mutable_edge_ids());
}

void AddNewNodes(const CheckedChanges& changes, const Run& run, proto::WriteBatch* batch) {
  proto::NewNodes* const nodes = batch->add_new_nodes();
  nodes->set_node_type(run.part.type);
  for (const RowRef& row : run.rows) nodes->add_keys(changes.KeyOf(run.part, row.row));
  for (const auto& column : run.part.columns) FillColumn(run, column, nodes->add_columns());
  for (const auto& column : run.part.ragged) FillRagged(run, column, nodes->add_ragged());
  if (changes.schema().node_types[run.part.type].id_kind != IdKind::kString) return;
  for (const RowRef& row : run.rows) {
    const std::string& name = run.part.names[row.row];
    nodes->mutable_names()->add_sizes(static_cast<uint32_t>(name.size()));
    nodes->mutable_names()->mutable_rows()->append(name);
  }
}

void AddNewEdges(const Run& run, proto::WriteBatch* batch) {
  proto::NewEdges* const edges = batch->add_new_edges();
  edges->set_edge_type(run.part.type);
  FillNumbers(run, run.part.sources, edges->mutable_sources());
  FillNumbers(run, run.part.nodes, edges->mutable_targets());
  for (const auto& column : run.part.columns) FillColumn(run, column, edges->add_columns());
}

void AddNodeValues(const Run& run, proto::WriteBatch* batch) {
  for (const auto& column : run.part.columns) {
    proto::NodeRows* const rows = batch->add_node_rows();
    rows->set_node_type(run.part.type);
    rows->set_column(column.column);
    FillNumbers(run, run.part.nodes, rows->mutable_nodes());
    FillColumn(run, column, rows->mutable_values());
  }
  for (const auto& column : run.part.ragged) {
    proto::NodeRaggedRows* const rows = batch->add_node_ragged_rows();
    rows->set_node_type(run.part.type);
    rows->set_column(column.column);
    FillNumbers(run, run.part.nodes, rows->mutable_nodes());
    FillRagged(run, column, rows->mutable_values());
  }
}

void AddEdgeValues(const Run& run, proto::WriteBatch* batch) {
  for (const auto& column : run.part.columns) {
    proto::EdgeRows* const rows = batch->add_edge_rows();
    FillEdges(run, rows->mutable_edges());
    rows->set_column(column.column);
    FillColumn(run, column, rows->mutable_values());
  }
}

void AddGoneNodes(const Run& run, absl::Span<const uint64_t> keys, proto::WriteBatch* batch) {
  proto::GoneNodes nodes;
  proto::GoneKeys gone;
  for (const RowRef& row : run.rows) {
    if (row.gone.in_edges) nodes.add_nodes(static_cast<uint64_t>(run.part.nodes[row.row]));
    if (row.gone.key) gone.add_keys(keys[row.row]);
  }
  nodes.set_node_type(run.part.type);
  gone.set_node_type(run.part.type);
  if (nodes.nodes_size() > 0) *batch->add_gone_nodes() = std::move(nodes);
  if (gone.keys_size() > 0) *batch->add_gone_keys() = std::move(gone);
}

}  // namespace

size_t CountForBatch(const CheckedChanges& changes, absl::Span<const RowRef> rows,
                     int64_t max_bytes) {
  int64_t bytes = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    bytes += changes.RowBytes(changes.parts()[rows[i].part], rows[i].row);
    if (bytes > max_bytes && i > 0) return i;
  }
  return rows.size();
}

proto::WriteBatch MakeBatch(const CheckedChanges& changes, const GoneKeys& gone_keys,
                            absl::Span<const RowRef> rows) {
  proto::WriteBatch batch;
  ForEachRun(changes, rows, [&](const Run& run) {
    switch (run.part.kind) {
      case ChangeKind::kNewNodes:
        return AddNewNodes(changes, run, &batch);
      case ChangeKind::kNewEdges:
        return AddNewEdges(run, &batch);
      case ChangeKind::kNodeValues:
        return AddNodeValues(run, &batch);
      case ChangeKind::kEdgeValues:
        return AddEdgeValues(run, &batch);
      case ChangeKind::kRemovedEdges:
        return FillEdges(run, batch.add_gone_edges());
      case ChangeKind::kRemovedNodes:
        return AddGoneNodes(run, gone_keys[run.rows[0].part], &batch);
    }
  });
  return batch;
}

void PlaceIds(const CheckedChanges& changes, absl::Span<const RowRef> rows,
              const AppliedBatch& applied, Written* written) {
  const int64_t step = changes.book().num_shards();
  size_t nodes = 0;
  size_t edges = 0;
  ForEachRun(changes, rows, [&](const Run& run) {
    const bool of_nodes = run.part.kind == ChangeKind::kNewNodes;
    if (!of_nodes && run.part.kind != ChangeKind::kNewEdges) return;
    int64_t id = of_nodes ? applied.first_nodes[nodes++] : applied.first_edges[edges++];
    std::vector<int64_t>& ids = (of_nodes ? written->node_ids : written->edge_ids)[run.part.part];
    for (const RowRef& row : run.rows) {
      ids[row.row] = id;
      id += step;
    }
  });
}

}  // namespace vicinity
