#include "sampler/relations/listed_targets.h"

#include <algorithm>
#include <cstddef>

#include "proto/common/status.h"
#include "sampler/excluded_edges.h"
#include "sampler/local_sampler.h"
#include "sampler/owner_groups.h"

namespace vicinity {
namespace {

// Those of `values`, of each target one or none at all, that have these indexes.
template <typename T>
std::vector<T> At(absl::Span<const T> values, absl::Span<const uint32_t> indexes) {
  std::vector<T> some;
  if (values.empty()) return some;
  some.reserve(indexes.size());
  for (const uint32_t index : indexes) some.push_back(values[index]);
  return some;
}

// The counts from `first` on are those of the targets `listed`, of `num_targets`; makes them those
// of all.
void Spread(absl::Span<const uint32_t> listed, size_t num_targets, size_t first,
            std::vector<uint32_t>* counts) {
  counts->resize(first + num_targets);
  for (size_t k = listed.size(); k > 0; --k) {  // from the end: none is overwritten before it moves
    uint32_t& from = (*counts)[first + k - 1];
    const uint32_t count = from;
    from = 0;
    (*counts)[first + listed[k - 1]] = count;
  }
}

}  // namespace

ListedTargets::ListedTargets(const Schema& schema, const ShardReader& reader, NonemptyCache* cache)
    : schema_(schema), reader_(reader), cache_(cache), types_(schema.node_types.size()) {}

std::optional<absl::Span<const uint32_t>> ListedTargets::Of(EdgeTypeId edge_type,
                                                            absl::Span<const uint64_t> rows) {
  if (cache_ == nullptr) return std::nullopt;
  const int32_t target_type = schema_.edge_types[edge_type.value].target_type;
  OfType& of_type = types_[target_type];
  if (of_type.rows.data() != rows.data() || of_type.rows.size() != rows.size()) {
    Split({target_type}, rows, &of_type);
  }
  if (!of_type.is_known) {
    cache_->Find(reader_.shard(), {target_type}, static_cast<int64_t>(rows.size()));
    return std::nullopt;
  }
  if (reader_.ChangesLists(edge_type, rows)) return std::nullopt;
  return of_type.listed[cache_->NumberOf(edge_type)];
}

void ListedTargets::Split(NodeTypeId target_type, absl::Span<const uint64_t> rows,
                          OfType* of_type) {
  of_type->rows = rows;
  of_type->is_known = false;
  const NonemptyLists* const lists = cache_->Find(reader_.shard(), target_type, 0);
  if (lists == nullptr) return;
  // Rows that are not in the files are others' to refuse, or to know.
  const auto largest = std::max_element(rows.begin(), rows.end());
  if (largest != rows.end() && *largest >= static_cast<uint64_t>(lists->num_nodes())) return;
  of_type->listed.resize(lists->num_edge_types());
  for (std::vector<uint32_t>& listed : of_type->listed) listed.clear();
  lists->Split(rows, &of_type->listed);
  of_type->is_known = true;
}

absl::Status SampleListed(const ShardReader& reader, EdgeTypeId edge_type, NodeTypeId target_type,
                          absl::Span<const uint64_t> rows,
                          std::optional<absl::Span<const uint32_t>> listed,
                          const OneHopOptions& options, Neighbors* out) {
  const bool needs_times = options.time_column >= 0 || !options.times.empty();
  const bool is_sound = (options.trees.empty() || options.trees.size() == rows.size()) &&
                        (!needs_times || options.times.size() == rows.size());
  if (!listed.has_value() || listed->size() == rows.size() || !is_sound) {
    return SampleLists(reader, edge_type, target_type, rows, options, out);
  }
  const size_t first = out->counts.size();
  if (!listed->empty()) {
    OwnerGroup some;
    some.rows = At(rows, *listed);
    some.trees = At(options.trees, *listed);
    some.times = At(options.times, *listed);
    std::vector<ExcludedEdge> excluded;
    if (!options.excluded.empty()) {
      some.positions.assign(listed->begin(), listed->end());
      excluded = ExcludedOf(some, options.excluded);
    }
    OneHopOptions of_some = options;
    of_some.trees = some.trees;
    of_some.times = some.times;
    of_some.excluded = excluded;
    VICINITY_RETURN_IF_ERROR(SampleLists(reader, edge_type, target_type, some.rows, of_some, out));
  }
  Spread(*listed, rows.size(), first, &out->counts);
  return absl::OkStatus();
}

}  // namespace vicinity
