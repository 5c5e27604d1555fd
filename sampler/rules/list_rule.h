// Which edges of a list may be drawn, by what their columns say: DrawSpec's times and condition.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/condition.h"
#include "proto/common/ids.h"
#include "sampler/rules/condition_filter.h"
#include "sampler/rules/draw_spec.h"

namespace vicinity {

struct AllowedEdges {
  absl::Span<const int64_t> times;  // of the list's edges; empty: at any time
  TimeBounds within;                // with times: which of them
  bool all_within = false;          // with times: all are, and none is before an earlier one
  absl::Span<const uint8_t> meets;  // of the list's edges, 1: the condition holds; empty: for all

  bool all() const { return (times.empty() || all_within) && meets.empty(); }
  bool Has(int64_t i) const {
    return (times.empty() || within.Has(times[i])) && (meets.empty() || meets[i] != 0);
  }
  // Writes the positions of those of a list of `count` edges to `out`, which has room for all of
  // these: how many they are.
  int64_t List(int64_t count, int64_t* out) const;
};

// Threads: one at a time; keeps its memory from list to list.
class ListRule {
 public:
  explicit ListRule(const DrawSpec& spec);

  // Those that it reads, of the edge type.
  absl::Span<const int32_t> columns() const { return columns_; }

  // Of a list whose edges' values in columns()[k] lie at values[k], for a target of these bounds.
  // Good until the next call, and while the values are there.
  AllowedEdges Judge(absl::Span<const char* const> values, int64_t count, const TimeBounds& within);
  // The same, of edges in the order of their times, all of which are within the target's bounds.
  AllowedEdges JudgeWithin(absl::Span<const char* const> values, int64_t count);
  // The same as Judge, of a list or a part of one, wherever its values are. Errors as
  // ShardReader's.
  absl::StatusOr<AllowedEdges> ReadAndJudge(const ShardReader& reader, EdgeTypeId edge_type,
                                            const ListPart& list, const TimeBounds& within);

 private:
  const bool by_time_;
  const std::shared_ptr<const RowCondition> condition_;
  std::optional<ConditionFilter> filter_;
  std::vector<int32_t> columns_;  // that of times, if any, is the first
  std::vector<std::vector<char>> read_;
};

}  // namespace vicinity
