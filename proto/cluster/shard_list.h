// Shards as people write them.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/common/ids.h"

namespace vicinity {

// Numbers and ranges, both ends included: "7,0-2" are 7, 0, 1 and 2, in that order. InvalidArgument
// with the part that is neither, for a range that falls, a negative number, a shard that is there
// twice, and more than a million shards. Its text goes on behind the flag: "should be ...".
absl::StatusOr<std::vector<ShardId>> ParseShardList(absl::string_view text);

}  // namespace vicinity
