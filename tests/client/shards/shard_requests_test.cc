#include "client/shards/shard_requests.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/shards/fan_out.h"
#include "proto/common/ids.h"
#include "proto/limits.h"
#include "tests/client/pattern_shard.h"

namespace vicinity {
namespace {

TEST_CASE("a huge fanout does not give a hop hours to answer", "[shard_requests]") {
  const std::vector<uint64_t> rows = {5, 3, 3};
  const auto bytes = [&rows](int32_t fanout) {
    ShardHop hop;
    hop.relations = {{EdgeTypeId{0}, {fanout}, rows}};
    return hop.bytes();
  };
  CHECK(bytes(10) < bytes(1024));
  CHECK(bytes(1 << 20) == bytes(1024));
}

TEST_CASE("parts of a request are the request", "[shard_requests]") {
  const std::vector<uint64_t> asked = {9, 2, 4, 7};
  const std::vector<int64_t> positions = {3, 2, 0, 1};
  testing::PatternShard shard;
  std::vector<char> whole(20);
  std::vector<char> parts(20);
  ShardRows rows;
  rows.row_bytes = 5;
  SECTION("scattered") {
    rows.rows = asked;
    rows.positions = positions;
  }
  SECTION("in order") { rows.rows = asked; }
  SECTION("a range") {
    rows.first = 30;
    rows.count = 4;
  }
  rows.out = whole.data();
  const Done ignore = [](const absl::Status&) {};
  shard.Ask(rows, nullptr, ignore);
  rows.out = parts.data();
  for (const auto& [begin, end] : {std::pair(0, 1), std::pair(1, 4)}) {
    shard.Ask(rows.Part(begin, end), nullptr, ignore);
  }
  CHECK(parts == whole);

  std::vector<std::string> names(4);
  const ShardRagged all_names{NodeTypeId{0}, kNamesColumn, asked, positions, names.data()};
  std::vector<int64_t> nodes(4);
  const ShardKeys all_keys{NodeTypeId{0}, asked, positions, nodes.data()};
  for (const auto& [begin, end] : {std::pair(0, 3), std::pair(3, 4)}) {
    shard.Ask(all_names.Part(begin, end), nullptr, ignore);
    shard.Ask(all_keys.Part(begin, end), nullptr, ignore);
  }
  CHECK(names == std::vector<std::string>{"n4", "n7", "n2", "n9"});
  CHECK(nodes == std::vector<int64_t>{8, 14, 4, 18});
}

TEST_CASE("parts of a search have places of their own", "[shard_requests]") {
  constexpr int64_t kMost = kMaxRequestLooked;
  ShardFind find;
  find.first = 100;
  find.count = 2 * kMost + 5;
  REQUIRE(find.num_places() == 3);
  std::vector<FoundRows> places(3);
  find.out = places.data();
  CHECK(find.max_elements() == kMost);
  const ShardFind last = find.Part(2 * kMost, find.count);
  CHECK(last.first == 100 + 2 * kMost);
  CHECK(last.count == 5);
  CHECK(last.out == &places[2]);
  CHECK(last.num_places() == 1);
  const ShardFind middle = find.Part(kMost, 2 * kMost);
  CHECK(middle.out == &places[1]);
  CHECK(middle.num_places() == 1);
  places[0].rows = places[2].rows = {7};
  last.Forget();
  CHECK(places[2].rows.empty());
  CHECK(places[0].rows.size() == 1);
}

TEST_CASE("a search apart leaves the answer alone until it is taken", "[shard_requests]") {
  testing::PatternShard shard;
  std::vector<FoundRows> places(1);
  ShardFind find;
  find.count = 7;
  find.out = places.data();
  const RequestApart<ShardFind> apart = find.Apart();
  shard.Ask(apart.request, nullptr, [](const absl::Status&) {});
  CHECK(places[0].rows.empty());
  apart.take();
  CHECK(places[0].rows == std::vector<uint64_t>{0, 3, 6});
  CHECK(places[0].num_read == 7);
}

TEST_CASE("no part of a request is too large for one call", "[shard_requests]") {
  ShardRows rows;
  rows.row_bytes = 512;
  CHECK(rows.max_elements() * rows.row_bytes == kMaxCallBytes);
  rows.row_bytes = 2 * kMaxCallBytes;  // of a row that alone is too wide: one at a time
  CHECK(rows.max_elements() == 1);
  rows.row_bytes = 4;
  CHECK(rows.max_elements() == kMaxCallBytes / 4);  // a range names no ids
  const std::vector<uint64_t> one = {7};
  rows.rows = one;
  CHECK(rows.max_elements() == kMaxRequestIds);
  CHECK(kMaxRequestIds * 8 < kMaxRequestBytes);
}

TEST_CASE("every request has a place of its own in the list", "[shard_requests]") {
  CHECK(kRequestIndex<ShardHop> == 0);
  CHECK(kRequestIndex<ShardChanges> == ShardRequests::kSize - 1);
  CHECK(std::string(ShardHop::kMethod) == "SampleNeighbors");
}

}  // namespace
}  // namespace vicinity
