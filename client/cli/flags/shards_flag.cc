#include "client/cli/flags/shards_flag.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

constexpr int64_t kMostShards = 1'000'000;

absl::Status NotShards(absl::string_view piece, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("should be numbers and ranges, as 0,2-5, not \"", piece, "\"", why));
}

// 3 is from 3 to 3.
absl::StatusOr<std::pair<int32_t, int32_t>> ParseRange(absl::string_view piece) {
  const std::vector<absl::string_view> ends = absl::StrSplit(piece, '-');
  std::pair<int32_t, int32_t> range;
  if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &range.first) ||
      !absl::SimpleAtoi(ends.back(), &range.second)) {
    return NotShards(piece, "");
  }
  if (range.first > range.second) {
    return NotShards(piece, ", whose first is larger than its last");
  }
  if (int64_t{range.second} - range.first >= kMostShards) {
    return NotShards(piece, ", which are more than a million");
  }
  return range;
}

}  // namespace

absl::StatusOr<std::vector<int32_t>> ParseShards(absl::string_view text) {
  std::vector<int32_t> shards;
  std::set<int32_t> seen;
  for (const absl::string_view piece : absl::StrSplit(text, ',')) {
    VICINITY_ASSIGN_OR_RETURN(const auto range, ParseRange(piece));
    for (int64_t shard = range.first; shard <= range.second; ++shard) {
      if (!seen.insert(static_cast<int32_t>(shard)).second) continue;
      shards.push_back(static_cast<int32_t>(shard));
      if (static_cast<int64_t>(shards.size()) > kMostShards) {
        return NotShards(piece, ", which are more than a million");
      }
    }
  }
  return shards;
}

CLI::Option* AddShardsFlag(CLI::App* app, std::vector<int32_t>* shards, const std::string& help) {
  const CLI::Validator checked(
      [](std::string& value) {
        const absl::Status status = ParseShards(value).status();
        return status.ok() ? std::string() : std::string(status.message());
      },
      /*validator_desc=*/"");
  const auto take = [shards](const std::string& text) {
    absl::StatusOr<std::vector<int32_t>> parsed = ParseShards(text);
    if (parsed.ok()) *shards = *std::move(parsed);  // else `checked` has said so
  };
  return app->add_option_function<std::string>("--shards", take, help)
      ->type_name("N,N-M,...")
      ->check(checked);
}

}  // namespace vicinity::cli
