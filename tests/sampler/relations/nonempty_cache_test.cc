#include "sampler/relations/nonempty_cache.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/verified_file.h"
#include "tests/sampler/relations/many_relations.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity {
namespace {

using testing::ManyRelations;

constexpr NodeTypeId kNodes = ManyRelations::kNodes;
constexpr int64_t kNumRelations = 30;
constexpr int64_t kNumLists = 200 * kNumRelations;

// What it knows, once it has looked, which takes milliseconds; null: it does not get to know.
const NonemptyLists* WaitFor(NonemptyCache* cache, const Shard& shard, int tries = 2000) {
  for (int i = 0; i < tries; ++i) {
    if (const NonemptyLists* lists = cache->Find(shard, kNodes, 0); lists != nullptr) return lists;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return nullptr;
}

// A file that has just been written is left alone for a while.
bool Adopt(VerifiedFile* file) {
  for (int i = 0; i < 2000; ++i) {
    const absl::Status status = file->Adopt([](int64_t) { return true; });
    if (!absl::IsUnavailable(status)) return status.ok();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST_CASE("it is looked which lists are empty once an eighth of them has been asked for",
          "[nonempty_cache]") {
  const ManyRelations stored(kNumRelations);
  NonemptyCache cache(stored.schema(), kDefaultNonemptyBytes);
  CHECK(cache.Find(stored.shard(), kNodes, kNumLists / 8 - 1) == nullptr);
  CHECK(WaitFor(&cache, stored.shard(), 3) == nullptr);
  CHECK(cache.Find(stored.shard(), kNodes, 1) == nullptr);
  const NonemptyLists* const lists = WaitFor(&cache, stored.shard());
  REQUIRE(lists != nullptr);
  CHECK(lists->num_edge_types() == kNumRelations);
  CHECK(cache.num_bytes() == NonemptyLists::BytesFor(200, kNumRelations));
  CHECK(cache.Find(stored.shard(), kNodes, kNumLists) == lists);  // they stay where they are
  CHECK(cache.NumberOf({7}) == 7);
}

TEST_CASE("edge types are numbered by the nodes that they end in", "[nonempty_cache]") {
  const testing::MemoryGraph graph = testing::TypedGraph(10, 10, 5, 1);
  const NonemptyCache cache(graph.schema, kDefaultNonemptyBytes);
  std::vector<size_t> next(graph.schema.node_types.size());
  for (int32_t type = 0; type < static_cast<int32_t>(graph.schema.edge_types.size()); ++type) {
    CHECK(cache.NumberOf({type}) == next[graph.schema.edge_types[type].target_type]++);
  }
}

TEST_CASE("nothing is kept of lists that mostly have edges, are of one type or have no room",
          "[nonempty_cache]") {
  const ManyRelations dense(3, 50, 3000);
  NonemptyCache of_dense(dense.schema(), kDefaultNonemptyBytes);
  of_dense.Find(dense.shard(), kNodes, 1000);
  CHECK(WaitFor(&of_dense, dense.shard(), 20) == nullptr);
  CHECK(of_dense.num_bytes() == 0);

  const ManyRelations one(1);
  NonemptyCache of_one(one.schema(), kDefaultNonemptyBytes);
  of_one.Find(one.shard(), kNodes, 100'000);
  CHECK(WaitFor(&of_one, one.shard(), 3) == nullptr);

  const ManyRelations many(kNumRelations);
  NonemptyCache small(many.schema(), NonemptyLists::BytesFor(200, kNumRelations) - 1);
  small.Find(many.shard(), kNodes, 100'000);
  CHECK(WaitFor(&small, many.shard(), 20) == nullptr);
  CHECK(small.num_bytes() == 0);
}

TEST_CASE("of a damaged shard nothing is known until it is mended", "[nonempty_cache]") {
  const ManyRelations stored(kNumRelations);
  testing::FlipBit(stored.OffsetsOf(3), 200);
  NonemptyCache cache(stored.schema(), kDefaultNonemptyBytes);
  cache.Find(stored.shard(), kNodes, kNumLists);
  CHECK(WaitFor(&cache, stored.shard(), 20) == nullptr);
  testing::FlipBit(stored.OffsetsOf(3), 200);
  REQUIRE(Adopt(stored.shard().edges({3}).offsets_file));
  cache.Find(stored.shard(), kNodes, kNumLists);
  CHECK(WaitFor(&cache, stored.shard()) != nullptr);
}

TEST_CASE("many threads may ask which lists are empty", "[nonempty_cache]") {
  const ManyRelations stored(kNumRelations);
  const ManyRelations other(kNumRelations, 300, 400);
  NonemptyCache cache(stored.schema(), kDefaultNonemptyBytes);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Shard& shard = t % 2 == 0 ? stored.shard() : other.shard();
      for (int i = 0; i < 2000; ++i) {
        const NonemptyLists* const lists = cache.Find(shard, kNodes, 100);
        std::vector<std::vector<uint32_t>> found(kNumRelations);
        if (lists != nullptr) lists->Split({0, 1, 2}, &found);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Shard* shard : {&stored.shard(), &other.shard()}) {
    cache.Find(*shard, kNodes, 100 * kNumLists);
    CHECK(WaitFor(&cache, *shard) != nullptr);
    cache.Find(*shard, kNodes, 100 * kNumLists);
  }
  CHECK(cache.num_bytes() ==
        NonemptyLists::BytesFor(200, kNumRelations) + NonemptyLists::BytesFor(300, kNumRelations));
}

}  // namespace
}  // namespace vicinity
