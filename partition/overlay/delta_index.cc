#include "partition/overlay/delta_index.h"

#include <algorithm>
#include <cstddef>

namespace vicinity {
namespace {

constexpr int64_t kListsAhead = 12;  // memory is asked for so many edges before their turn

}  // namespace

DeltaIndex::DeltaIndex(const Schema& schema, std::vector<int64_t> num_nodes,
                       std::vector<int64_t> num_edges)
    : keys_(num_nodes.size()), lists_(num_edges.size()) {
  for (int32_t type = 0; type < static_cast<int32_t>(num_nodes.size()); ++type) {
    nodes_.push_back({num_nodes[type]});
    const NodeTypeSpec& spec = schema.node_types[type];
    for (int32_t c = ShardPart::kKeys; c < static_cast<int32_t>(spec.columns.size()); ++c) {
      AddPart({ShardPart::kNodeRows, type, c}, num_nodes[type]);
    }
    for (int32_t c = kNamesColumn; c < static_cast<int32_t>(spec.ragged.size()); ++c) {
      AddPart({ShardPart::kRagged, type, c}, num_nodes[type]);
    }
  }
  for (int32_t type = 0; type < static_cast<int32_t>(num_edges.size()); ++type) {
    const EdgeTypeSpec& spec = schema.edge_types[type];
    NewEdgeRows& edges = edges_.emplace_back(NewEdgeRows{num_edges[type]});
    AddPart({ShardPart::kLists, type}, num_nodes[spec.target_type]);
    for (int32_t c = 0; c < static_cast<int32_t>(spec.columns.size()); ++c) {
      edges.columns.emplace_back(spec.columns[c].row_bytes());
      AddPart({ShardPart::kEdgeRows, type, c}, num_edges[type]);
    }
  }
}

void DeltaIndex::AddPart(const ShardPart& part, int64_t in_files) {
  parts_.emplace(NameOf(part), std::make_unique<PartRows>(in_files));
}

// Columns from kKeys on, which is -1, as names' is.
uint64_t DeltaIndex::NameOf(const ShardPart& part) {
  return static_cast<uint64_t>(part.kind) << 56 | static_cast<uint64_t>(part.type) << 24 |
         static_cast<uint64_t>(part.column + 1);
}

int64_t DeltaIndex::CountAt(const std::vector<Mark>& marks, uint64_t version) {
  const auto later =
      std::upper_bound(marks.begin(), marks.end(), version,
                       [](uint64_t v, const Mark& mark) { return v < mark.version; });
  return later == marks.begin() ? 0 : std::prev(later)->count;
}

uint64_t DeltaIndex::VersionOf(const std::vector<Mark>& marks, int64_t i) {
  return std::upper_bound(marks.begin(), marks.end(), i,
                          [](int64_t n, const Mark& mark) { return n < mark.count; })
      ->version;
}

void DeltaIndex::MarkCount(uint64_t version, int64_t count, std::vector<Mark>* marks) {
  if (marks->empty() || marks->back().version != version) marks->push_back({version, 0});
  marks->back().count = count;
}

void DeltaIndex::Put(uint64_t at, int64_t value, uint64_t version, Chains* chains) {
  const auto [found, is_new] = chains->try_emplace(at, Chain{version, value, -1});
  if (is_new) return;
  Chain& latest = found->second;
  if (latest.version != version) {
    older_.push_back(latest);
    latest = {version, value, static_cast<int64_t>(older_.size()) - 1};
  }
  latest.value = value;
}

const DeltaIndex::Chain* DeltaIndex::Find(const Chains& chains, uint64_t at,
                                          uint64_t version) const {
  const auto found = chains.find(at);
  if (found == chains.end()) return nullptr;
  const Chain* chain = &found->second;
  while (chain->version > version) {
    if (chain->older < 0) return nullptr;
    chain = &older_[chain->older];
  }
  return chain;
}

void DeltaIndex::AddRows(const ShardPart& part, absl::Span<const uint64_t> rows, uint64_t version) {
  PartRows& known = RowsOf(part);
  for (const uint64_t row : rows) {
    Put(row, kNoPlace, version, &known.chains);
    known.bits.Set(row);
  }
}

void DeltaIndex::AddNodes(int32_t type, absl::Span<const uint64_t> keys,
                          absl::Span<const uint64_t> nodes, uint64_t version) {
  NewNodeRows& added = nodes_[type];
  added.keys.Append(reinterpret_cast<const char*>(keys.data()), static_cast<int64_t>(keys.size()));
  for (size_t i = 0; i < keys.size(); ++i) {
    Put(keys[i], static_cast<int64_t>(nodes[i]), version, &keys_[type]);
  }
  MarkCount(version, added.keys.size(), &added.marks);
}

void DeltaIndex::RemoveKeys(int32_t type, absl::Span<const uint64_t> keys, uint64_t version) {
  for (const uint64_t key : keys) Put(key, -1, version, &keys_[type]);
}

void DeltaIndex::AddEdges(int32_t type, absl::Span<const uint64_t> sources,
                          absl::Span<const uint64_t> rows, absl::Span<const char* const> columns,
                          uint64_t version) {
  NewEdgeRows& added = edges_[type];
  const int64_t first = added.sources.size();
  const auto count = static_cast<int64_t>(sources.size());
  added.sources.Append(reinterpret_cast<const char*>(sources.data()), count);
  for (size_t c = 0; c < columns.size(); ++c) added.columns[c].Append(columns[c], count);
  ChangedBits& bits = RowsOf({ShardPart::kLists, type}).bits;
  absl::flat_hash_map<uint64_t, ListDelta>& lists = lists_[type];
  for (int64_t i = 0; i < count; ++i) {
    if (i + kListsAhead < count) lists.prefetch(rows[i + kListsAhead]);
    bits.Set(rows[i]);
    lists[rows[i]].added.push_back(first + i);
  }
  MarkCount(version, added.sources.size(), &added.marks);
}

ListDelta& DeltaIndex::ListOf(int32_t type, uint64_t row) {
  RowsOf({ShardPart::kLists, type}).bits.Set(row);
  return lists_[type][row];
}

ListDelta::Rare& DeltaIndex::RareOf(int32_t type, uint64_t row) {
  std::unique_ptr<ListDelta::Rare>& rare = ListOf(type, row).rare;
  if (rare == nullptr) rare = std::make_unique<ListDelta::Rare>();
  return *rare;
}

void DeltaIndex::RemoveEdge(int32_t type, uint64_t row, int64_t position, uint64_t version) {
  RareOf(type, row).gone.push_back({version, position});
}

void DeltaIndex::ClearList(int32_t type, uint64_t row, uint64_t version) {
  RareOf(type, row).cleared.push_back({version, edges_[type].sources.size()});
}

void DeltaIndex::Reweight(int32_t type, uint64_t row, uint64_t version) {
  std::vector<uint64_t>& versions = RareOf(type, row).reweighted;
  if (versions.empty() || versions.back() != version) versions.push_back(version);
}

int64_t DeltaIndex::NumNodes(int32_t type, uint64_t version) const {
  return nodes_[type].in_files + CountAt(nodes_[type].marks, version);
}

int64_t DeltaIndex::NumEdges(int32_t type, uint64_t version) const {
  return edges_[type].in_files + CountAt(edges_[type].marks, version);
}

const ChangedBits& DeltaIndex::MayChange(const ShardPart& part) const { return RowsOf(part).bits; }

DeltaIndex::RowFinder DeltaIndex::FinderOf(const ShardPart& part) const {
  const bool of_nodes = part.kind == ShardPart::kNodeRows || part.kind == ShardPart::kRagged;
  RowFinder finder;
  finder.index_ = this;
  finder.chains_ = &RowsOf(part).chains;
  finder.nodes_ = of_nodes ? &nodes_[part.type] : nullptr;
  return finder;
}

DeltaIndex::Row DeltaIndex::RowFinder::Find(uint64_t row, uint64_t version) const {
  if (const Chain* const chain = index_->DeltaIndex::Find(*chains_, row, version);
      chain != nullptr) {
    return {chain->version, chain->value};
  }
  if (nodes_ == nullptr) return {};
  const int64_t number = static_cast<int64_t>(row) - nodes_->in_files;
  if (number < 0 || number >= CountAt(nodes_->marks, version)) return {};
  return {VersionOf(nodes_->marks, number)};
}

// A new node's row that nobody has told of yet has no chain to put it in.
void DeltaIndex::SetPlace(const ShardPart& part, uint64_t row, uint64_t version, int64_t place) {
  Chains& chains = RowsOf(part).chains;
  const auto found = chains.find(row);
  if (found == chains.end()) {
    chains.emplace(row, Chain{version, place, -1});
    return;
  }
  Chain* chain = &found->second;
  while (chain->version > version && chain->older >= 0) chain = &older_[chain->older];
  if (chain->version == version) chain->value = place;
}

std::optional<int64_t> DeltaIndex::Node(int32_t type, uint64_t key, uint64_t version) const {
  const Chain* const chain = Find(keys_[type], key, version);
  if (chain == nullptr) return std::nullopt;
  return chain->value;
}

const ListDelta* DeltaIndex::List(int32_t type, uint64_t row) const {
  const auto found = lists_[type].find(row);
  return found == lists_[type].end() ? nullptr : &found->second;
}

int64_t DeltaIndex::memory_bytes() const {
  constexpr auto kSlot = static_cast<int64_t>(sizeof(Chains::value_type) + 1);
  auto bytes = static_cast<int64_t>(older_.capacity() * sizeof(Chain));
  for (const auto& [part, rows] : parts_) {
    bytes += rows->bits.memory_bytes() + kSlot * static_cast<int64_t>(rows->chains.capacity());
  }
  for (const Chains& keys : keys_) bytes += kSlot * static_cast<int64_t>(keys.capacity());
  for (const NewNodeRows& nodes : nodes_) bytes += nodes.keys.memory_bytes();
  for (const NewEdgeRows& edges : edges_) {
    bytes += edges.sources.memory_bytes();
    for (const RowBlocks& column : edges.columns) bytes += column.memory_bytes();
  }
  for (const auto& lists : lists_) {
    bytes += static_cast<int64_t>(lists.capacity() * (sizeof(ListDelta) + sizeof(uint64_t) + 1));
    for (const auto& [row, list] : lists) {
      bytes += static_cast<int64_t>(list.added.capacity() * sizeof(int64_t));
      if (list.rare == nullptr) continue;
      bytes += static_cast<int64_t>(sizeof(*list.rare) +
                                    list.rare->gone.capacity() * sizeof(ListDelta::Gone) +
                                    list.rare->cleared.capacity() * sizeof(ListDelta::Cleared) +
                                    list.rare->reweighted.capacity() * sizeof(uint64_t));
    }
  }
  return bytes;
}

}  // namespace vicinity
