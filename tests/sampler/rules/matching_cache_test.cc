#include "sampler/rules/matching_cache.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/edge_conditions.h"
#include "proto/common/ids.h"
#include "sampler/local_sampler.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr EdgeTypeId kLinks{0};
constexpr int64_t kNumNodes = 60;
constexpr int64_t kNumEdges = 3000;

class Stored {
 public:
  Stored() {
    testing::RandomGraphOptions options;
    options.num_nodes = kNumNodes;
    options.num_edges = kNumEdges;
    options.weights = true;
    options.times = true;
    graph_ = testing::RandomGraph(options);
    VICINITY_REQUIRE_OK(WriteGraph(graph_, dir_.File("graph")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(dir_.File("graph")));
  }
  const Shard& shard() const { return *dataset_->shard({0}); }
  MatchingCache::Condition Where(const std::string& text) const {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto by_type, ResolveByEdgeType(graph_.schema, text));
    return by_type[0];
  }
  Neighbors Sample(const OneHopOptions& options) const {
    std::vector<uint64_t> rows;
    for (uint64_t i = 0; i < 2 * kNumNodes; ++i) rows.push_back(i * 7 % kNumNodes);
    Neighbors out;
    VICINITY_REQUIRE_OK(SampleLists(ShardReader(shard()), kLinks, {0}, rows, options, &out));
    return out;
  }

 private:
  const testing::TempDir dir_;
  testing::MemoryGraph graph_;
  std::unique_ptr<Dataset> dataset_;
};

// Until the cache has looked, which takes milliseconds.
bool WaitFor(const MatchingCache& cache, int num_kept) {
  for (int i = 0; i < 2000 && cache.num_kept() != num_kept; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return cache.num_kept() == num_kept;
}

bool AreSame(const Neighbors& a, const Neighbors& b) {
  return a.counts == b.counts && a.sources == b.sources && a.edge_ids == b.edge_ids &&
         a.edge_positions == b.edge_positions;
}

TEST_CASE("what is drawn by a condition does not show whether it was known which edges meet it",
          "[matching_cache]") {
  const Stored stored;
  OneHopOptions options;
  options.fanout = GENERATE(int64_t{1}, int64_t{5}, kAllNeighbors);
  options.replace = GENERATE(false, true);
  options.want_edge_ids = true;
  options.want_edge_positions = true;
  options.where = stored.Where(GENERATE("time = 3", "weight > 0.3 or time < -2", "time > 100"));
  const Neighbors expected = stored.Sample(options);
  MatchingCache cache(kDefaultMatchingBytes);
  options.matching_cache = &cache;
  // 120 lists of 50 edges: as many edges are gone through as there are, so it is worth looking.
  CHECK(AreSame(stored.Sample(options), expected));
  REQUIRE(WaitFor(cache, 1));
  CHECK(cache.num_bytes() == MatchingEdges::BytesFor(kNumEdges));
  // The same condition, written by another call.
  OneHopOptions again = options;
  again.where = std::make_shared<const RowCondition>(*options.where);
  CHECK(cache.Find(stored.shard(), kLinks, again.where) != nullptr);
  CHECK(AreSame(stored.Sample(again), expected));
  // Edges that are excluded are out as well: their targets' lists are gone through.
  const std::vector<ExcludedEdge> excluded = {{0, 3}, {4, 9}, {5, 17}};
  again.excluded = excluded;
  options.excluded = excluded;
  options.matching_cache = nullptr;
  CHECK(AreSame(stored.Sample(again), stored.Sample(options)));
}

TEST_CASE("nobody looks for what is hardly asked for, nor for what has no room",
          "[matching_cache]") {
  const Stored stored;
  const MatchingCache::Condition where = stored.Where("time = 3");
  MatchingCache cache(MatchingEdges::BytesFor(kNumEdges));
  CHECK(cache.Find(stored.shard(), kLinks, where) == nullptr);
  cache.CountRead(stored.shard(), kLinks, where, kNumEdges - 1);
  CHECK_FALSE(cache.Find(stored.shard(), kLinks, where) != nullptr);
  cache.CountRead(stored.shard(), kLinks, where, 1);
  REQUIRE(WaitFor(cache, 1));
  CHECK(cache.Find(stored.shard(), kLinks, where) != nullptr);
  // There is room for one: another one takes its place.
  const MatchingCache::Condition other = stored.Where("time = 4");
  cache.CountRead(stored.shard(), kLinks, other, kNumEdges);
  for (int i = 0; i < 2000 && cache.Find(stored.shard(), kLinks, other) == nullptr; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(cache.Find(stored.shard(), kLinks, other) != nullptr);
  CHECK(cache.num_kept() == 1);
  CHECK(cache.num_bytes() == MatchingEdges::BytesFor(kNumEdges));
  CHECK(cache.Find(stored.shard(), kLinks, where) == nullptr);

  MatchingCache small(MatchingEdges::BytesFor(kNumEdges) - 1);
  small.CountRead(stored.shard(), kLinks, where, 100 * kNumEdges);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(small.num_kept() == 0);
}

TEST_CASE("thousands of conditions do not fill the memory, and many threads may ask",
          "[matching_cache]") {
  const Stored stored;
  MatchingCache cache(8 * MatchingEdges::BytesFor(kNumEdges));
  std::vector<MatchingCache::Condition> conditions;
  for (int i = 0; i < 600; ++i) conditions.push_back(stored.Where(absl::StrCat("time < ", i)));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        const MatchingCache::Condition& where = conditions[(i * 4 + t) % 600];
        cache.CountRead(stored.shard(), kLinks, where, kNumEdges);
        cache.Find(stored.shard(), kLinks, where);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(cache.num_kept() <= 8);
  CHECK(cache.num_bytes() <= 8 * MatchingEdges::BytesFor(kNumEdges));
}

}  // namespace
}  // namespace vicinity
