#include "partition/overlay/live_view.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "partition/writing/weight_table.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

std::vector<int64_t> NumNodes(const LiveBase& base) {
  std::vector<int64_t> counts;
  for (size_t type = 0; type < base.schema.node_types.size(); ++type) {
    counts.push_back(base.NodesInFiles(static_cast<int32_t>(type)));
  }
  return counts;
}

std::vector<int64_t> NumEdges(const LiveBase& base) {
  std::vector<int64_t> counts;
  for (size_t type = 0; type < base.schema.edge_types.size(); ++type) {
    counts.push_back(base.EdgesInFiles(static_cast<int32_t>(type)));
  }
  return counts;
}

bool IsOfNodes(const ShardPart& part) {
  return part.kind == ShardPart::kNodeRows || part.kind == ShardPart::kRagged;
}

// Of one of a column's.
int64_t RowBytes(const Schema& schema, const ShardPart& part) {
  return part.kind == ShardPart::kEdgeRows
             ? schema.edge_types[part.type].columns[part.column].row_bytes()
             : schema.node_types[part.type].columns[part.column].row_bytes();
}

bool IsKeys(const ShardPart& part) {
  return part.kind == ShardPart::kNodeRows && part.column == ShardPart::kKeys;
}

// How many of `events`, which rise by version, there have been.
template <typename Event, typename VersionOf>
size_t CountUntil(const std::vector<Event>& events, uint64_t version, const VersionOf& version_of) {
  return std::partition_point(events.begin(), events.end(),
                              [&](const Event& event) { return version_of(event) <= version; }) -
         events.begin();
}

}  // namespace

LiveState::LiveState(const LiveBase& live_base, std::unique_ptr<DeltaStore> delta_store,
                     int64_t row_cache_bytes, int64_t list_cache_bytes)
    : base(live_base),
      files(base.shard),
      store(std::move(delta_store)),
      index(base.schema, NumNodes(base), NumEdges(base)),
      rows(row_cache_bytes),
      lists(list_cache_bytes) {}

int64_t LiveView::RowsInFiles(const ShardPart& part) const {
  if (part.kind == ShardPart::kEdgeRows) return state_.base.EdgesInFiles(part.type);
  if (part.kind != ShardPart::kLists) return state_.base.NodesInFiles(part.type);
  return state_.files.num_targets({part.type});
}

bool LiveView::MayChange(const ShardPart& part, absl::Span<const uint64_t> rows) const {
  const auto in_files = static_cast<uint64_t>(RowsInFiles(part));
  bool any_new = false;
  for (const uint64_t row : rows) any_new |= row >= in_files;
  if (any_new) return true;
  const ChangedBits& bits = state_.index.MayChange(part);
  return bits.any() &&
         std::any_of(rows.begin(), rows.end(), [&](uint64_t row) { return bits.Has(row); });
}

bool LiveView::Changes(const ShardPart& part, absl::Span<const uint64_t> rows) const {
  if (part.kind != ShardPart::kDirectory) return MayChange(part, rows);
  const std::shared_lock<std::shared_mutex> lock(state_.mu);
  return state_.index.HasKeys(part.type) &&
         std::any_of(rows.begin(), rows.end(), [&](uint64_t key) {
           return state_.index.Node(part.type, key, version_).has_value();
         });
}

bool LiveView::ChangesRange(const ShardPart& part, int64_t first, int64_t count) const {
  return (count > 0 && first + count > RowsInFiles(part)) || state_.index.MayChange(part).any();
}

int64_t LiveView::NumRows(const ShardPart& part, int64_t in_files) const {
  const std::shared_lock<std::shared_mutex> lock(state_.mu);
  if (part.kind == ShardPart::kEdgeRows) return state_.index.NumEdges(part.type, version_);
  if (IsOfNodes(part)) return state_.index.NumNodes(part.type, version_);
  return in_files;
}

// Of a call's rows those that only the store has.
struct LiveView::Missing {
  std::vector<size_t> positions;
  std::vector<RowPlace> places;
};

std::vector<size_t> LiveView::MayBeOthers(const ShardPart& part,
                                          absl::Span<const uint64_t> rows) const {
  const ChangedBits& bits = state_.index.MayChange(part);
  const auto in_files = static_cast<uint64_t>(RowsInFiles(part));
  std::vector<size_t> positions;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] >= in_files || bits.Has(rows[i])) positions.push_back(i);
  }
  return positions;
}

// Each look at a row is a miss of the processor's caches, so each is asked for some rows ahead:
// first what is known of a row, then the row.
void LiveView::TakeKnown(const ShardPart& part, absl::Span<const uint64_t> rows,
                         ChangedRows* changed, Missing* missing) const {
  constexpr size_t kAhead = 8;
  const std::vector<size_t> positions = MayBeOthers(part, rows);
  std::vector<DeltaIndex::Row> found(positions.size());
  const auto row_at = [&](size_t k) { return rows[positions[k]]; };
  const std::shared_lock<std::shared_mutex> lock(state_.mu);
  if (IsKeys(part)) return TakeKeys(part.type, rows, positions, changed);
  const DeltaIndex::RowFinder finder = state_.index.FinderOf(part);
  for (size_t k = 0; k < positions.size() + kAhead; ++k) {
    if (k < positions.size()) finder.Prefetch(row_at(k));
    if (k >= kAhead) found[k - kAhead] = finder.Find(row_at(k - kAhead), version_);
  }
  const HotRows::Part hot = state_.rows.PartOf(DeltaIndex::NameOf(part));
  for (size_t k = 0; k < positions.size() + kAhead; ++k) {
    if (k < positions.size()) hot.Prefetch(found[k].place);
    if (k >= kAhead) {
      TakeRow(part, {positions[k - kAhead], row_at(k - kAhead), found[k - kAhead]}, hot, changed,
              missing);
    }
  }
}

void LiveView::TakeKeys(int32_t type, absl::Span<const uint64_t> rows,
                        absl::Span<const size_t> positions, ChangedRows* changed) const {
  const auto in_files = static_cast<uint64_t>(state_.base.NodesInFiles(type));
  for (const size_t i : positions) {
    const uint64_t key = state_.index.key(type, static_cast<int64_t>(rows[i] - in_files));
    changed->Set(i, {reinterpret_cast<const char*>(&key), sizeof(key)});
  }
}

void LiveView::TakeRow(const ShardPart& part, const Sought& sought, const HotRows::Part& hot,
                       ChangedRows* changed, Missing* missing) const {
  const auto& [position, row, found] = sought;
  const auto in_files = static_cast<uint64_t>(RowsInFiles(part));
  if (found.version == 0) {
    if (row < in_files) return;  // at a later version
    changed->Set(position, {state_.index.edge_row(part.type, part.column,
                                                  static_cast<int64_t>(row - in_files)),
                            static_cast<size_t>(RowBytes(state_.base.schema, part))});
  } else if (const char* const kept = hot.Find(found.place, {row, found.version});
             kept != nullptr) {
    changed->Set(position, {kept, static_cast<size_t>(RowBytes(state_.base.schema, part))});
  } else {
    missing->positions.push_back(position);
    missing->places.push_back({part, row, found.version});
  }
}

absl::Status LiveView::ReadRows(const ShardPart& part, absl::Span<const uint64_t> rows,
                                ChangedRows* changed) const {
  Missing missing;
  TakeKnown(part, rows, changed, &missing);
  if (missing.places.empty()) return absl::OkStatus();
  VICINITY_RETURN_IF_ERROR(state_.store->ReadRows(
      missing.places,
      [&](size_t i, std::string_view value) { changed->Set(missing.positions[i], value); }));
  if (part.kind == ShardPart::kRagged) return absl::OkStatus();  // slots are of one width
  const uint64_t name = DeltaIndex::NameOf(part);
  const std::unique_lock<std::shared_mutex> lock(state_.mu);
  for (size_t i = 0; i < missing.places.size(); ++i) {
    const RowPlace& place = missing.places[i];
    const int64_t slot =
        state_.rows.Keep(name, {place.row, place.version}, *changed->row(missing.positions[i]));
    state_.index.SetPlace(part, place.row, place.version, slot);
  }
  return absl::OkStatus();
}

std::optional<int64_t> LiveView::Node(int32_t node_type, uint64_t key) const {
  const std::shared_lock<std::shared_mutex> lock(state_.mu);
  return state_.index.Node(node_type, key, version_);
}

LiveView::Difference LiveView::DifferenceOf(int32_t edge_type, const ListDelta& delta) const {
  const DeltaIndex& index = state_.index;
  const int64_t num_new = index.NumEdges(edge_type, version_) - index.edges_in_files(edge_type);
  const auto added_end = std::lower_bound(delta.added.begin(), delta.added.end(), num_new);
  Difference difference;
  difference.changes = added_end - delta.added.begin();
  auto added_begin = delta.added.begin();
  if (delta.rare != nullptr) {
    const ListDelta::Rare& rare = *delta.rare;
    const size_t gone =
        CountUntil(rare.gone, version_, [](const auto& event) { return event.version; });
    const size_t cleared =
        CountUntil(rare.cleared, version_, [](const auto& event) { return event.version; });
    difference.changes +=
        gone + cleared + CountUntil(rare.reweighted, version_, [](uint64_t v) { return v; });
    for (size_t i = 0; i < gone; ++i) difference.gone.push_back(rare.gone[i].position);
    std::sort(difference.gone.begin(), difference.gone.end());
    if (cleared > 0) {
      difference.cleared = true;
      added_begin =
          std::lower_bound(added_begin, added_end, rare.cleared[cleared - 1].edges_before);
    }
  }
  for (auto number = added_begin; number != added_end; ++number) {
    const int64_t position = index.edges_in_files(edge_type) + *number;
    if (std::binary_search(difference.gone.begin(), difference.gone.end(), position)) continue;
    difference.added.push_back(*number);
    difference.sources.push_back(index.source(edge_type, *number));
  }
  return difference;
}

LiveView::Difference LiveView::FindDifference(int32_t edge_type, uint64_t row) const {
  const std::shared_lock<std::shared_mutex> lock(state_.mu);
  const ListDelta* const delta = state_.index.List(edge_type, row);
  return delta == nullptr ? Difference() : DifferenceOf(edge_type, *delta);
}

std::vector<uint64_t> LiveView::SourcesOfNewEdges(int32_t edge_type, int64_t first,
                                                  int64_t most) const {
  std::vector<uint64_t> sources;
  const std::shared_lock<std::shared_mutex> lock(state_.mu);
  const DeltaIndex& index = state_.index;
  const int64_t num_new = index.NumEdges(edge_type, version_) - index.edges_in_files(edge_type);
  for (int64_t i = first; i < std::min(num_new, first + most); ++i) {
    sources.push_back(index.source(edge_type, i));
  }
  return sources;
}

absl::StatusOr<ChangedListPtr> LiveView::List(int32_t edge_type, uint64_t row) const {
  const ShardPart part = {ShardPart::kLists, edge_type};
  if (!MayChange(part, {row})) return nullptr;
  const Difference difference = FindDifference(edge_type, row);
  const bool is_new = row >= static_cast<uint64_t>(RowsInFiles(part));
  if (difference.changes == 0 && !is_new) return nullptr;
  const ListCache::Key key = {edge_type, row, difference.changes};
  if (ChangedListPtr list = state_.lists.Find(key); list != nullptr) return list;
  VICINITY_ASSIGN_OR_RETURN(ChangedListPtr list, MakeList(edge_type, row, difference));
  state_.lists.Keep(key, list);
  return list;
}

absl::StatusOr<ChangedListPtr> LiveView::MakeList(int32_t edge_type, uint64_t row,
                                                  const Difference& difference) const {
  auto list = std::make_shared<ChangedList>();
  VICINITY_RETURN_IF_ERROR(AddFromFiles(edge_type, row, difference, list.get()));
  AddNew(edge_type, difference, list.get());
  VICINITY_RETURN_IF_ERROR(AddWeights(edge_type, list.get()));
  return list;
}

absl::Status LiveView::AddFromFiles(int32_t edge_type, uint64_t row, const Difference& difference,
                                    ChangedList* list) const {
  const bool in_files = row < static_cast<uint64_t>(state_.files.num_targets({edge_type}));
  if (difference.cleared || !in_files) return absl::OkStatus();
  return state_.files.ReadList(
      {edge_type}, row, 0, std::numeric_limits<int64_t>::max(), [&](const ListPart& part) {
        *list = ChangedList();
        for (int64_t i = 0; i < part.size(); ++i) {
          const int64_t position = part.position(i);
          if (std::binary_search(difference.gone.begin(), difference.gone.end(), position))
            continue;
          list->sources.push_back(static_cast<uint64_t>(part.source(i)));
          list->edge_ids.push_back(static_cast<uint64_t>(part.edge_id(i)));
          list->positions.push_back(position);
        }
      });
}

void LiveView::AddNew(int32_t edge_type, const Difference& difference, ChangedList* list) const {
  const GrownIds ids = state_.base.EdgeIds(edge_type);
  const int64_t in_files = state_.base.EdgesInFiles(edge_type);
  for (size_t i = 0; i < difference.added.size(); ++i) {
    const int64_t number = difference.added[i];
    list->sources.push_back(difference.sources[i]);
    list->edge_ids.push_back(static_cast<uint64_t>(ids.IdOf(state_.base.shard.id(), number)));
    list->positions.push_back(in_files + number);
  }
}

absl::Status LiveView::AddWeights(int32_t edge_type, ChangedList* list) const {
  const EdgeTypeSpec& type = state_.base.schema.edge_types[edge_type];
  if (type.weight_column.empty() || list->positions.empty()) return absl::OkStatus();
  const int column = type.FindColumn(type.weight_column);
  const ShardReader reader(state_.base.shard, this);
  const ShardColumn weights = reader.EdgeColumn({edge_type}, column);
  const std::vector<uint64_t> rows(list->positions.begin(), list->positions.end());
  std::string values;
  VICINITY_RETURN_IF_ERROR(reader.ReadRows(
      weights, rows, [&] { values.clear(); },
      [&](size_t, const char* row) { values.append(row, weights.row_bytes()); }));
  const uint64_t offsets[] = {0, rows.size()};
  WeightedLists lists;
  lists.offsets = offsets;
  lists.edge_ids = IdArray(absl::MakeConstSpan(list->edge_ids));
  lists.weights = {values.data(), static_cast<int64_t>(rows.size()), weights.row_bytes(), nullptr};
  lists.dtype = type.columns[column].dtype;
  WeightTable table(lists);
  VICINITY_ASSIGN_OR_RETURN(const absl::Span<const AliasEntry> entries, table.Make(0));
  list->weights.assign(entries.begin(), entries.end());
  return absl::OkStatus();
}

}  // namespace vicinity
