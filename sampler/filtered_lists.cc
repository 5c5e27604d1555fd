#include "sampler/filtered_lists.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/status.h"
#include "sampler/rules/draw_spec.h"
#include "sampler/rules/matching_cache.h"

namespace vicinity {
namespace {

// From so many excluded edges on, each of the list's is looked up among them instead of each of
// them in the list.
constexpr size_t kManyExcluded = 32;

absl::Status CheckRows(absl::Span<const uint64_t> rows, int64_t num_targets) {
  for (const uint64_t row : rows) {
    if (row < static_cast<uint64_t>(num_targets)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("row ", row, " is not below ", num_targets, ", the number of target nodes"));
  }
  return absl::OkStatus();
}

absl::Status CheckTimes(const OwnerGroup& group, const OneHopOptions& options) {
  if (options.time_column < 0) return absl::OkStatus();
  if (group.times.size() == group.rows.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(group.times.size(), " times for ", group.rows.size(), " targets"));
}

// Appends value(at) of each of `chosen`.
template <typename Value>
void AppendEach(const std::vector<int64_t>& chosen, const Value& value, std::vector<int64_t>* out) {
  const size_t before = out->size();
  out->resize(before + chosen.size());
  int64_t* const to = out->data() + before;
  for (size_t i = 0; i < chosen.size(); ++i) to[i] = value(chosen[i]);
}

}  // namespace

FilteredListSampler::FilteredListSampler(const OneHopOptions& options)
    : options_(options),
      uniform_(options.fanout, options.replace, options.stream),
      weighted_(options.fanout, options.replace, options.stream) {
  if (DrawsByLayer(options)) by_layer_.emplace(options.fanout, options.stream);
}

void FilteredListSampler::FindOut(const ListPart& list, absl::Span<const ExcludedEdge> excluded) {
  out_.clear();
  if (excluded.size() < kManyExcluded) {
    for (const ExcludedEdge& edge : excluded) {
      for (int64_t at = list.Find(edge.source, 0); at < list.size();
           at = list.Find(edge.source, at + 1)) {
        out_.push_back(at);
      }
    }
    std::sort(out_.begin(), out_.end());
    out_.erase(std::unique(out_.begin(), out_.end()), out_.end());
  } else {
    absl::flat_hash_set<int64_t> sources;
    for (const ExcludedEdge& edge : excluded) sources.insert(edge.source);
    for (int64_t i = 0; i < list.size(); ++i) {
      if (sources.contains(list.source(i))) out_.push_back(i);
    }
  }
}

void FilteredListSampler::FindLeft(const ListPart& list, const Target& target) {
  FindOut(list, target.excluded);
  listed_ = !target.allowed.all();
  if (!listed_) {
    before_.clear();
    for (const int64_t at : out_) before_.push_back(at - static_cast<int64_t>(before_.size()));
    num_left_ = list.size() - static_cast<int64_t>(out_.size());
    return;
  }
  if (left_.size() < static_cast<size_t>(list.size())) left_.resize(list.size());
  num_left_ = target.allowed.List(list.size(), left_.data());
  if (out_.empty()) return;
  const auto is_out = [this](int64_t at) {
    return std::binary_search(out_.begin(), out_.end(), at);
  };
  num_left_ = std::remove_if(left_.begin(), left_.begin() + num_left_, is_out) - left_.begin();
}

int64_t FilteredListSampler::InList(int64_t i) const {
  if (listed_) return left_[i];
  return i + (std::upper_bound(before_.begin(), before_.end(), i) - before_.begin());
}

void FilteredListSampler::ChooseUniform(const Target& target) {
  chosen_.resize(uniform_.CountFor(num_left_));
  uniform_.Choose(0, num_left_, target.key, target.tree, chosen_.data());
}

// Of edges at the same time those that come later in the list.
void FilteredListSampler::ChooseLast(const Target& target) {
  const bool all = options_.fanout == kAllNeighbors || num_left_ <= options_.fanout;
  const bool are_at_the_end = all || target.allowed.all_within;
  const int64_t first = all || !are_at_the_end ? 0 : num_left_ - options_.fanout;
  chosen_.resize(num_left_ - first);
  std::iota(chosen_.begin(), chosen_.end(), first);
  if (are_at_the_end) return;
  const absl::Span<const int64_t> times = target.allowed.times;
  times_left_.resize(num_left_);
  for (int64_t i = 0; i < num_left_; ++i) times_left_[i] = times[left_[i]];
  const auto last = times_left_.end() - options_.fanout;  // the first that is chosen, by time
  std::nth_element(times_left_.begin(), last, times_left_.end());
  const int64_t since = *last;
  // All that are later, and of those at that very time as many as there is room for.
  auto skipped = std::count(times_left_.begin(), last, since);
  chosen_.clear();
  for (int64_t i = 0; i < num_left_; ++i) {
    const int64_t time = times[left_[i]];
    if (time < since || (time == since && skipped-- > 0)) continue;
    chosen_.push_back(i);
  }
}

void FilteredListSampler::FindUnitsLeft(const ListPart& list) {
  list.WeightUnits(&units_);
  units_left_.resize(num_left_);
  for (int64_t i = 0; i < num_left_; ++i) units_left_[i] = units_[InList(i)];
}

void FilteredListSampler::ChooseByWeight(const ListPart& list, const Target& target) {
  FindUnitsLeft(list);
  weighted_.Choose(units_left_, target.key, target.tree, &chosen_);
}

void FilteredListSampler::ChooseByLayer(const ListPart& list) {
  chosen_.resize(by_layer_->MostFor(num_left_));
  sources_.resize(num_left_);
  for (int64_t i = 0; i < num_left_; ++i) sources_[i] = list.source(InList(i));
  const absl::Span<const int64_t> sources = sources_;
  if (!options_.weighted) {
    by_layer_->Choose(sources, chosen_.data());
    return;
  }
  FindUnitsLeft(list);
  chosen_.resize(by_layer_->Choose(sources, units_left_, chosen_.data()));
}

void FilteredListSampler::Sample(const ListPart& list, const Target& target, Neighbors* out) {
  Choose(list, target);
  Append(list, target, out);
}

void FilteredListSampler::Choose(const ListPart& list, const Target& target) {
  FindLeft(list, target);
  if (by_layer_) {
    ChooseByLayer(list);
  } else if (options_.weighted) {
    ChooseByWeight(list, target);
  } else if (options_.last) {
    ChooseLast(target);
  } else {
    ChooseUniform(target);
  }
  for (int64_t& chosen : chosen_) chosen = InList(chosen);
}

void FilteredListSampler::Append(const ListPart& list, const Target& target, Neighbors* out) const {
  out->counts.push_back(static_cast<uint32_t>(chosen_.size()));
  AppendEach(
      chosen_, [&](int64_t at) { return list.source(at); }, &out->sources);
  if (options_.want_edge_ids) {
    AppendEach(
        chosen_, [&](int64_t at) { return list.edge_id(at); }, &out->edge_ids);
  }
  if (options_.want_edge_positions) {
    AppendEach(
        chosen_, [&](int64_t at) { return list.position(at); }, &out->edge_positions);
  }
  if (options_.want_edge_times) {
    const int64_t* const times = target.allowed.times.data();
    AppendEach(
        chosen_, [times](int64_t at) { return times[at]; }, &out->edge_times);
  }
}

namespace {

// What of a group's rows may be drawn, one row after the other.
class Targets {
 public:
  Targets(const OwnerGroup& group, absl::Span<const ExcludedEdge> excluded,
          const OneHopOptions& options)
      : group_(group), excluded_(excluded), options_(options) {}

  void Start() { first_ = 0; }
  // Of the next row, which is the group's i-th; what its list says is for the caller to add.
  FilteredListSampler::Target Next(size_t i) {
    size_t end = first_;
    while (end < excluded_.size() && excluded_[end].target == i) ++end;
    FilteredListSampler::Target target;
    target.excluded = excluded_.subspan(first_, end - first_);
    target.tree = group_.trees.empty() ? 0 : group_.trees[i];
    first_ = end;
    return target;
  }
  TimeBounds TimesOf(size_t i) const {
    return options_.time_column >= 0 ? group_.times[i] : TimeBounds();
  }

 private:
  const OwnerGroup& group_;
  const absl::Span<const ExcludedEdge> excluded_;
  const OneHopOptions& options_;
  size_t first_ = 0;  // of the excluded edges, those of rows to come
};

// How many rows ahead memory is asked for the weights of their lists: the offsets have come by
// then.
constexpr size_t kWeightsAhead = 8;

// The beginning of the table of row i's list: long ones follow of themselves.
void PrefetchWeights(const EdgeTable& edges, absl::Span<const uint64_t> rows, size_t i) {
  if (i >= rows.size() || !edges.has_list(static_cast<int64_t>(rows[i]))) return;
  constexpr int64_t kEntriesOfALine = 64 / sizeof(AliasEntry);
  const auto row = static_cast<int64_t>(rows[i]);
  const AliasEntry* const table = edges.weights.data() + edges.begin(row);
  const int64_t most = std::min(4 * kEntriesOfALine, edges.degree(row));
  for (int64_t at = 0; at <= most; at += kEntriesOfALine) __builtin_prefetch(table + at);
}

// Of lists that are as in the files.
absl::Status SampleFiles(const ShardReader& reader, EdgeTypeId edge_type, NodeTypeId target_type,
                         const OwnerGroup& group, const OneHopOptions& options, ListRule* rule,
                         Targets* targets, Neighbors* out) {
  VICINITY_RETURN_IF_ERROR(CheckRows(group.rows, reader.num_targets(edge_type)));
  FilteredListSampler sampler(options);
  const NeighborsSize before(*out);
  const EdgeTable& edges = reader.shard().edges(edge_type);
  int64_t edges_read = 0;
  VICINITY_RETURN_IF_ERROR(reader.ReadWholeLists(
      edge_type, target_type, rule->columns(), group.rows,
      [&] {
        before.Restore(out);
        targets->Start();
      },
      [&](size_t i, uint64_t key, const ListPart& list, absl::Span<const char* const> values) {
        edges_read += list.size();
        if (options.weighted) PrefetchWeights(edges, group.rows, i + kWeightsAhead);
        FilteredListSampler::Target target = targets->Next(i);
        target.key = key;
        target.allowed = rule->Judge(values, list.size(), targets->TimesOf(i));
        sampler.Sample(list, target, out);
      }));
  if (options.matching_cache != nullptr && DrawsByMatching(options)) {
    options.matching_cache->CountRead(reader.shard(), edge_type, options.where, edges_read);
  }
  return absl::OkStatus();
}

// Whether more is read of a list than the edges that are drawn.
bool GoesThrough(const OneHopOptions& options, const FilteredListSampler::Target& target) {
  return options.fanout == kAllNeighbors || options.where || DrawsByLayer(options) ||
         !target.excluded.empty();
}

// Of lists that are as in the files and in the order of time: what is not within the targets' times
// is not even looked at. Not by weight.
absl::Status SampleInTimeOrder(const ShardReader& reader, EdgeTypeId edge_type,
                               NodeTypeId target_type, const OwnerGroup& group,
                               const OneHopOptions& options, ListRule* rule, Targets* targets,
                               Neighbors* out) {
  VICINITY_RETURN_IF_ERROR(CheckRows(group.rows, reader.num_targets(edge_type)));
  FilteredListSampler sampler(options);
  const NeighborsSize before(*out);
  return reader.ReadOrderedLists(
      edge_type, target_type, rule->columns(), group.rows,
      [&] {
        before.Restore(out);
        targets->Start();
      },
      [&](size_t i) {
        const TimeBounds times = targets->TimesOf(i);
        return std::pair(times.from, times.until);
      },
      [&](size_t i, uint64_t key, const ListPart& list,
          absl::Span<const char* const> values) -> absl::Status {
        FilteredListSampler::Target target = targets->Next(i);
        target.key = key;
        const auto touch = [&](int64_t first, int64_t count) {
          return reader.TouchPart(edge_type, rule->columns(), list, first, count);
        };
        const bool goes_through = GoesThrough(options, target);
        if (goes_through) VICINITY_RETURN_IF_ERROR(touch(0, list.size()));
        target.allowed = rule->JudgeWithin(values, list.size());
        sampler.Choose(list, target);
        for (const int64_t at : sampler.chosen()) {
          if (!goes_through) VICINITY_RETURN_IF_ERROR(touch(at, 1));
        }
        sampler.Append(list, target, out);
        return absl::OkStatus();
      });
}

// Of any: one by one.
absl::Status SampleAny(const ShardReader& reader, EdgeTypeId edge_type, NodeTypeId target_type,
                       const OwnerGroup& group, const OneHopOptions& options, ListRule* rule,
                       Targets* targets, Neighbors* out) {
  const bool changes_lists = reader.ChangesLists(edge_type, group.rows);
  for (const uint64_t row : group.rows) {  // one that has changed may be new
    if (changes_lists) {
      VICINITY_ASSIGN_OR_RETURN(const ChangedListPtr list, reader.FindChangedList(edge_type, row));
      if (list != nullptr) continue;
    }
    VICINITY_RETURN_IF_ERROR(CheckRows({row}, reader.num_targets(edge_type)));
  }
  std::vector<uint64_t> keys(group.rows.size());
  VICINITY_RETURN_IF_ERROR(reader.ReadRows(
      reader.KeysColumn(target_type), group.rows, [] {},
      [&](size_t i, const char* key) { std::memcpy(&keys[i], key, sizeof(keys[i])); }));
  FilteredListSampler sampler(options);
  for (size_t i = 0; i < group.rows.size(); ++i) {
    FilteredListSampler::Target target = targets->Next(i);
    target.key = keys[i];
    const NeighborsSize before(*out);
    absl::StatusOr<AllowedEdges> allowed = AllowedEdges();
    VICINITY_RETURN_IF_ERROR(reader.ReadList(
        edge_type, group.rows[i], 0, std::numeric_limits<int64_t>::max(),
        [&](const ListPart& list) {
          before.Restore(out);
          allowed = rule->ReadAndJudge(reader, edge_type, list, targets->TimesOf(i));
          if (!allowed.ok()) return;
          target.allowed = *allowed;
          sampler.Sample(list, target, out);
        }));
    VICINITY_RETURN_IF_ERROR(allowed.status());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SampleFiltered(const ShardReader& reader, EdgeTypeId edge_type, NodeTypeId target_type,
                            const OwnerGroup& group, absl::Span<const ExcludedEdge> excluded,
                            const OneHopOptions& options, Neighbors* out) {
  VICINITY_RETURN_IF_ERROR(CheckTimes(group, options));
  Targets targets(group, excluded, options);
  ListRule rule(options);
  const auto is_changed = [&](int32_t column) {
    return !reader.IsUnchanged(reader.EdgeColumn(edge_type, column));
  };
  if (reader.ChangesLists(edge_type, group.rows) ||
      std::any_of(rule.columns().begin(), rule.columns().end(), is_changed)) {
    return SampleAny(reader, edge_type, target_type, group, options, &rule, &targets, out);
  }
  if (options.in_time_order && !options.weighted) {
    return SampleInTimeOrder(reader, edge_type, target_type, group, options, &rule, &targets, out);
  }
  return SampleFiles(reader, edge_type, target_type, group, options, &rule, &targets, out);
}

}  // namespace vicinity
