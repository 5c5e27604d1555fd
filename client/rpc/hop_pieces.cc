#include "client/rpc/hop_pieces.h"

#include <algorithm>
#include <utility>

#include "absl/numeric/int128.h"

namespace vicinity {
namespace {

// Excluded edges of one edge type in a request: 1.5 MiB. One target has no more (a batch of links
// that excludes edges is that large at most).
constexpr int64_t kMostExcluded = int64_t{1} << 17;

// Relations of the same targets, which a request names once.
std::vector<SamplePiece::Range> GroupByTargets(const ShardHop& hop) {
  std::vector<SamplePiece::Range> groups;
  for (int i = 0; i < static_cast<int>(hop.relations.size()); ++i) {
    const absl::Span<const uint64_t> rows = hop.relations[i].rows;
    if (rows.empty()) continue;
    const auto same = [&](const SamplePiece::Range& group) {
      return hop.relations[group.relations.front()].rows.data() == rows.data();
    };
    auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {0, static_cast<int64_t>(rows.size()), {}});
    }
    group->relations.push_back(i);
  }
  return groups;
}

// Of one target, over the relations of a group; all neighbours count as one.
int64_t SampledPerTarget(const ShardHop& hop, const SamplePiece::Range& group) {
  int64_t sampled = 0;
  for (const int relation : group.relations) {
    sampled += std::max<int64_t>(1, hop.relations[relation].spec.fanout);
  }
  return sampled;
}

// Of a group's targets from its first on, as many as have so few excluded edges that a request
// holds them; of one or two edge types there are some.
int64_t TargetsWithExcluded(const ShardHop& hop, const SamplePiece::Range& group) {
  int64_t targets = group.count;
  for (const int i : group.relations) {
    const absl::Span<const ExcludedEdge> excluded = hop.relations[i].excluded;
    const auto before = [](const ExcludedEdge& edge, int64_t row) { return edge.target < row; };
    const auto begin = std::lower_bound(excluded.begin(), excluded.end(), group.first, before);
    if (excluded.end() - begin <= kMostExcluded) continue;
    targets = std::min(targets, int64_t{(begin + kMostExcluded)->target} - group.first);
  }
  return targets;
}

// A target takes eight bytes of a request; its tree and its bounds of time come on top.
int64_t MaxTargets(const ShardHop& hop, const RequestLimits& limits) {
  constexpr int64_t kIdBytes = 8;
  int64_t each = kIdBytes;
  for (const ShardHop::Relation& relation : hop.relations) {
    const auto with_tree = relation.trees.empty() ? 0 : static_cast<int64_t>(sizeof(uint32_t));
    const auto with_times = relation.times.empty() ? 0 : static_cast<int64_t>(sizeof(TimeBounds));
    each = std::max(each, kIdBytes + with_tree + with_times);
  }
  return std::max<int64_t>(1, static_cast<int64_t>(absl::int128(limits.max_ids) * kIdBytes / each));
}

}  // namespace

std::vector<SamplePiece> CutHop(const ShardHop& hop, const RequestLimits& limits) {
  const int64_t max_targets = MaxTargets(hop, limits);
  std::vector<SamplePiece> pieces(1);
  int64_t ids_left = max_targets;
  int64_t sampled_left = limits.max_sampled;
  for (SamplePiece::Range group : GroupByTargets(hop)) {
    const int64_t sampled_each = SampledPerTarget(hop, group);
    while (group.count > 0) {
      int64_t room =
          std::min({ids_left, sampled_left / sampled_each, TargetsWithExcluded(hop, group)});
      if (room == 0 && pieces.back().ranges.empty()) room = 1;
      if (room > 0) {
        SamplePiece::Range range = group;
        range.count = std::min(room, group.count);
        ids_left -= range.count;
        sampled_left -= range.count * sampled_each;
        group.first += range.count;
        group.count -= range.count;
        pieces.back().ranges.push_back(std::move(range));
      }
      if (group.count > 0) {
        pieces.emplace_back();
        ids_left = max_targets;
        sampled_left = limits.max_sampled;
      }
    }
  }
  if (pieces.back().ranges.empty()) pieces.pop_back();
  return pieces;
}

}  // namespace vicinity
