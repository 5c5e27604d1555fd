#include "client/rpc/hop_pieces.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "partition/schema/sampling_spec.h"
#include "sampler/excluded_edges.h"

namespace vicinity {
namespace {

// Two relations into one type of 10 targets, one into another of 4.
struct SmallHop {
  std::vector<uint64_t> first = std::vector<uint64_t>(10);
  std::vector<uint64_t> second = std::vector<uint64_t>(4);
  ShardHop hop;

  SmallHop(int64_t fanout_a, int64_t fanout_b, int64_t fanout_c) {
    hop.relations = {{EdgeTypeId{0}, {fanout_a}, first},
                     {EdgeTypeId{1}, {fanout_b}, second},
                     {EdgeTypeId{2}, {fanout_c}, first}};
  }
};

TEST_CASE("a hop that fits is one request, each target in it once", "[hop_pieces]") {
  const SmallHop small(5, 3, kAllNeighbors);
  const std::vector<SamplePiece> pieces = CutHop(small.hop, {14, 10 * 6 + 4 * 3});
  REQUIRE(pieces.size() == 1);
  REQUIRE(pieces[0].ranges.size() == 2);
  CHECK(pieces[0].ranges[0].count == 10);
  CHECK(pieces[0].ranges[0].relations == std::vector<int>{0, 2});
  CHECK(pieces[0].ranges[1].count == 4);
  CHECK(pieces[0].ranges[1].relations == std::vector<int>{1});
}

TEST_CASE("every target is asked once along each edge type, within the limits", "[hop_pieces]") {
  const auto max_ids = GENERATE(1, 2, 3, 7, 13, 1000);
  const auto max_sampled = GENERATE(8, 9, 16, 50, 1000);
  const SmallHop small(5, 4, 3);
  int64_t next[3] = {0, 0, 0};
  for (const SamplePiece& piece : CutHop(small.hop, {max_ids, max_sampled})) {
    int64_t ids = 0;
    int64_t sampled = 0;
    for (const SamplePiece::Range& range : piece.ranges) {
      ids += range.count;
      for (const int relation : range.relations) {
        CHECK(range.first == next[relation]);
        next[relation] += range.count;
        sampled += range.count * small.hop.relations[relation].spec.fanout;
      }
    }
    CHECK(ids <= max_ids);
    CHECK(sampled <= max_sampled);
    CHECK_FALSE(piece.ranges.empty());
  }
  CHECK(next[0] == 10);
  CHECK(next[1] == 4);
  CHECK(next[2] == 10);
}

TEST_CASE("a target beyond the limits by itself is asked alone", "[hop_pieces]") {
  const SmallHop small(100, 1, 100);
  const std::vector<SamplePiece> pieces = CutHop(small.hop, {1000, 50});
  REQUIRE(pieces.size() == 11);
  for (int i = 0; i < 10; ++i) {
    REQUIRE(pieces[i].ranges.size() == 1);
    CHECK(pieces[i].ranges[0].count == 1);
  }
  CHECK(pieces[10].ranges[0].count == 4);
}

TEST_CASE("targets with trees and times make requests of no more bytes", "[hop_pieces]") {
  const int64_t max_ids = GENERATE(1, 2, 3, 30, (3 << 20) / 8);
  const std::vector<uint64_t> rows(max_ids * 2 + 1);
  const std::vector<uint32_t> trees(rows.size());
  const std::vector<TimeBounds> times(rows.size());
  const bool by_time = GENERATE(false, true);
  const int64_t each = by_time ? 8 + 4 + 16 : 8 + 4;
  ShardHop hop;
  hop.relations = {{EdgeTypeId{0}, {1}, rows, trees}};
  if (by_time) hop.relations[0].times = times;
  int64_t next = 0;
  for (const SamplePiece& piece : CutHop(hop, {max_ids, INT64_MAX})) {
    REQUIRE(piece.ranges.size() == 1);
    CHECK(piece.ranges[0].first == next);
    next += piece.ranges[0].count;
    CHECK(piece.ranges[0].count * each <= std::max<int64_t>(max_ids * 8, each));
  }
  CHECK(next == static_cast<int64_t>(rows.size()));
}

TEST_CASE("nothing to ask makes no request", "[hop_pieces]") {
  CHECK(CutHop(ShardHop(), {10, 10}).empty());
}

// As disjoint trees have them, where many links share an end.
TEST_CASE("a request has no more excluded edges than it holds", "[hop_pieces]") {
  SmallHop small(5, 3, 2);
  std::vector<ExcludedEdge> excluded;
  for (uint32_t target = 0; target < 10; ++target) {
    for (int64_t source = 0; source < 60'000; ++source) excluded.push_back({target, source});
  }
  small.hop.relations[2].excluded = excluded;
  int64_t next = 0;
  for (const SamplePiece& piece : CutHop(small.hop, {1000, 1000})) {
    for (const SamplePiece::Range& range : piece.ranges) {
      if (range.relations != std::vector<int>{0, 2}) continue;
      CHECK(range.first == next);
      CHECK(range.count == 2);  // 120,000 of 131,072
      next += range.count;
    }
  }
  CHECK(next == 10);
}

}  // namespace
}  // namespace vicinity
