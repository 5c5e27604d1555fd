#include "client/writes/told_change.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/types/write_values.h"
#include "partition/overlay/grown_ids.h"
#include "partition/overlay/live_base.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// Of one type in one shard: more than any has, and of no size that numbers could not take.
constexpr uint64_t kMaxNew = uint64_t{1} << 44;

template <typename Items>
bool Has(const Items& items, int32_t at) {
  return at >= 0 && static_cast<size_t>(at) < items.size();
}

// What a log entry has of one kind, checked against what it must be, and added up.
class Teller {
 public:
  Teller(const Schema& schema, const Book& book, ShardId shard)
      : schema_(schema), book_(book), shard_(shard) {}

  // False: it makes no sense.
  bool Tell(const proto::Change& change) {
    return TellNew(change) && TellValues(change.batch()) && TellGone(change.batch());
  }

  std::vector<ChangeCount> Counts() {
    std::vector<ChangeCount> counts;
    for (auto& [what, count] : counts_) {
      std::tie(count.kind, count.type, count.column) = what;
      counts.push_back(std::move(count));
    }
    return counts;
  }

 private:
  bool TellNew(const proto::Change& change) {
    const proto::WriteBatch& batch = change.batch();
    if (change.first_nodes_size() != batch.new_nodes_size() ||
        change.first_edges_size() != batch.new_edges_size()) {
      return false;
    }
    for (int p = 0; p < batch.new_nodes_size(); ++p) {
      const proto::NewNodes& part = batch.new_nodes(p);
      if (!Has(schema_.node_types, part.node_type())) return false;
      ChangeCount& count = Part(ChangeKind::kNewNodes, part.node_type());
      const GrownIds ids(book_.num_nodes({part.node_type()}), book_.num_shards());
      if (!AddNew(ids, change.first_nodes(p), part.keys_size(), &count.nodes)) return false;
      count.count += part.keys_size();
    }
    for (int p = 0; p < batch.new_edges_size(); ++p) {
      const proto::NewEdges& part = batch.new_edges(p);
      if (!Has(schema_.edge_types, part.edge_type()) ||
          part.sources_size() != part.targets_size()) {
        return false;
      }
      ChangeCount& count = Part(ChangeKind::kNewEdges, part.edge_type());
      const GrownIds ids(LiveBase::kFirstNewEdge, book_.num_shards());
      if (!AddNew(ids, change.first_edges(p), part.targets_size(), &count.edge_ids)) return false;
      Add(part.targets(), &count.nodes);
      Add(part.sources(), &count.sources);
      count.count += part.targets_size();
    }
    return true;
  }

  bool TellValues(const proto::WriteBatch& batch) {
    for (const auto& part : batch.node_rows()) {
      if (!Has(schema_.node_types, part.node_type()) ||
          !Has(schema_.node_types[part.node_type()].columns, part.column())) {
        return false;
      }
      const auto& columns = schema_.node_types[part.node_type()].columns;
      TellNodeValues(part.node_type(), columns[part.column()].name, part.nodes());
    }
    for (const auto& part : batch.node_ragged_rows()) {
      if (!Has(schema_.node_types, part.node_type()) ||
          !Has(schema_.node_types[part.node_type()].ragged, part.column())) {
        return false;
      }
      const auto& columns = schema_.node_types[part.node_type()].ragged;
      TellNodeValues(part.node_type(), columns[part.column()].name, part.nodes());
    }
    for (const auto& part : batch.edge_rows()) {
      const int32_t type = part.edges().edge_type();
      if (!Has(schema_.edge_types, type) || !Has(schema_.edge_types[type].columns, part.column()) ||
          !TellEdges(ChangeKind::kEdgeValues, schema_.edge_types[type].columns[part.column()].name,
                     part.edges())) {
        return false;
      }
    }
    return true;
  }

  template <typename Nodes>
  void TellNodeValues(int32_t type, const std::string& column, const Nodes& nodes) {
    ChangeCount& count = Part(ChangeKind::kNodeValues, type, column);
    Add(nodes, &count.nodes);
    count.count += nodes.size();
  }

  bool TellEdges(ChangeKind kind, const std::string& column, const proto::EdgeNames& edges) {
    if (edges.targets_size() != edges.edge_ids_size()) return false;
    ChangeCount& count = Part(kind, edges.edge_type(), column);
    Add(edges.targets(), &count.nodes);
    Add(edges.edge_ids(), &count.edge_ids);
    count.count += edges.targets_size();
    return true;
  }

  bool TellGone(const proto::WriteBatch& batch) {
    for (const auto& part : batch.gone_edges()) {
      if (!Has(schema_.edge_types, part.edge_type()) ||
          !TellEdges(ChangeKind::kRemovedEdges, "", part)) {
        return false;
      }
    }
    for (const auto& part : batch.gone_nodes()) {
      if (!Has(schema_.node_types, part.node_type())) return false;
      Add(part.nodes(), &Part(ChangeKind::kRemovedNodes, part.node_type()).nodes);
    }
    std::map<int32_t, int64_t> num_keys;
    for (const auto& part : batch.gone_keys()) {
      if (!Has(schema_.node_types, part.node_type())) return false;
      Part(ChangeKind::kRemovedNodes, part.node_type());
      num_keys[part.node_type()] += part.keys_size();
    }
    // A node may have both its in-edges and its key here.
    for (auto& [what, count] : counts_) {
      if (std::get<ChangeKind>(what) != ChangeKind::kRemovedNodes) continue;
      count.count = std::max<int64_t>(static_cast<int64_t>(count.nodes.size()),
                                      num_keys[std::get<int32_t>(what)]);
    }
    return true;
  }

  ChangeCount& Part(ChangeKind kind, int32_t type, const std::string& column = "") {
    return counts_[{kind, type, column}];
  }

  template <typename Ids>
  static void Add(const Ids& ids, std::vector<int64_t>* all) {
    for (const uint64_t id : ids) all->push_back(static_cast<int64_t>(id));
  }
  bool AddNew(const GrownIds& ids, uint64_t first, int count, std::vector<int64_t>* all) const {
    if (first >= kMaxNew) return false;
    for (int i = 0; i < count; ++i) {
      all->push_back(ids.IdOf(shard_, static_cast<int64_t>(first) + i));
    }
    return true;
  }

  const Schema& schema_;
  const Book& book_;
  const ShardId shard_;
  std::map<std::tuple<ChangeKind, int32_t, std::string>, ChangeCount> counts_;
};

}  // namespace

absl::StatusOr<ShardChange> TellChange(const Schema& schema, const Book& book, ShardId shard,
                                       const proto::Change& change) {
  Teller teller(schema, book, shard);
  if (!teller.Tell(change)) {
    return absl::InternalError(absl::StrCat("version ", change.version(), " of shard ", shard.value,
                                            ": a change that does not fit the schema"));
  }
  return ShardChange{shard.value,          change.version(),      change.term(),
                     change.unix_micros(), change.session().id(), teller.Counts()};
}

}  // namespace vicinity
