#include "client/replicas/replica_set.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "tests/client/pattern_shard.h"
#include "tests/client/simulated_replicas.h"
#include "tests/testing/graphs/simulated_shard.h"
#include "tests/testing/virtual_timer.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Three servers, all live unless the test does something about it.
class ReplicaSetTest {
 protected:
  ReplicaSetTest() {
    testing::ReplicaWorld world;
    world.num_servers = 3;
    world.fates = [](int, uint64_t) { return testing::Fate(); };
    world_ = std::make_unique<testing::SimulatedReplicas>(world, &timer_);
    timer_.RunUntil([&] { return world_->server(2).live(); }, seconds(1));
    set_ = std::make_unique<ReplicaSet>(ShardId{4}, world_->Replicas(&near_, {0, 1, 2}));
  }
  // What comes of so many picks.
  std::multiset<int> Pick(int times, const std::vector<char>& tried = {0, 0, 0},
                          int except = ReplicaSet::kNone) {
    std::multiset<int> picked;
    for (int i = 0; i < times; ++i) picked.insert(set_->Pick(tried, except, timer_.Now()));
    return picked;
  }

  testing::VirtualTimer timer_;
  testing::PatternShard near_;
  std::unique_ptr<testing::SimulatedReplicas> world_;
  std::unique_ptr<ReplicaSet> set_;
};

TEST_CASE_METHOD(ReplicaSetTest, "replicas that are equal take turns", "[replica_set]") {
  const std::multiset<int> picked = Pick(300);
  for (const int i : {0, 1, 2}) CHECK(picked.count(i) == 100);
}

TEST_CASE_METHOD(ReplicaSetTest, "the one with the fewest bytes in flight is taken",
                 "[replica_set]") {
  set_->server(0).Begin(10);
  set_->server(1).Begin(9);
  set_->server(2).Begin(11);
  CHECK(Pick(30).count(1) == 30);
  set_->server(1).Begin(1);
  CHECK(Pick(30).count(2) == 0);
}

TEST_CASE_METHOD(ReplicaSetTest, "one that has failed comes last, whatever its load",
                 "[replica_set]") {
  set_->server(0).Begin(10);
  CHECK(Pick(30, {0, 1, 1}).count(0) == 30);
  CHECK(Pick(30, {1, 1, 1}).count(0) == 0);  // all have: the load decides
}

TEST_CASE_METHOD(ReplicaSetTest, "one that is about to stop is taken if no other is live",
                 "[replica_set]") {
  set_->server(0).OnStopping();
  CHECK(Pick(30).count(0) == 0);
  CHECK(Pick(30, {0, 1, 1}).count(0) == 0);
  CHECK(Pick(30, {0, 0, 0}, 1).count(2) == 30);
  set_->server(1).Expel(absl::UnavailableError("gone"));
  set_->server(2).Expel(absl::UnavailableError("gone"));
  CHECK(Pick(30).count(0) == 30);
  CHECK(Pick(30, {0, 0, 0}, 1).count(ReplicaSet::kNone) == 30);  // not for a hedge
}

TEST_CASE_METHOD(ReplicaSetTest, "those that are out, held or excepted are not taken",
                 "[replica_set]") {
  set_->server(0).Expel(absl::UnavailableError("gone"));
  CHECK(Pick(30).count(0) == 0);
  set_->server(1).HoldUntil(timer_.Now() + milliseconds(20));
  CHECK(Pick(30).count(2) == 30);
  CHECK(Pick(30, {0, 0, 0}, 2).count(ReplicaSet::kNone) == 30);
  timer_.Schedule(timer_.Now() + milliseconds(20), [] {});
  timer_.RunUntil([] { return false; }, timer_.Now() + milliseconds(20));
  CHECK(Pick(30, {0, 0, 0}, 2).count(1) == 30);
}

TEST_CASE_METHOD(ReplicaSetTest, "a damaged copy is avoided, longer each time, and not for ever",
                 "[replica_set]") {
  milliseconds pause(100);
  for (int i = 0; i < 4; ++i, pause *= 2) {
    set_->OnDamage(1, timer_.Now());
    CHECK(Pick(30).count(1) == 0);
    // Only where nothing else is left.
    CHECK(set_->Pick(std::vector<char>{1, 0, 1}, ReplicaSet::kNone, timer_.Now()) != 1);
    const Timer::Time end = timer_.Now() + pause;
    CHECK(set_->Pick(std::vector<char>{0, 0, 0}, 0, end - milliseconds(1)) == 2);
    timer_.Schedule(end, [] {});
    timer_.RunUntil([] { return false; }, end);
    CHECK(Pick(30).count(1) == 10);
  }
  set_->OnSound(1);
  set_->OnDamage(1, timer_.Now());
  CHECK(Pick(30).count(1) == 0);
  timer_.Schedule(timer_.Now() + milliseconds(100), [] {});
  timer_.RunUntil([] { return false; }, timer_.Now() + milliseconds(100));
  CHECK(Pick(30).count(1) == 10);
}

}  // namespace
}  // namespace vicinity
