#include "sampler/owner_groups.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/one_hop.h"
#include "sampler/sampled_graph.h"

namespace vicinity {
namespace {

// What of an edge the answers have.
EdgeDetail DetailOf(absl::Span<const Neighbors> answers) {
  EdgeDetail detail;
  for (const Neighbors& answer : answers) {
    detail.ids = detail.ids || !answer.edge_ids.empty();
    detail.positions = detail.positions || !answer.edge_positions.empty();
    detail.times = detail.times || !answer.edge_times.empty();
  }
  return detail;
}

// Of the only shard, whose rows are global ids.
OwnerGroup AllOf(absl::Span<const int64_t> targets, absl::Span<const uint32_t> trees,
                 absl::Span<const TimeBounds> times) {
  OwnerGroup group;
  group.shard = {0};
  group.rows.assign(targets.begin(), targets.end());
  group.positions.resize(targets.size());
  std::iota(group.positions.begin(), group.positions.end(), 0);
  group.trees.assign(trees.begin(), trees.end());
  group.times.assign(times.begin(), times.end());
  return group;
}

absl::Status CheckAnswer(const OwnerGroup& group, const Neighbors& answer, EdgeDetail detail) {
  const uint64_t counted = std::accumulate(answer.counts.begin(), answer.counts.end(), uint64_t{0});
  if (answer.counts.size() == group.rows.size() && counted == answer.sources.size() &&
      answer.edge_ids.size() == (detail.ids ? answer.sources.size() : 0) &&
      answer.edge_positions.size() == (detail.positions ? answer.sources.size() : 0) &&
      answer.edge_times.size() == (detail.times ? answer.sources.size() : 0)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "shard ", group.shard.value, " answered ", group.rows.size(), " targets with ",
      answer.counts.size(), " counts that sum to ", counted, ", ", answer.sources.size(),
      " neighbours, ", answer.edge_ids.size(), " edge ids, ", answer.edge_positions.size(),
      " edge positions and ", answer.edge_times.size(), " times"));
}

}  // namespace

std::vector<OwnerGroup> GroupByOwner(const Book& book, NodeTypeId type,
                                     absl::Span<const int64_t> targets,
                                     absl::Span<const uint32_t> trees,
                                     absl::Span<const TimeBounds> times) {
  if (book.num_shards() == 1 && !targets.empty()) return {AllOf(targets, trees, times)};
  std::vector<OwnerGroup> by_shard(book.num_shards());
  for (size_t i = 0; i < targets.size(); ++i) {
    const Book::Place place = book.PlaceOf(type, {targets[i]});
    OwnerGroup& group = by_shard[place.shard.value];
    group.rows.push_back(place.row.value);
    group.positions.push_back(static_cast<uint32_t>(i));
    if (!trees.empty()) group.trees.push_back(trees[i]);
    if (!times.empty()) group.times.push_back(times[i]);
  }
  std::vector<OwnerGroup> groups;
  for (int32_t shard = 0; shard < book.num_shards(); ++shard) {
    if (by_shard[shard].rows.empty()) continue;
    by_shard[shard].shard = {shard};
    groups.push_back(std::move(by_shard[shard]));
  }
  return groups;
}

std::vector<ExcludedEdge> ExcludedOf(const OwnerGroup& group,
                                     absl::Span<const ExcludedEdge> excluded) {
  std::vector<ExcludedEdge> of_group;
  auto next = group.positions.begin();  // they rise as well
  for (const ExcludedEdge& edge : excluded) {
    next = std::lower_bound(next, group.positions.end(), edge.target);
    if (next == group.positions.end()) break;
    if (*next != edge.target) continue;
    of_group.push_back({static_cast<uint32_t>(next - group.positions.begin()), edge.source});
  }
  return of_group;
}

absl::Status MergeByOwner(absl::Span<const OwnerGroup> groups, absl::Span<Neighbors> answers,
                          int64_t num_targets, Neighbors* out) {
  if (groups.size() != answers.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(answers.size(), " answers of ", groups.size(), " shards"));
  }
  const EdgeDetail detail = DetailOf(answers);
  if (answers.size() == 1 && static_cast<int64_t>(groups[0].rows.size()) == num_targets) {
    VICINITY_RETURN_IF_ERROR(CheckAnswer(groups[0], answers[0], detail));
    std::swap(*out, answers[0]);
    return absl::OkStatus();
  }
  out->Clear();
  out->counts.resize(num_targets);
  for (size_t g = 0; g < groups.size(); ++g) {
    VICINITY_RETURN_IF_ERROR(CheckAnswer(groups[g], answers[g], detail));
    for (size_t i = 0; i < groups[g].positions.size(); ++i) {
      out->counts[groups[g].positions[i]] = answers[g].counts[i];
    }
  }
  std::vector<int64_t> begins(num_targets + 1);
  for (int64_t i = 0; i < num_targets; ++i) begins[i + 1] = begins[i] + out->counts[i];
  // One array of all answers, each target's values to where its sources begin.
  const auto place = [&](std::vector<int64_t> Neighbors::*array) {
    (out->*array).resize(begins.back());
    for (size_t g = 0; g < groups.size(); ++g) {
      auto from = (answers[g].*array).begin();
      for (size_t i = 0; i < groups[g].positions.size(); ++i) {
        const uint32_t count = answers[g].counts[i];
        std::copy_n(from, count, (out->*array).begin() + begins[groups[g].positions[i]]);
        from += count;
      }
    }
  };
  place(&Neighbors::sources);
  if (detail.ids) place(&Neighbors::edge_ids);
  if (detail.positions) place(&Neighbors::edge_positions);
  if (detail.times) place(&Neighbors::edge_times);
  return absl::OkStatus();
}

}  // namespace vicinity
