#include "partition/overlay/change.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr uint64_t kNow = std::numeric_limits<uint64_t>::max();  // all that the index has

template <typename Numbers>
absl::Span<const uint64_t> SpanOf(const Numbers& numbers) {
  return {numbers.data(), static_cast<size_t>(numbers.size())};
}

// Looks for what a batch names.
class Resolver {
 public:
  Resolver(const LiveBase& base, const ShardReader& files, const DeltaIndex& index)
      : base_(base), files_(files), index_(index) {}

  absl::Status Resolve(proto::Change* change) {
    proto::WriteBatch& batch = *change->mutable_batch();
    VICINITY_RETURN_IF_ERROR(ResolveNew(batch, change));
    for (const proto::NodeRows& part : batch.node_rows()) {
      VICINITY_RETURN_IF_ERROR(CheckNodes(part.node_type(), SpanOf(part.nodes())));
    }
    for (const proto::NodeRaggedRows& part : batch.node_ragged_rows()) {
      VICINITY_RETURN_IF_ERROR(CheckNodes(part.node_type(), SpanOf(part.nodes())));
    }
    for (const proto::GoneNodes& part : batch.gone_nodes()) {
      VICINITY_RETURN_IF_ERROR(CheckNodes(part.node_type(), SpanOf(part.nodes())));
    }
    for (proto::EdgeRows& part : *batch.mutable_edge_rows()) {
      VICINITY_RETURN_IF_ERROR(FindEdges(part.mutable_edges()));
    }
    for (proto::EdgeNames& part : *batch.mutable_gone_edges()) {
      VICINITY_RETURN_IF_ERROR(FindEdges(&part));
      VICINITY_RETURN_IF_ERROR(CheckGoOnce(part));
    }
    return CheckGoneKeys(batch);
  }

 private:
  absl::Status ResolveNew(const proto::WriteBatch& batch, proto::Change* change) {
    std::vector<int64_t> nodes;
    for (size_t t = 0; t < base_.schema.node_types.size(); ++t) {
      const auto type = static_cast<int32_t>(t);
      nodes.push_back(index_.NumNodes(type, kNow) - index_.nodes_in_files(type));
    }
    std::vector<int64_t> edges;
    for (size_t t = 0; t < base_.schema.edge_types.size(); ++t) {
      const auto type = static_cast<int32_t>(t);
      edges.push_back(index_.NumEdges(type, kNow) - index_.edges_in_files(type));
    }
    for (const proto::NewNodes& part : batch.new_nodes()) {
      VICINITY_RETURN_IF_ERROR(CheckAreNew(part));
      change->add_first_nodes(nodes[part.node_type()]);
      nodes[part.node_type()] += part.keys_size();
    }
    for (const proto::NewEdges& part : batch.new_edges()) {
      const EdgeTypeSpec& type = base_.schema.edge_types[part.edge_type()];
      VICINITY_RETURN_IF_ERROR(CheckNodes(type.target_type, SpanOf(part.targets())));
      VICINITY_RETURN_IF_ERROR(CheckNodes(type.source_type, SpanOf(part.sources())));
      change->add_first_edges(edges[part.edge_type()]);
      edges[part.edge_type()] += part.targets_size();
    }
    return absl::OkStatus();
  }

  const std::string& NodeTypeName(int32_t type) const { return base_.schema.node_types[type].name; }

  // Of each key the node that has it now, or -1.
  absl::StatusOr<std::vector<int64_t>> FindKeys(int32_t type,
                                                absl::Span<const uint64_t> keys) const {
    std::vector<int64_t> nodes(keys.size());
    VICINITY_RETURN_IF_ERROR(files_.FindKeys({type}, keys, nodes.data()));
    for (size_t i = 0; i < keys.size(); ++i) {
      nodes[i] = index_.Node(type, keys[i], kNow).value_or(nodes[i]);
    }
    return nodes;
  }

  absl::Status CheckAreNew(const proto::NewNodes& part) {
    const int32_t type = part.node_type();
    VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> nodes,
                              FindKeys(type, SpanOf(part.keys())));
    for (int i = 0; i < part.keys_size(); ++i) {
      if (nodes[i] >= 0) {
        return absl::AlreadyExistsError(absl::StrCat("key ", part.keys(i), " of type \"",
                                                     NodeTypeName(type), "\" has node ", nodes[i]));
      }
      if (!new_keys_.emplace(type, part.keys(i)).second) {
        return absl::AlreadyExistsError(absl::StrCat(
            "key ", part.keys(i), " of type \"", NodeTypeName(type), "\" comes twice in a batch"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckGoneKeys(const proto::WriteBatch& batch) const {
    for (const proto::GoneKeys& part : batch.gone_keys()) {
      const int32_t type = part.node_type();
      VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> nodes,
                                FindKeys(type, SpanOf(part.keys())));
      for (int i = 0; i < part.keys_size(); ++i) {
        if (nodes[i] >= 0) continue;
        return absl::NotFoundError(
            absl::StrCat("no node of type \"", NodeTypeName(type), "\" has key ", part.keys(i)));
      }
    }
    return absl::OkStatus();
  }

  // Nodes of other shards may be there or not: nobody here knows.
  absl::Status CheckNodes(int32_t type, absl::Span<const uint64_t> nodes) const {
    const int64_t num_rows = index_.NumNodes(type, kNow);
    for (const uint64_t node : nodes) {
      if (base_.RowOf(type, node) < num_rows) continue;
      return absl::NotFoundError(
          absl::StrCat("there is no node ", node, " of type \"", NodeTypeName(type), "\""));
    }
    return absl::OkStatus();
  }

  absl::Status FindEdges(proto::EdgeNames* edges) const {
    const EdgeTypeSpec& type = base_.schema.edge_types[edges->edge_type()];
    VICINITY_RETURN_IF_ERROR(CheckNodes(type.target_type, SpanOf(edges->targets())));
    for (int i = 0; i < edges->targets_size(); ++i) {
      const int64_t row = base_.RowOf(type.target_type, edges->targets(i));
      VICINITY_ASSIGN_OR_RETURN(const int64_t position,
                                FindEdge(edges->edge_type(), row, edges->edge_ids(i)));
      if (position < 0) {
        return absl::NotFoundError(absl::StrCat(
            "there is no edge ", edges->edge_ids(i), " of type \"",
            base_.schema.EdgeTypeName(edges->edge_type()), "\" to node ", edges->targets(i)));
      }
      edges->add_positions(position);
    }
    return absl::OkStatus();
  }

  // Its position, -1 if the list does not have it now.
  absl::StatusOr<int64_t> FindEdge(int32_t type, int64_t row, uint64_t edge_id) const {
    const ListDelta* const delta = index_.List(type, row);
    const ListDelta::Rare* const rare = delta == nullptr ? nullptr : delta->rare.get();
    const GrownIds ids = base_.EdgeIds(type);
    const auto id = static_cast<int64_t>(edge_id);
    int64_t position = -1;
    if (id >= 0 && ids.IsNew(id)) {
      const int64_t number = ids.NumberOf(id);
      const bool listed = ids.OwnerOf(id) == base_.shard.id() && delta != nullptr &&
                          std::binary_search(delta->added.begin(), delta->added.end(), number);
      const bool cleared =
          rare != nullptr && !rare->cleared.empty() && number < rare->cleared.back().edges_before;
      if (!listed || cleared) return -1;
      position = index_.edges_in_files(type) + number;
    } else {
      if (rare != nullptr && !rare->cleared.empty()) return -1;
      VICINITY_ASSIGN_OR_RETURN(position, FindInFiles(type, row, id));
    }
    const auto is_it = [&](const ListDelta::Gone& gone) { return gone.position == position; };
    if (rare != nullptr && std::any_of(rare->gone.begin(), rare->gone.end(), is_it)) return -1;
    return position;
  }

  absl::StatusOr<int64_t> FindInFiles(int32_t type, int64_t row, int64_t edge_id) const {
    int64_t position = -1;
    if (row >= files_.num_targets({type})) return position;
    VICINITY_RETURN_IF_ERROR(files_.ReadList(
        {type}, row, 0, std::numeric_limits<int64_t>::max(), [&](const ListPart& list) {
          position = -1;
          for (int64_t i = 0; i < list.size() && position < 0; ++i) {
            if (list.edge_id(i) == edge_id) position = list.position(i);
          }
        }));
    return position;
  }

  absl::Status CheckGoOnce(const proto::EdgeNames& edges) {
    for (int i = 0; i < edges.positions_size(); ++i) {
      if (gone_.emplace(edges.edge_type(), edges.positions(i)).second) continue;
      return absl::InvalidArgumentError(absl::StrCat("edge ", edges.edge_ids(i), " of type \"",
                                                     base_.schema.EdgeTypeName(edges.edge_type()),
                                                     "\" is to go twice in a batch"));
    }
    return absl::OkStatus();
  }

  const LiveBase& base_;
  const ShardReader& files_;
  const DeltaIndex& index_;
  absl::flat_hash_set<std::pair<int32_t, uint64_t>> new_keys_;
  absl::flat_hash_set<std::pair<int32_t, uint64_t>> gone_;  // positions
};

// Rows of a version, which the log leaves out: written, and taken out of the change.
class RowWriter {
 public:
  RowWriter(uint64_t version, DeltaStore::Commit* commit) : version_(version), commit_(*commit) {}

  // row_of(i): of the i-th.
  template <typename RowOf>
  absl::Status Visit(const ShardPart& part, int64_t row_bytes, int count, const RowOf& row_of,
                     proto::ColumnValues* values) {
    const std::string_view bytes = values->rows();
    for (int i = 0; i < count; ++i) {
      VICINITY_RETURN_IF_ERROR(Put(part, row_of(i), bytes.substr(i * row_bytes, row_bytes)));
    }
    values->clear_rows();
    return absl::OkStatus();
  }
  template <typename RowOf>
  absl::Status Visit(const ShardPart& part, int /*count*/, const RowOf& row_of,
                     proto::RaggedValues* values) {
    size_t at = 0;
    const std::string_view bytes = values->rows();
    for (int i = 0; i < values->sizes_size(); ++i) {
      VICINITY_RETURN_IF_ERROR(Put(part, row_of(i), bytes.substr(at, values->sizes(i))));
      at += values->sizes(i);
    }
    values->clear_rows();
    values->clear_sizes();
    return absl::OkStatus();
  }

 private:
  absl::Status Put(const ShardPart& part, int64_t row, std::string_view value) {
    return commit_.PutRow({part, static_cast<uint64_t>(row), version_}, value);
  }

  const uint64_t version_;
  DeltaStore::Commit& commit_;
};

// ... and back: read, and put where they were. First all are noted, then they are read at once.
class RowFiller {
 public:
  explicit RowFiller(uint64_t version) : version_(version) {}

  template <typename RowOf>
  absl::Status Visit(const ShardPart& part, int64_t /*row_bytes*/, int count, const RowOf& row_of,
                     proto::ColumnValues* values) {
    Note(part, count, row_of);
    takes_.push_back({count, values, nullptr});
    return absl::OkStatus();
  }
  template <typename RowOf>
  absl::Status Visit(const ShardPart& part, int count, const RowOf& row_of,
                     proto::RaggedValues* values) {
    Note(part, count, row_of);
    takes_.push_back({count, nullptr, values});
    return absl::OkStatus();
  }
  absl::Status Fill(const DeltaStore& store) const {
    std::vector<std::string> rows(places_.size());
    VICINITY_RETURN_IF_ERROR(
        store.ReadRows(places_, [&](size_t i, std::string_view value) { rows[i] = value; }));
    size_t next = 0;
    for (const Taken& take : takes_) {
      for (int i = 0; i < take.count; ++i, ++next) {
        if (take.values != nullptr) {
          take.values->mutable_rows()->append(rows[next]);
        } else {
          take.ragged->mutable_rows()->append(rows[next]);
          take.ragged->add_sizes(static_cast<uint32_t>(rows[next].size()));
        }
      }
    }
    return absl::OkStatus();
  }

 private:
  struct Taken {
    int count;
    proto::ColumnValues* values;  // or
    proto::RaggedValues* ragged;
  };
  template <typename RowOf>
  void Note(const ShardPart& part, int count, const RowOf& row_of) {
    for (int i = 0; i < count; ++i) {
      places_.push_back({part, static_cast<uint64_t>(row_of(i)), version_});
    }
  }

  const uint64_t version_;
  std::vector<RowPlace> places_;
  std::vector<Taken> takes_;
};

template <typename Visitor>
absl::Status VisitNewNodes(const LiveBase& base, int64_t first, proto::NewNodes* nodes,
                           Visitor* visitor) {
  const int32_t type = nodes->node_type();
  const int count = nodes->keys_size();
  const NodeTypeSpec& spec = base.schema.node_types[type];
  const auto row_of = [&](int i) { return base.NodesInFiles(type) + first + i; };
  for (int c = 0; c < nodes->columns_size(); ++c) {
    VICINITY_RETURN_IF_ERROR(visitor->Visit({ShardPart::kNodeRows, type, c},
                                            spec.columns[c].row_bytes(), count, row_of,
                                            nodes->mutable_columns(c)));
  }
  for (int c = 0; c < nodes->ragged_size(); ++c) {
    VICINITY_RETURN_IF_ERROR(
        visitor->Visit({ShardPart::kRagged, type, c}, count, row_of, nodes->mutable_ragged(c)));
  }
  if (!nodes->has_names()) return absl::OkStatus();
  return visitor->Visit({ShardPart::kRagged, type, kNamesColumn}, count, row_of,
                        nodes->mutable_names());
}

// All rows of a resolved change that are kept beside the log.
template <typename Visitor>
absl::Status VisitRows(const LiveBase& base, proto::Change* change, Visitor* visitor) {
  proto::WriteBatch& batch = *change->mutable_batch();
  for (int p = 0; p < batch.new_nodes_size(); ++p) {
    const auto first = static_cast<int64_t>(change->first_nodes(p));
    VICINITY_RETURN_IF_ERROR(VisitNewNodes(base, first, batch.mutable_new_nodes(p), visitor));
  }
  for (proto::NodeRows& part : *batch.mutable_node_rows()) {
    const int32_t type = part.node_type();
    const int64_t bytes = base.schema.node_types[type].columns[part.column()].row_bytes();
    const auto row_of = [&](int i) { return base.RowOf(type, part.nodes(i)); };
    VICINITY_RETURN_IF_ERROR(visitor->Visit({ShardPart::kNodeRows, type, part.column()}, bytes,
                                            part.nodes_size(), row_of, part.mutable_values()));
  }
  for (proto::NodeRaggedRows& part : *batch.mutable_node_ragged_rows()) {
    const auto row_of = [&](int i) { return base.RowOf(part.node_type(), part.nodes(i)); };
    VICINITY_RETURN_IF_ERROR(visitor->Visit({ShardPart::kRagged, part.node_type(), part.column()},
                                            part.nodes_size(), row_of, part.mutable_values()));
  }
  for (proto::EdgeRows& part : *batch.mutable_edge_rows()) {
    const int32_t type = part.edges().edge_type();
    const int64_t bytes = base.schema.edge_types[type].columns[part.column()].row_bytes();
    const auto row_of = [&](int i) { return static_cast<int64_t>(part.edges().positions(i)); };
    VICINITY_RETURN_IF_ERROR(visitor->Visit({ShardPart::kEdgeRows, type, part.column()}, bytes,
                                            part.edges().positions_size(), row_of,
                                            part.mutable_values()));
  }
  return absl::OkStatus();
}

std::vector<uint64_t> RowsOf(const LiveBase& base, int32_t type, absl::Span<const uint64_t> nodes) {
  std::vector<uint64_t> rows;
  rows.reserve(nodes.size());
  for (const uint64_t node : nodes) rows.push_back(base.RowOf(type, node));
  return rows;
}

// Tells an index of parts of one version.
class Indexer {
 public:
  Indexer(const LiveBase& base, uint64_t version, DeltaIndex* index)
      : base_(base), version_(version), index_(*index) {}

  void Add(const proto::NewEdges& edges) {
    std::vector<const char*> columns;
    for (const proto::ColumnValues& column : edges.columns()) {
      columns.push_back(column.rows().data());
    }
    index_.AddEdges(edges.edge_type(), SpanOf(edges.sources()), TargetsOf(edges), columns,
                    version_);
  }
  void Add(const proto::NodeRows& rows) {
    index_.AddRows({ShardPart::kNodeRows, rows.node_type(), rows.column()},
                   RowsOf(base_, rows.node_type(), SpanOf(rows.nodes())), version_);
  }
  void Add(const proto::NodeRaggedRows& rows) {
    index_.AddRows({ShardPart::kRagged, rows.node_type(), rows.column()},
                   RowsOf(base_, rows.node_type(), SpanOf(rows.nodes())), version_);
  }
  void Add(const proto::EdgeRows& rows) {
    const proto::EdgeNames& edges = rows.edges();
    const EdgeTypeSpec& type = TypeOf(edges);
    index_.AddRows({ShardPart::kEdgeRows, edges.edge_type(), rows.column()},
                   SpanOf(edges.positions()), version_);
    if (type.columns[rows.column()].name != type.weight_column) return;
    for (const uint64_t row : TargetsOf(edges)) index_.Reweight(edges.edge_type(), row, version_);
  }
  void Remove(const proto::EdgeNames& edges) {
    const std::vector<uint64_t> rows = TargetsOf(edges);
    for (size_t i = 0; i < rows.size(); ++i) {
      index_.RemoveEdge(edges.edge_type(), rows[i],
                        static_cast<int64_t>(edges.positions(static_cast<int>(i))), version_);
    }
  }
  void Remove(const proto::GoneNodes& nodes) {
    for (const uint64_t row : RowsOf(base_, nodes.node_type(), SpanOf(nodes.nodes()))) {
      for (size_t e = 0; e < base_.schema.edge_types.size(); ++e) {
        if (base_.schema.edge_types[e].target_type != nodes.node_type()) continue;
        index_.ClearList(static_cast<int32_t>(e), row, version_);
      }
    }
  }

 private:
  template <typename Edges>
  const EdgeTypeSpec& TypeOf(const Edges& edges) const {
    return base_.schema.edge_types[edges.edge_type()];
  }
  template <typename Edges>
  std::vector<uint64_t> TargetsOf(const Edges& edges) const {
    return RowsOf(base_, TypeOf(edges).target_type, SpanOf(edges.targets()));
  }

  const LiveBase& base_;
  const uint64_t version_;
  DeltaIndex& index_;
};

void IndexNewNodes(const LiveBase& base, const proto::Change& change, int part, DeltaIndex* index) {
  const proto::NewNodes& nodes = change.batch().new_nodes(part);
  const auto first = static_cast<int64_t>(change.first_nodes(part));
  const GrownIds ids = base.NodeIds(nodes.node_type());
  std::vector<uint64_t> new_ids;
  for (int i = 0; i < nodes.keys_size(); ++i) {
    new_ids.push_back(ids.IdOf(base.shard.id(), first + i));
  }
  index->AddNodes(nodes.node_type(), SpanOf(nodes.keys()), new_ids, change.version());
}

}  // namespace

absl::Status ResolveChange(const LiveBase& base, const ShardReader& files, const DeltaIndex& index,
                           proto::Change* change) {
  return Resolver(base, files, index).Resolve(change);
}

absl::Status PutChange(const LiveBase& base, proto::Change* change, DeltaStore::Commit* commit) {
  RowWriter writer(change->version(), commit);
  VICINITY_RETURN_IF_ERROR(VisitRows(base, change, &writer));
  return commit->PutChange(change->version(), change->SerializeAsString());
}

absl::Status FillChange(const LiveBase& base, const DeltaStore& store, proto::Change* change) {
  RowFiller filler(change->version());
  VICINITY_RETURN_IF_ERROR(VisitRows(base, change, &filler));
  return filler.Fill(store);
}

void IndexChange(const LiveBase& base, const proto::Change& change, DeltaIndex* index) {
  const proto::WriteBatch& batch = change.batch();
  for (int p = 0; p < batch.new_nodes_size(); ++p) {
    IndexNewNodes(base, change, p, index);
  }
  Indexer indexer(base, change.version(), index);
  for (const proto::NewEdges& part : batch.new_edges()) indexer.Add(part);
  for (const proto::NodeRows& part : batch.node_rows()) indexer.Add(part);
  for (const proto::NodeRaggedRows& part : batch.node_ragged_rows()) indexer.Add(part);
  for (const proto::EdgeRows& part : batch.edge_rows()) indexer.Add(part);
  for (const proto::EdgeNames& part : batch.gone_edges()) indexer.Remove(part);
  for (const proto::GoneNodes& part : batch.gone_nodes()) indexer.Remove(part);
  for (const proto::GoneKeys& part : batch.gone_keys()) {
    index->RemoveKeys(part.node_type(), SpanOf(part.keys()), change.version());
  }
}

}  // namespace vicinity
