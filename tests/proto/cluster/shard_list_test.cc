#include "proto/cluster/shard_list.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

std::vector<int32_t> Parsed(const std::string& text) {
  std::vector<int32_t> numbers;
  const auto shards = ParseShardList(text);
  VICINITY_REQUIRE_OK(shards);
  for (const ShardId shard : *shards) numbers.push_back(shard.value);
  return numbers;
}

TEST_CASE("shards are numbers and ranges", "[shard_list]") {
  CHECK(Parsed("3") == std::vector<int32_t>{3});
  CHECK(Parsed("0-3") == std::vector<int32_t>{0, 1, 2, 3});
  CHECK(Parsed("7,0-2,4") == std::vector<int32_t>{7, 0, 1, 2, 4});
  CHECK(Parsed("5-5") == std::vector<int32_t>{5});
  CHECK(Parsed("2147483647") == std::vector<int32_t>{2147483647});
  CHECK(Parsed("2147483646-2147483647").size() == 2);
}

TEST_CASE("what are no shards, or too many, is refused, and soon", "[shard_list]") {
  for (const char* text : {"", "x", "1,", ",1", "3-1", "-1", "1-2-3", "0-", "1..3", "2147483648",
                           "0-2147483647", "0-999999,1000000", "1,0-2", "3,3"}) {
    CAPTURE(text);
    VICINITY_CHECK_CODE(ParseShardList(text), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace vicinity
