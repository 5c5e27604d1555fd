#include "client/replicas/replica_question.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/shards/fan_out.h"
#include "proto/common/ids.h"
#include "tests/client/pattern_shard.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// Asks twice straight and, before the answer is taken, once apart; `spoil` and `check` are given
// the caller's buffers in between.
template <typename Spoil, typename Check>
void AskInEveryWay(const ReplicaQuestion& question, Spoil spoil, Check check) {
  testing::PatternShard shard;
  CHECK(question.bytes > 0);
  for (int i = 0; i < 2; ++i) {
    spoil();
    FanOut calls;
    question.ask(shard, nullptr, calls.Add());
    VICINITY_REQUIRE_OK(calls.Wait());
    CHECK(check());
  }
  spoil();
  const ReplicaQuestion::Apart apart = question.apart();
  FanOut calls;
  apart.ask(shard, nullptr, calls.Add());
  VICINITY_REQUIRE_OK(calls.Wait());
  CHECK_FALSE(check());  // nothing of the caller's is touched yet
  apart.take();
  CHECK(check());
}

TEST_CASE("hops can be asked again and apart", "[replica_question]") {
  const std::vector<uint64_t> rows = {5, 3, 3};
  ShardHop hop;
  hop.relations = {{EdgeTypeId{0}, {2}, rows}, {EdgeTypeId{7}, {kAllNeighbors}, rows}};
  std::vector<Neighbors> out(2);
  hop.out = absl::MakeSpan(out);
  AskInEveryWay(
      QuestionOf(hop),
      [&] {
        for (Neighbors& neighbors : out) neighbors.sources.push_back(-1);
      },
      [&] {
        return out[0].sources == std::vector<int64_t>{5, 3, 3} &&
               out[1].sources == std::vector<int64_t>{12, 10, 10} &&
               out[1].counts == std::vector<uint32_t>{1, 1, 1};
      });
}

TEST_CASE("rows can be asked again and apart", "[replica_question]") {
  const std::vector<uint64_t> wanted = {9, 2, 9};
  const std::vector<int64_t> positions = {2, 0, 1};
  ShardRows rows;
  rows.row_bytes = 5;
  std::vector<char> out(15);
  rows.out = out.data();
  std::vector<uint64_t> placed;
  SECTION("scattered") {
    rows.rows = wanted;
    rows.positions = positions;
    placed = {2, 9, 9};
  }
  SECTION("in order") {
    rows.rows = wanted;
    placed = wanted;
  }
  SECTION("a range") {
    rows.first = 4;
    rows.count = 3;
    placed = {4, 5, 6};
  }
  AskInEveryWay(
      QuestionOf(rows), [&] { out.assign(15, 'x'); },
      [&] {
        for (int64_t i = 0; i < 15; ++i) {
          if (out[i] != testing::PatternShard::ByteOf(placed[i / 5], i % 5)) return false;
        }
        return true;
      });
}

TEST_CASE("names and keys can be asked again and apart", "[replica_question]") {
  const std::vector<uint64_t> asked = {9, 2, 4};
  const std::vector<int64_t> positions = {2, 0, 1};
  std::vector<std::string> names(3);
  AskInEveryWay(
      QuestionOf(ShardRagged{NodeTypeId{0}, kNamesColumn, asked, positions, names.data()}),
      [&] { names.assign(3, "x"); },
      [&] {
        return names == std::vector<std::string>{"n2", "n4", "n9"};
      });
  std::vector<int64_t> nodes(3);
  AskInEveryWay(
      QuestionOf(ShardKeys{NodeTypeId{0}, asked, positions, nodes.data()}),
      [&] { nodes.assign(3, -1); },
      [&] {
        return nodes == std::vector<int64_t>{4, 8, 18};
      });
}

TEST_CASE("rankings can be asked again and apart", "[replica_question]") {
  RankedNodes out;
  ShardRanking ranking;
  ranking.count = GENERATE(0, 3);
  ranking.out = &out;
  const size_t expected = ranking.count == 0 ? testing::PatternShard::kRanked : 3;
  AskInEveryWay(
      QuestionOf(ranking), [&] { out.nodes.push_back(-1); },
      [&] { return out.nodes.size() == expected && out.nodes[2] == 2; });
}

}  // namespace
}  // namespace vicinity
