#include "tests/testing/graphs/live_model.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/alias_table.h"
#include "partition/writing/weight_table.h"
#include "proto/common/ids.h"

namespace vicinity::testing {
namespace {

std::vector<std::string> Cut(const proto::RaggedValues& values) {
  std::vector<std::string> rows;
  size_t at = 0;
  for (const uint32_t size : values.sizes()) {
    rows.push_back(values.rows().substr(at, size));
    at += size;
  }
  return rows;
}

std::vector<std::string> Cut(const proto::ColumnValues& values, int count) {
  std::vector<std::string> rows;
  const size_t size = count == 0 ? 0 : values.rows().size() / count;
  for (int i = 0; i < count; ++i) rows.push_back(values.rows().substr(i * size, size));
  return rows;
}

void Append(const std::vector<std::string>& more, std::vector<std::string>* rows) {
  rows->insert(rows->end(), more.begin(), more.end());
}

}  // namespace

LiveModel::LiveModel(const MemoryGraph& graph, const Placement& placement, const LiveBase& base) {
  for (int32_t t = 0; t < static_cast<int32_t>(graph.nodes.size()); ++t) {
    const NodeTypeSpec& spec = graph.schema.node_types[t];
    ModelNodes& nodes = nodes_.emplace_back();
    nodes.columns.resize(spec.columns.size());
    nodes.ragged.resize(spec.ragged.size());
    for (int64_t node = 0; node < base.book.num_nodes({t}); ++node) {
      const int64_t at = placement.PositionOf({t}, {node});
      const uint64_t key = graph.nodes[t].keys[at];
      if (base.book.DirectoryShard(key) == base.shard.id()) nodes.directory[key] = node;
      if (!(base.book.OwnerOf({t}, {node}) == base.shard.id())) continue;
      nodes.keys.push_back(key);
      for (size_t c = 0; c < spec.columns.size(); ++c) {
        nodes.columns[c].emplace_back(graph.row({t}, static_cast<int>(c), at));
      }
      for (size_t c = 0; c < spec.ragged.size(); ++c) {
        nodes.ragged[c].emplace_back(graph.ragged_row({t}, static_cast<int>(c), at));
      }
      if (spec.id_kind == IdKind::kString) nodes.names.push_back(graph.nodes[t].names[at]);
    }
    nodes_in_files_.push_back(static_cast<int64_t>(nodes.keys.size()));
  }
  for (int32_t e = 0; e < static_cast<int32_t>(graph.edges.size()); ++e) {
    const EdgeTypeSpec& spec = graph.schema.edge_types[e];
    std::vector<int64_t> ids(graph.num_nodes({spec.source_type}));
    for (size_t node = 0; node < ids.size(); ++node) {
      ids[placement.order[spec.source_type][node]] = static_cast<int64_t>(node);
    }
    const auto all = graph.InEdgesOfAll({e});
    const int64_t first = base.book.First({spec.target_type}, base.shard.id()).value;
    ModelEdges& edges = edges_.emplace_back();
    edges.columns.resize(spec.columns.size());
    int64_t position = 0;
    for (int64_t row = 0; row < nodes_in_files_[spec.target_type]; ++row) {
      auto& list = edges.lists.emplace_back();
      for (const InEdge& edge : all[placement.PositionOf({spec.target_type}, {first + row})]) {
        list.push_back({ids[edge.source], edge.edge_id, position++});
        for (size_t c = 0; c < spec.columns.size(); ++c) {
          edges.columns[c].emplace_back(graph.edge_row({e}, static_cast<int>(c), edge.edge_id));
        }
      }
    }
    edges.num_positions = position;
    edges_in_files_.push_back(position);
  }
}

void LiveModel::Add(const LiveBase& base, const proto::NewNodes& part) {
  const int32_t t = part.node_type();
  ModelNodes& nodes = nodes_[t];
  for (const uint64_t key : part.keys()) {
    const auto number = static_cast<int64_t>(nodes.keys.size()) - nodes_in_files_[t];
    nodes.directory[key] =
        base.book.num_nodes({t}) + number * base.book.num_shards() + base.shard.id().value;
    nodes.keys.push_back(key);
    for (size_t e = 0; e < edges_.size(); ++e) {
      if (base.schema.edge_types[e].target_type == t) edges_[e].lists.emplace_back();
    }
  }
  for (int c = 0; c < part.columns_size(); ++c) {
    Append(Cut(part.columns(c), part.keys_size()), &nodes.columns[c]);
  }
  for (int c = 0; c < part.ragged_size(); ++c) Append(Cut(part.ragged(c)), &nodes.ragged[c]);
  if (part.has_names()) Append(Cut(part.names()), &nodes.names);
}

void LiveModel::Add(const LiveBase& base, const proto::NewEdges& part) {
  const int32_t e = part.edge_type();
  ModelEdges& edges = edges_[e];
  for (int i = 0; i < part.targets_size(); ++i) {
    const int64_t row = base.RowOf(base.schema.edge_types[e].target_type, part.targets(i));
    const int64_t number = edges.num_positions - edges_in_files_[e];
    const int64_t id =
        LiveBase::kFirstNewEdge + number * base.book.num_shards() + base.shard.id().value;
    edges.lists[row].push_back({static_cast<int64_t>(part.sources(i)), id, edges.num_positions++});
  }
  for (int c = 0; c < part.columns_size(); ++c) {
    Append(Cut(part.columns(c), part.targets_size()), &edges.columns[c]);
  }
}

void LiveModel::Change(const LiveBase& base, const proto::EdgeRows& part) {
  const proto::EdgeNames& names = part.edges();
  ModelEdges& edges = edges_[names.edge_type()];
  const int32_t target = base.schema.edge_types[names.edge_type()].target_type;
  const std::vector<std::string> rows = Cut(part.values(), names.targets_size());
  for (int i = 0; i < names.targets_size(); ++i) {
    for (const ModelEdge& edge : edges.lists[base.RowOf(target, names.targets(i))]) {
      if (edge.edge_id != static_cast<int64_t>(names.edge_ids(i))) continue;
      edges.columns[part.column()][edge.position] = rows[i];
    }
  }
}

void LiveModel::Remove(const LiveBase& base, const proto::EdgeNames& part) {
  ModelEdges& edges = edges_[part.edge_type()];
  const int32_t target = base.schema.edge_types[part.edge_type()].target_type;
  for (int i = 0; i < part.targets_size(); ++i) {
    auto& list = edges.lists[base.RowOf(target, part.targets(i))];
    list.erase(std::remove_if(list.begin(), list.end(),
                              [&](const ModelEdge& edge) {
                                return edge.edge_id == static_cast<int64_t>(part.edge_ids(i));
                              }),
               list.end());
  }
}

void LiveModel::Apply(const LiveBase& base, const proto::WriteBatch& batch) {
  for (const proto::NewNodes& part : batch.new_nodes()) Add(base, part);
  for (const proto::NewEdges& part : batch.new_edges()) Add(base, part);
  for (const proto::NodeRows& part : batch.node_rows()) {
    const std::vector<std::string> rows = Cut(part.values(), part.nodes_size());
    for (int i = 0; i < part.nodes_size(); ++i) {
      const int64_t row = base.RowOf(part.node_type(), part.nodes(i));
      nodes_[part.node_type()].columns[part.column()][row] = rows[i];
    }
  }
  for (const proto::NodeRaggedRows& part : batch.node_ragged_rows()) {
    const std::vector<std::string> rows = Cut(part.values());
    for (int i = 0; i < part.nodes_size(); ++i) {
      const int64_t row = base.RowOf(part.node_type(), part.nodes(i));
      nodes_[part.node_type()].ragged[part.column()][row] = rows[i];
    }
  }
  for (const proto::EdgeRows& part : batch.edge_rows()) Change(base, part);
  for (const proto::EdgeNames& part : batch.gone_edges()) Remove(base, part);
  for (const proto::GoneNodes& part : batch.gone_nodes()) {
    for (const uint64_t node : part.nodes()) {
      for (size_t e = 0; e < edges_.size(); ++e) {
        if (base.schema.edge_types[e].target_type != part.node_type()) continue;
        edges_[e].lists[base.RowOf(part.node_type(), node)].clear();
      }
    }
  }
  for (const proto::GoneKeys& part : batch.gone_keys()) {
    for (const uint64_t key : part.keys()) nodes_[part.node_type()].directory[key] = -1;
  }
}

std::string LiveModel::NodeDifference(const LiveBase& base, const ShardReader& reader,
                                      int32_t type) const {
  const ModelNodes& model = nodes_[type];
  const auto num_rows = static_cast<int64_t>(model.keys.size());
  if (reader.num_nodes({type}) != num_rows) {
    return absl::StrCat("has ", reader.num_nodes({type}), " nodes, not ", num_rows);
  }
  std::vector<uint64_t> rows(num_rows);
  std::iota(rows.begin(), rows.end(), 0);
  std::string problem;
  const auto compare = [&](const ShardColumn& column, const char* what, const auto& wanted) {
    const absl::Status read = reader.ReadRows(
        column, rows, [] {},
        [&](size_t i, const char* row) {
          if (std::string_view(row, column.row_bytes()) == wanted(i)) return;
          problem = absl::StrCat("row ", i, " of ", what, " differs");
        });
    if (!read.ok()) problem = read.ToString();
  };
  compare(reader.KeysColumn({type}), "keys", [&](size_t i) {
    return std::string_view(reinterpret_cast<const char*>(&model.keys[i]), sizeof(uint64_t));
  });
  for (size_t c = 0; c < model.columns.size(); ++c) {
    compare(reader.NodeColumn({type}, static_cast<int32_t>(c)), "a column",
            [&](size_t i) { return std::string_view(model.columns[c][i]); });
  }
  const auto compare_ragged = [&](int32_t column, const std::vector<std::string>& wanted) {
    const absl::Status read = reader.ReadRagged(
        {type}, column, rows, [] {},
        [&](size_t i, std::string_view row) {
          if (row != wanted[i]) problem = absl::StrCat("ragged row ", i, " differs");
          return true;
        });
    if (!read.ok()) problem = read.ToString();
  };
  for (size_t c = 0; c < model.ragged.size(); ++c) {
    compare_ragged(static_cast<int32_t>(c), model.ragged[c]);
  }
  if (!model.names.empty()) compare_ragged(kNamesColumn, model.names);
  for (const auto& [key, node] : model.directory) {
    int64_t found = -2;
    const uint64_t keys[] = {key};
    const absl::Status status = reader.FindKeys({type}, keys, &found);
    if (!status.ok() || found != node) {
      problem = absl::StrCat("key ", key, " has node ", found, ", not ", node);
    }
  }
  (void)base;
  return problem;
}

std::string LiveModel::EdgeDifference(const LiveBase& base, const ShardReader& reader,
                                      int32_t type) const {
  const ModelEdges& model = edges_[type];
  const EdgeTypeSpec& spec = base.schema.edge_types[type];
  if (reader.num_edges({type}) != model.num_positions) {
    return absl::StrCat("has ", reader.num_edges({type}), " edges, not ", model.num_positions);
  }
  const int weight = spec.weight_column.empty() ? -1 : spec.FindColumn(spec.weight_column);
  std::string problem;
  for (size_t row = 0; row < model.lists.size(); ++row) {
    const std::vector<ModelEdge>& wanted = model.lists[row];
    const absl::Status read = reader.ReadList(
        {type}, row, 0, std::numeric_limits<int64_t>::max(), [&](const ListPart& list) {
          bool same = list.size() == static_cast<int64_t>(wanted.size());
          for (size_t i = 0; same && i < wanted.size(); ++i) {
            const auto at = static_cast<int64_t>(i);
            same = list.source(at) == wanted[i].source && list.edge_id(at) == wanted[i].edge_id &&
                   list.position(at) == wanted[i].position;
          }
          if (!same) problem = absl::StrCat("list ", row, " differs");
          if (!same || weight < 0 || wanted.empty()) return;
          std::vector<double> weights;
          for (const ModelEdge& edge : wanted) {
            weights.push_back(LoadWeight(spec.columns[weight].dtype,
                                         model.columns[weight][edge.position].data()));
          }
          std::vector<AliasEntry> table(weights.size());
          AliasBuilder().Fill(weights, absl::MakeSpan(table));
          std::vector<uint64_t> units;
          std::vector<uint64_t> found;
          AliasUnits(table, &units);
          list.WeightUnits(&found);
          if (units != found) problem = absl::StrCat("weights of list ", row, " differ");
        });
    if (!read.ok()) problem = read.ToString();
    for (const ModelEdge& edge : wanted) {
      for (size_t c = 0; c < model.columns.size(); ++c) {
        const ShardColumn column = reader.EdgeColumn({type}, static_cast<int32_t>(c));
        const uint64_t rows[] = {static_cast<uint64_t>(edge.position)};
        const absl::Status status = reader.ReadRows(
            column, rows, [] {},
            [&](size_t, const char* bytes) {
              if (std::string_view(bytes, column.row_bytes()) == model.columns[c][edge.position]) {
                return;
              }
              problem = absl::StrCat("row ", edge.position, " of column ", c, " differs");
            });
        if (!status.ok()) problem = status.ToString();
      }
    }
  }
  return problem;
}

std::string LiveModel::Difference(const LiveBase& base, const ShardReader& reader) const {
  for (int32_t t = 0; t < static_cast<int32_t>(nodes_.size()); ++t) {
    const std::string problem = NodeDifference(base, reader, t);
    if (!problem.empty()) return absl::StrCat(base.schema.node_types[t].name, ": ", problem);
  }
  for (int32_t e = 0; e < static_cast<int32_t>(edges_.size()); ++e) {
    const std::string problem = EdgeDifference(base, reader, e);
    if (!problem.empty()) return absl::StrCat(base.schema.EdgeTypeName(e), ": ", problem);
  }
  return "";
}

}  // namespace vicinity::testing
