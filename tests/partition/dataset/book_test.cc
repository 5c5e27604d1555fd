#include "partition/dataset/book.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using Begins = std::vector<std::vector<int64_t>>;

TEST_CASE("a book answers as a list of owners would", "[partition]") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    // The naive model: the owner of every node, written out.
    const int32_t num_shards = 1 + static_cast<int32_t>(random() % 9);
    std::vector<int32_t> owners(random() % 60);
    for (int32_t& owner : owners) owner = static_cast<int32_t>(random() % num_shards);
    std::sort(owners.begin(), owners.end());
    std::vector<int64_t> begins;
    for (int32_t s = 0; s <= num_shards; ++s) {
      begins.push_back(std::lower_bound(owners.begin(), owners.end(), s) - owners.begin());
    }
    VICINITY_ASSERT_OK_AND_ASSIGN(const Book book, Book::Create({begins}));
    const NodeTypeId type = {0};
    const int64_t size = static_cast<int64_t>(owners.size());
    REQUIRE(book.num_shards() == num_shards);
    REQUIRE(book.num_nodes(type) == size);
    for (int64_t node = 0; node < size; ++node) {
      REQUIRE(book.Contains(type, {node}));
      REQUIRE(book.OwnerOf(type, {node}).value == owners[node]);
      const int64_t row =
          node - (std::find(owners.begin(), owners.end(), owners[node]) - owners.begin());
      REQUIRE(book.RowOf(type, {node}).value == row);
    }
    for (int32_t s = 0; s < num_shards; ++s) {
      REQUIRE(book.num_nodes(type, {s}) == std::count(owners.begin(), owners.end(), s));
      REQUIRE(book.First(type, {s}).value == begins[s]);
    }
    REQUIRE_FALSE(book.Contains(type, {-1}));
    REQUIRE_FALSE(book.Contains(type, {size}));
    REQUIRE(std::vector<int64_t>(book.begins(type).begin(), book.begins(type).end()) == begins);
  }
}

TEST_CASE("a node that is not in the book still gets a shard that exists", "[partition]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Book book, Book::Create(Begins{{0, 0, 5, 5}, {0, 0, 0, 0}}));
  for (const int64_t node : {INT64_MIN, int64_t{-1}, int64_t{5}, INT64_MAX}) {
    for (const int32_t type : {0, 1}) {
      const int32_t owner = book.OwnerOf({type}, {node}).value;
      CHECK(owner >= 0);
      CHECK(owner < 3);
    }
  }
}

TEST_CASE("new nodes' owners, rows and ids follow each other", "[partition]") {
  const NodeTypeId type = {0};
  VICINITY_ASSERT_OK_AND_ASSIGN(const Book read_only, Book::Create(Begins{{0, 3, 3, 10}}));
  const Book book = read_only.Growing();
  CHECK(book.num_nodes(type) == 10);
  CHECK(book.Contains(type, {1'000'000}));
  CHECK_FALSE(read_only.Contains(type, {10}));
  CHECK_FALSE(book.Contains(type, {-1}));
  CHECK_FALSE(book.Contains(type, {book.id_limit(type)}));
  for (int64_t node = 0; node < 40; ++node) {
    const Book::Place place = book.PlaceOf(type, {node});
    CAPTURE(node);
    if (node >= 10) {
      CHECK(place.shard.value == (node - 10) % 3);
      CHECK(place.row.value == book.num_nodes(type, place.shard) + (node - 10) / 3);
    }
    CHECK(book.NodeAt(type, place).value == node);
    for (int32_t s = 0; s < 3; ++s) {
      const std::optional<LocalRow> row = book.RowIn(type, {s}, {node});
      CHECK(row.has_value() == (place.shard.value == s));
      if (row.has_value()) CHECK(row->value == place.row.value);
    }
  }
}

TEST_CASE("a book survives its protobuf form", "[partition]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Book book, Book::Create(Begins{{0, 3, 3}, {0, 0, 9}}));
  VICINITY_ASSERT_OK_AND_ASSIGN(const Book back, Book::FromProto(book.ToProto()));
  CHECK(back.ToProto().DebugString() == book.ToProto().DebugString());
  CHECK(back.num_nodes(NodeTypeId{1}) == 9);
  proto::Book lying = book.ToProto();
  lying.set_num_shards(3);
  VICINITY_CHECK_CODE(Book::FromProto(lying), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("boundaries that are none are refused", "[partition]") {
  const Begins begins = GENERATE(Begins{}, Begins{{}}, Begins{{0}}, Begins{{1, 2}}, Begins{{-1, 2}},
                                 Begins{{0, 5, 4}}, Begins{{0, 1}, {0, 1, 2}},
                                 Begins{{0, kMaxNodes + 1}}, Begins{{0, INT64_MAX}});
  VICINITY_CHECK_CODE(Book::Create(begins), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("there is a most number of shards", "[partition]") {
  VICINITY_CHECK_OK(Book::Create({std::vector<int64_t>(kMaxShards + 1, 0)}));
  VICINITY_CHECK_CODE(Book::Create({std::vector<int64_t>(kMaxShards + 2, 0)}),
                      absl::StatusCode::kInvalidArgument);
}

// Where a key is listed is stored: these values hold for ever.
TEST_CASE("a key's directory shard never changes", "[partition]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Book book, Book::Create({std::vector<int64_t>(8, 0)}));
  std::vector<int32_t> shards;
  for (const uint64_t key :
       {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{1000}, uint64_t{1} << 32, UINT64_MAX}) {
    shards.push_back(book.DirectoryShard(key).value);
  }
  CHECK(shards == std::vector<int32_t>{0, 5, 6, 6, 5, 6});
}

TEST_CASE("directories share dense keys and multiples evenly", "[partition]") {
  const uint64_t step =
      GENERATE(uint64_t{1}, uint64_t{4}, uint64_t{1000}, uint64_t{1} << 32, uint64_t{1} << 48);
  const int32_t num_shards = GENERATE(2, 4, 7, 8);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Book book,
                                Book::Create({std::vector<int64_t>(num_shards + 1, 0)}));
  std::vector<int> counts(num_shards);
  constexpr int kKeys = 20'000;
  for (uint64_t i = 0; i < kKeys; ++i) ++counts[book.DirectoryShard(i * step).value];
  for (const int count : counts) {
    CHECK(count > 0.9 * kKeys / num_shards);
    CHECK(count < 1.1 * kKeys / num_shards);
  }
}

}  // namespace
}  // namespace vicinity
