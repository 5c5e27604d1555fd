#include "sampler/shortened_lists.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/sampling_spec.h"
#include "proto/common/status.h"

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

}  // namespace

ShortenedListSampler::ShortenedListSampler(const OneHopOptions& options)
    : options_(options),
      uniform_(options.fanout, options.replace, options.stream),
      weighted_(options.fanout, options.replace, options.stream) {}

void ShortenedListSampler::FindOut(const ListPart& list, absl::Span<const ExcludedEdge> excluded) {
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
  before_.clear();
  for (const int64_t at : out_) before_.push_back(at - static_cast<int64_t>(before_.size()));
}

int64_t ShortenedListSampler::InList(int64_t i) const {
  return i + (std::upper_bound(before_.begin(), before_.end(), i) - before_.begin());
}

void ShortenedListSampler::ChooseUniform(const ListPart& list, uint64_t key, uint32_t tree) {
  const auto left = static_cast<uint64_t>(list.size()) - out_.size();
  chosen_.resize(uniform_.CountFor(left));
  uniform_.Choose(0, left, key, tree, chosen_.data());
}

void ShortenedListSampler::ChooseByWeight(const ListPart& list, uint64_t key, uint32_t tree) {
  list.WeightUnits(&units_);
  weights_.clear();
  auto next = out_.begin();
  for (int64_t i = 0; i < list.size(); ++i) {
    if (next != out_.end() && *next == i) {
      ++next;
    } else {
      weights_.push_back(static_cast<double>(units_[i]));
    }
  }
  table_.resize(weights_.size());
  tables_.Fill(weights_, absl::MakeSpan(table_));
  const WeightedList left = {table_.data(), 0, table_.size(), key, tree};
  chosen_.resize(weighted_.MostFor(left.degree));
  if (left.degree == 0) return;
  WeightedChooser::Attempts attempts;
  weighted_.Prepare(left, &attempts);
  chosen_.resize(weighted_.Choose(left, attempts, chosen_.data()));
}

void ShortenedListSampler::Sample(const ListPart& list, absl::Span<const ExcludedEdge> excluded,
                                  uint64_t key, uint32_t tree, Neighbors* out) {
  FindOut(list, excluded);
  if (options_.weighted) {
    ChooseByWeight(list, key, tree);
  } else {
    ChooseUniform(list, key, tree);
  }
  out->counts.push_back(static_cast<uint32_t>(chosen_.size()));
  for (const int64_t chosen : chosen_) {
    const int64_t at = InList(chosen);
    out->sources.push_back(list.source(at));
    if (options_.want_edge_ids) out->edge_ids.push_back(list.edge_id(at));
    if (options_.want_edge_positions) out->edge_positions.push_back(list.position(at));
  }
}

absl::Status SampleShortened(const ShardReader& reader, EdgeTypeId edge_type,
                             NodeTypeId target_type, const OwnerGroup& group,
                             absl::Span<const ExcludedEdge> excluded, const OneHopOptions& options,
                             Neighbors* out) {
  VICINITY_RETURN_IF_ERROR(CheckRows(group.rows, reader.num_targets(edge_type)));
  std::vector<uint64_t> keys(group.rows.size());
  VICINITY_RETURN_IF_ERROR(reader.ReadRows(
      reader.KeysColumn(target_type), group.rows, [] {},
      [&](size_t i, const char* key) { std::memcpy(&keys[i], key, sizeof(keys[i])); }));
  ShortenedListSampler sampler(options);
  size_t first = 0;
  for (size_t i = 0; i < group.rows.size(); ++i) {
    size_t end = first;
    while (end < excluded.size() && excluded[end].target == i) ++end;
    const NeighborsSize before(*out);
    int64_t size = 0;
    VICINITY_RETURN_IF_ERROR(
        reader.ReadList(edge_type, group.rows[i], 0, std::numeric_limits<int64_t>::max(),
                        [&](const ListPart& list) {
                          before.Restore(out);
                          size = list.size();
                          sampler.Sample(list, excluded.subspan(first, end - first), keys[i],
                                         group.trees.empty() ? 0 : group.trees[i], out);
                        }));
    if (options.fanout == kAllNeighbors && size > int64_t{UINT32_MAX}) {
      return absl::ResourceExhaustedError(
          absl::StrCat("row ", group.rows[i], " has ", size, " neighbours"));
    }
    first = end;
  }
  return absl::OkStatus();
}

}  // namespace vicinity
