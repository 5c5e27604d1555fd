#include "proto/cluster/shard_list.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr size_t kMostShards = 1'000'000;

absl::Status NotShards(absl::string_view part, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("should be numbers and ranges, as 0,2-5, not \"", part, "\"", why));
}

// 3 is from 3 to 3.
absl::StatusOr<std::pair<int32_t, int32_t>> ParseRange(absl::string_view part) {
  const std::vector<absl::string_view> ends = absl::StrSplit(part, '-');
  std::pair<int32_t, int32_t> range;
  if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &range.first) ||
      !absl::SimpleAtoi(ends.back(), &range.second)) {
    return NotShards(part, "");
  }
  if (range.first > range.second) {
    return NotShards(part, ", whose first is larger than its last");
  }
  return range;
}

}  // namespace

absl::StatusOr<std::vector<ShardId>> ParseShardList(absl::string_view text) {
  std::vector<ShardId> shards;
  std::set<int32_t> seen;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    VICINITY_ASSIGN_OR_RETURN(const auto range, ParseRange(part));
    for (int64_t shard = range.first; shard <= range.second; ++shard) {
      const auto number = static_cast<int32_t>(shard);
      if (!seen.insert(number).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("should name each shard once, not ", number, " twice"));
      }
      if (shards.size() == kMostShards) return NotShards(part, ", which are more than a million");
      shards.push_back(ShardId{number});
    }
  }
  return shards;
}

}  // namespace vicinity
