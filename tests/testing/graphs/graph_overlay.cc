#include "tests/testing/graphs/graph_overlay.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"
#include "partition/schema/schema.h"

namespace vicinity::testing {
namespace {

bool Same(const std::vector<InEdge>& a, const std::vector<InEdge>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const InEdge& x, const InEdge& y) {
    return x.source == y.source && x.edge_id == y.edge_id;
  });
}

std::vector<AliasEntry> TableOf(const MemoryGraph& graph, EdgeTypeId type,
                                const std::vector<InEdge>& list) {
  std::vector<double> weights;
  for (const InEdge& edge : list) {
    float weight = 0;
    std::memcpy(&weight, graph.edge_row(type, 0, edge.edge_id).data(), sizeof(weight));
    weights.push_back(static_cast<double>(weight));
  }
  std::vector<AliasEntry> table(weights.size());
  if (!table.empty()) AliasBuilder().Fill(weights, absl::MakeSpan(table));
  return table;
}

}  // namespace

GraphOverlay::GraphOverlay(const MemoryGraph& before, const MemoryGraph& now,
                           const Placement& placement, ShardId shard) {
  const Graphs graphs{before, now, placement, shard};
  for (int32_t t = 0; t < static_cast<int32_t>(now.nodes.size()); ++t) AddNodes(graphs, t);
  for (int32_t e = 0; e < static_cast<int32_t>(now.edges.size()); ++e) AddEdges(graphs, e);
}

void GraphOverlay::AddNodes(const Graphs& graphs, int32_t type) {
  const auto& [before, now, placement, shard] = graphs;
  const int64_t first = placement.book.First({type}, shard).value;
  for (int64_t row = 0; row < placement.book.num_nodes({type}, shard); ++row) {
    const int64_t at = placement.PositionOf({type}, {first + row});
    for (int32_t c = 0; c < static_cast<int32_t>(now.nodes[type].columns.size()); ++c) {
      const std::string_view bytes = now.row({type}, c, at);
      if (bytes == before.row({type}, c, at)) continue;
      rows_[{ShardPart::kNodeRows, type, c, row}] = std::string(bytes);
    }
    const int first_ragged = now.nodes[type].names.empty() ? 0 : kNamesColumn;
    for (int c = first_ragged; c < static_cast<int>(now.nodes[type].ragged.size()); ++c) {
      const std::string_view bytes = now.ragged_row({type}, c, at);
      if (bytes == before.ragged_row({type}, c, at)) continue;
      rows_[{ShardPart::kRagged, type, c, row}] = std::string(bytes);
    }
  }
}

void GraphOverlay::AddEdges(const Graphs& graphs, int32_t type) {
  const auto& [before, now, placement, shard] = graphs;
  const EdgeTypeSpec& spec = now.schema.edge_types[type];
  const NodeTypeId target{spec.target_type};
  std::vector<int64_t> global_ids(now.num_nodes({spec.source_type}));
  for (size_t node = 0; node < global_ids.size(); ++node) {
    global_ids[placement.order[spec.source_type][node]] = static_cast<int64_t>(node);
  }
  const auto old_lists = before.InEdgesOfAll({type});
  const auto new_lists = now.InEdgesOfAll({type});
  const int64_t first = placement.book.First(target, shard).value;
  const int64_t num_rows = placement.book.num_nodes(target, shard);
  std::map<int64_t, int64_t> positions;  // by edge id: where it lies in the files
  for (int64_t row = 0; row < num_rows; ++row) {
    for (const InEdge& edge : old_lists[placement.PositionOf(target, {first + row})]) {
      positions.emplace(edge.edge_id, static_cast<int64_t>(positions.size()));
    }
  }
  const auto in_files = static_cast<int64_t>(positions.size());
  for (int64_t row = 0; row < num_rows; ++row) {
    const int64_t at = placement.PositionOf(target, {first + row});
    for (const InEdge& edge : new_lists[at]) {
      const int64_t position =
          positions.emplace(edge.edge_id, static_cast<int64_t>(positions.size())).first->second;
      for (int32_t c = 0; c < static_cast<int32_t>(spec.columns.size()); ++c) {
        const std::string_view bytes = now.edge_row({type}, c, edge.edge_id);
        if (position < in_files && bytes == before.edge_row({type}, c, edge.edge_id)) continue;
        rows_[{ShardPart::kEdgeRows, type, c, position}] = std::string(bytes);
      }
    }
    if (Same(old_lists[at], new_lists[at])) continue;  // weights of edges that stay may not change
    const bool weighted = !spec.weight_column.empty();
    ChangedList list;
    for (const InEdge& edge : new_lists[at]) {
      list.sources.push_back(static_cast<uint64_t>(global_ids[edge.source]));
      list.edge_ids.push_back(static_cast<uint64_t>(edge.edge_id));
      list.positions.push_back(positions.at(edge.edge_id));
    }
    if (weighted) list.weights = TableOf(now, {type}, new_lists[at]);
    lists_[{type, row}] = std::make_shared<const ChangedList>(std::move(list));
  }
  new_edges_[type] = static_cast<int64_t>(positions.size()) - in_files;
}

bool GraphOverlay::Changes(const ShardPart& part, absl::Span<const uint64_t> rows) const {
  return std::any_of(rows.begin(), rows.end(), [&](uint64_t row) {
    switch (part.kind) {
      case ShardPart::kLists:
        return lists_.count({part.type, row}) > 0;
      case ShardPart::kDirectory:
        return false;
      default:
        return Row(part, row) != nullptr;
    }
  });
}

bool GraphOverlay::ChangesRange(const ShardPart& part, int64_t first, int64_t count) const {
  const auto at = rows_.lower_bound({part.kind, part.type, part.column, first});
  return at != rows_.end() && at->first < RowKey(part.kind, part.type, part.column, first + count);
}

int64_t GraphOverlay::NumRows(const ShardPart& part, int64_t in_files) const {
  return part.kind == ShardPart::kEdgeRows ? in_files + new_edges_.at(part.type) : in_files;
}

const std::string* GraphOverlay::Row(const ShardPart& part, uint64_t row) const {
  const auto at = rows_.find({part.kind, part.type, part.column, row});
  return at == rows_.end() ? nullptr : &at->second;
}

absl::Status GraphOverlay::ReadRows(const ShardPart& part, absl::Span<const uint64_t> rows,
                                    ChangedRows* changed) const {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (const std::string* const row = Row(part, rows[i]); row != nullptr) changed->Set(i, *row);
  }
  return absl::OkStatus();
}

absl::StatusOr<ChangedListPtr> GraphOverlay::List(int32_t edge_type, uint64_t row) const {
  const auto at = lists_.find({edge_type, row});
  return at == lists_.end() ? nullptr : at->second;
}

}  // namespace vicinity::testing
