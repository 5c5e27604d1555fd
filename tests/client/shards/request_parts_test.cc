#include "client/shards/request_parts.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "client/shards/shard_requests.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

struct Asked {
  std::vector<std::pair<int64_t, int64_t>> parts;  // first row, rows
  std::optional<absl::Status> end;

  // Rows 10 to 10 + count, three at a time; the part that begins at `bad` fails.
  void Run(int64_t count, int64_t bad = -1) {
    std::vector<char> room(count);
    ShardRows rows;
    rows.row_bytes = 1;
    rows.out = room.data();
    rows.first = 10;
    rows.count = count;
    AskInParts<ShardRows>(
        rows, 3, 2,
        [&](const ShardRows& part, const Done& done) {
          parts.emplace_back(part.first, part.count);
          done(part.first == bad ? absl::DataLossError("damaged") : absl::OkStatus());
        },
        [&](absl::Status status) { end = std::move(status); });
    REQUIRE(end.has_value());
  }
};

TEST_CASE("a request is asked for in parts, all of it once", "[request_parts]") {
  Asked asked;
  asked.Run(7);
  VICINITY_CHECK_OK(*asked.end);
  CHECK(asked.parts == std::vector<std::pair<int64_t, int64_t>>{{10, 3}, {13, 3}, {16, 1}});
}

TEST_CASE("what fits is asked for as it is, and nothing is asked of nothing", "[request_parts]") {
  Asked one;
  one.Run(3);
  CHECK(one.parts == std::vector<std::pair<int64_t, int64_t>>{{10, 3}});
  Asked none;
  none.Run(0);
  VICINITY_CHECK_OK(*none.end);
  CHECK(none.parts.empty());
}

TEST_CASE("after a part that failed no more are asked for", "[request_parts]") {
  Asked asked;
  asked.Run(20, 13);
  VICINITY_CHECK_CODE(*asked.end, absl::StatusCode::kDataLoss);
  CHECK(asked.parts.size() == 2);
}

}  // namespace
}  // namespace vicinity
