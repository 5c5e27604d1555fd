#include "partition/overlay/list_cache.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>

namespace vicinity {
namespace {

ChangedListPtr ListOf(uint64_t source) {
  ChangedList list;
  list.sources.push_back(source);
  return std::make_shared<const ChangedList>(std::move(list));
}

TEST_CASE("lists that were used last are kept, as many as there is room for", "[list_cache]") {
  ListCache cache(1000);  // of lists of 256 bytes and a little
  cache.Keep({0, 1, 1}, ListOf(1));
  cache.Keep({0, 2, 1}, ListOf(2));
  cache.Keep({0, 3, 1}, ListOf(3));
  CHECK(cache.Find({0, 1, 1})->sources[0] == 1);
  CHECK(cache.Find({0, 1, 2}) == nullptr);
  CHECK(cache.Find({1, 1, 1}) == nullptr);
  cache.Keep({0, 4, 1}, ListOf(4));
  CHECK(cache.bytes() <= 1000);
  CHECK(cache.Find({0, 2, 1}) == nullptr);
  CHECK(cache.Find({0, 1, 1}) != nullptr);
  CHECK(cache.Find({0, 3, 1}) != nullptr);
  CHECK(cache.Find({0, 4, 1}) != nullptr);
}

TEST_CASE("a list that has no room is not kept, and one that goes lives on with who has it",
          "[list_cache]") {
  ListCache none(10);
  none.Keep({0, 1, 1}, ListOf(1));
  CHECK(none.Find({0, 1, 1}) == nullptr);
  CHECK(none.bytes() == 0);
  ListCache one(300);
  one.Keep({0, 1, 1}, ListOf(1));
  const ChangedListPtr held = one.Find({0, 1, 1});
  one.Keep({0, 2, 1}, ListOf(2));
  CHECK(one.Find({0, 1, 1}) == nullptr);
  CHECK(held->sources[0] == 1);
}

}  // namespace
}  // namespace vicinity
