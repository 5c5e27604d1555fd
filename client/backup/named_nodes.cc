#include "client/backup/named_nodes.h"

#include <algorithm>

namespace vicinity {
namespace {

std::vector<std::vector<int64_t>> NodesOf(const std::vector<ShardVersion>& versions) {
  std::vector<std::vector<int64_t>> nodes;
  for (const ShardVersion& version : versions) nodes.push_back(version.num_nodes);
  return nodes;
}

bool IsOneOf(int32_t type, size_t num_types) {
  return type >= 0 && static_cast<size_t>(type) < num_types;
}

}  // namespace

NamedNodes::NamedNodes(const Schema& schema, const Book& book,
                       const std::vector<ShardVersion>& kept,
                       const std::vector<ShardVersion>& there_are)
    : schema_(schema),
      book_(book),
      kept_(NodesOf(kept)),
      there_are_(NodesOf(there_are)),
      named_(kept.size(), std::vector<int64_t>(schema.node_types.size())) {}

void NamedNodes::Note(ShardId shard, const proto::Change& change) {
  const proto::WriteBatch& batch = change.batch();
  for (int p = 0; p < std::min(batch.new_nodes_size(), change.first_nodes_size()); ++p) {
    const NodeTypeId type{batch.new_nodes(p).node_type()};
    if (!IsOneOf(type.value, schema_.node_types.size())) continue;
    int64_t& rows = kept_[shard.value][type.value];
    rows =
        std::max(rows, book_.num_nodes(type, shard) + static_cast<int64_t>(change.first_nodes(p)) +
                           batch.new_nodes(p).keys_size());
  }
  for (const proto::NewEdges& part : batch.new_edges()) {
    if (!IsOneOf(part.edge_type(), schema_.edge_types.size())) continue;
    const NodeTypeId type{schema_.edge_types[part.edge_type()].source_type};
    for (const uint64_t source : part.sources()) {
      if (source < static_cast<uint64_t>(book_.num_nodes(type)) || source >= kMaxNodes) continue;
      const Book::Place place = book_.PlaceOf(type, {static_cast<int64_t>(source)});
      if (place.row.value >= there_are_[place.shard.value][type.value]) continue;
      int64_t& rows = named_[place.shard.value][type.value];
      rows = std::max(rows, place.row.value + 1);
    }
  }
}

bool NamedNodes::Lacks(ShardId shard) const {
  for (size_t t = 0; t < schema_.node_types.size(); ++t) {
    if (kept_[shard.value][t] < named_[shard.value][t]) return true;
  }
  return false;
}

}  // namespace vicinity
