#include "cache/pool/ragged_cache.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace vicinity {
namespace {

// The places among `nodes` that the cache does not hold; `rows` gets the others.
std::vector<size_t> Missing(RaggedCache* cache, size_t column, const std::vector<int64_t>& nodes,
                            std::vector<std::string>* rows) {
  std::vector<int64_t> positions;
  for (size_t i = 0; i < nodes.size(); ++i) {
    positions.push_back(static_cast<int64_t>(nodes.size() - 1 - i));
  }
  rows->assign(nodes.size(), "?");
  std::vector<size_t> missing;
  cache->Find(column, nodes, positions, rows->data(), &missing);
  return missing;
}

TEST_CASE("rows that are kept are found by column and node", "[ragged_cache]") {
  RaggedCache cache(10'000);
  cache.Keep(0, 5, "five");
  cache.Keep(1, 5, "");
  cache.Keep(0, 5, "another");  // as one that two batches have fetched
  std::vector<std::string> rows;
  CHECK(Missing(&cache, 0, {4, 5, 5}, &rows) == std::vector<size_t>{0});
  CHECK(rows == std::vector<std::string>{"five", "five", "?"});
  CHECK(Missing(&cache, 1, {5}, &rows).empty());
  CHECK(rows == std::vector<std::string>{""});
  CHECK(Missing(&cache, 2, {5}, &rows) == std::vector<size_t>{0});
  CHECK(cache.bytes() == 4 + 2 * RaggedCache::kEntryBytes);
}

TEST_CASE("rows not used for longest give way, and no more than fits is held", "[ragged_cache]") {
  constexpr int64_t kRow = 100 + RaggedCache::kEntryBytes;
  RaggedCache cache(3 * kRow);
  const std::string row(100, 'r');
  std::vector<std::string> rows;
  for (const int64_t node : {1, 2, 3}) cache.Keep(0, node, row);
  CHECK(Missing(&cache, 0, {1}, &rows).empty());  // 2 is the oldest now
  cache.Keep(0, 4, row);
  CHECK(cache.bytes() == 3 * kRow);
  CHECK(Missing(&cache, 0, {1, 2, 3, 4}, &rows) == std::vector<size_t>{1});
  cache.Keep(0, 5, std::string(100 + kRow, 'l'));  // takes the room of two
  CHECK(cache.bytes() == 3 * kRow);
  CHECK(Missing(&cache, 0, {1, 3, 4, 5}, &rows) == std::vector<size_t>{0, 1});
  cache.Keep(0, 6, std::string(3 * kRow, 'x'));  // never fits
  CHECK(Missing(&cache, 0, {6}, &rows) == std::vector<size_t>{0});
  CHECK(Missing(&cache, 0, {4, 5}, &rows).empty());
}

TEST_CASE("a cache without room holds nothing", "[ragged_cache]") {
  RaggedCache cache(0);
  cache.Keep(0, 1, "");
  std::vector<std::string> rows;
  CHECK(Missing(&cache, 0, {1}, &rows) == std::vector<size_t>{0});
  CHECK(cache.bytes() == 0);
}

}  // namespace
}  // namespace vicinity
