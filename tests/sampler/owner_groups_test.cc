#include "sampler/owner_groups.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "proto/common/random.h"
#include "sampler/one_hop.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// What any owner says of a node: some of these, never the same number for all.
void Answer(int64_t node, bool edge_ids, Neighbors* out) {
  out->counts.push_back(static_cast<uint32_t>(node % 4));
  for (int64_t i = 0; i < node % 4; ++i) {
    out->sources.push_back(node * 10 + i);
    if (edge_ids) out->edge_ids.push_back(node * 100 + i);
    if (edge_ids) out->edge_positions.push_back(node * 1000 + i);
    if (edge_ids) out->edge_times.push_back(node * -7 + i);
  }
}

TEST_CASE("taken apart by owner and put together again, answers are in the targets' order",
          "[owner_groups]") {
  const std::vector<std::vector<int64_t>> begins =
      GENERATE(std::vector<std::vector<int64_t>>{{0, 100}},
               std::vector<std::vector<int64_t>>{{0, 30, 30, 70, 100}});
  VICINITY_ASSERT_OK_AND_ASSIGN(const Book book, Book::Create(begins));
  const bool edge_ids = GENERATE(false, true);
  NodeDraws draws(1, 1);
  std::vector<int64_t> targets(GENERATE(0, 1, 500));
  for (int64_t& target : targets) target = static_cast<int64_t>(draws.Below(100));

  Neighbors expected;
  for (const int64_t target : targets) Answer(target, edge_ids, &expected);

  std::vector<uint32_t> trees;
  if (edge_ids) {
    for (size_t i = 0; i < targets.size(); ++i) trees.push_back(static_cast<uint32_t>(3 * i));
  }
  std::vector<TimeBounds> times;
  for (const uint32_t tree : trees) times.push_back({tree, tree + 1});
  const std::vector<OwnerGroup> groups = GroupByOwner(book, {0}, targets, trees, times);
  std::vector<Neighbors> answers(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    REQUIRE(!groups[g].rows.empty());
    if (g > 0) REQUIRE(groups[g - 1].shard.value < groups[g].shard.value);
    REQUIRE(groups[g].trees.size() == (trees.empty() ? 0 : groups[g].rows.size()));
    for (size_t i = 0; i < groups[g].trees.size(); ++i) {
      REQUIRE(groups[g].trees[i] == 3 * groups[g].positions[i]);
      REQUIRE(groups[g].times[i].from == groups[g].trees[i]);
      REQUIRE(groups[g].times[i].until == groups[g].trees[i] + 1);
    }
    for (const uint64_t row : groups[g].rows) {
      const int64_t node = begins[0][groups[g].shard.value] + static_cast<int64_t>(row);
      REQUIRE(book.OwnerOf({0}, {node}) == groups[g].shard);
      Answer(node, edge_ids, &answers[g]);
    }
  }
  Neighbors merged;
  merged.counts = {9};  // what was there is gone
  VICINITY_REQUIRE_OK(
      MergeByOwner(groups, absl::MakeSpan(answers), static_cast<int64_t>(targets.size()), &merged));
  CHECK(merged.counts == expected.counts);
  CHECK(merged.sources == expected.sources);
  CHECK(merged.edge_ids == expected.edge_ids);
  CHECK(merged.edge_positions == expected.edge_positions);
  CHECK(merged.edge_times == expected.edge_times);
}

TEST_CASE("an owner's answer that does not fit its targets is refused", "[owner_groups]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Book book, Book::Create({{0, 10, 20}}));
  const std::vector<int64_t> targets = {3, 13, 7};
  const std::vector<OwnerGroup> groups = GroupByOwner(book, {0}, targets);
  std::vector<Neighbors> answers(2);
  for (const int64_t node : {3, 7}) Answer(node, true, &answers[0]);
  Answer(13, true, &answers[1]);
  SECTION("a count missing") { answers[0].counts.pop_back(); }
  SECTION("counts beyond the sources") { answers[1].counts[0] = 2; }
  SECTION("a source too many") { answers[1].sources.push_back(4); }
  SECTION("edge ids from one owner only") { answers[1].edge_ids.clear(); }
  SECTION("edge positions from one owner only") { answers[1].edge_positions.clear(); }
  SECTION("an answer missing") { answers.pop_back(); }
  Neighbors merged;
  VICINITY_CHECK_CODE(MergeByOwner(groups, absl::MakeSpan(answers), 3, &merged),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("the only owner's answer is looked at as well", "[owner_groups]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Book book, Book::Create({{0, 10}}));
  const std::vector<OwnerGroup> groups = GroupByOwner(book, {0}, std::vector<int64_t>{3, 7});
  std::vector<Neighbors> answers(1);
  for (const int64_t node : {3, 7}) Answer(node, true, &answers[0]);
  answers[0].counts.pop_back();
  Neighbors merged;
  VICINITY_CHECK_CODE(MergeByOwner(groups, absl::MakeSpan(answers), 2, &merged),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("excluded edges go with their targets to whoever owns them", "[owner_groups]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Book book, Book::Create({{0, 30, 30, 70, 100}}));
  const std::vector<int64_t> targets = {80, 3, 31, 99, 4, 3};
  const std::vector<ExcludedEdge> excluded = {{0, 7}, {0, 5}, {1, 9}, {2, 1}, {5, 9}, {5, 2}};
  const std::vector<OwnerGroup> groups = GroupByOwner(book, {0}, targets);
  REQUIRE(groups.size() == 3);
  using Edges = std::vector<ExcludedEdge>;
  CHECK(ExcludedOf(groups[0], excluded) == Edges{{0, 9}, {2, 9}, {2, 2}});  // 3, 4, 3
  CHECK(ExcludedOf(groups[1], excluded) == Edges{{0, 1}});                  // 31
  CHECK(ExcludedOf(groups[2], excluded) == Edges{{0, 7}, {0, 5}});          // 80, 99
  CHECK(ExcludedOf(groups[0], {}).empty());
}

}  // namespace
}  // namespace vicinity
