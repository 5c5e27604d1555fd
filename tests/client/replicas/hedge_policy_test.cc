#include "client/replicas/hedge_policy.h"

#include <catch2/catch.hpp>
#include <chrono>

namespace vicinity {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST_CASE("a hedge comes after the percentile, and not within 5 ms", "[hedge_policy]") {
  HedgePolicy policy(true);
  CHECK_FALSE(policy.Delay(kRequestIndex<ShardRows>).has_value());
  for (int i = 0; i < 100; ++i) policy.Observe(kRequestIndex<ShardRows>, microseconds(300));
  CHECK(policy.Delay(kRequestIndex<ShardRows>) == HedgePolicy::kLeastDelay);
  for (int i = 0; i < 100; ++i) policy.Observe(kRequestIndex<ShardHop>, milliseconds(40));
  CHECK(*policy.Delay(kRequestIndex<ShardHop>) >= milliseconds(40));
  CHECK(*policy.Delay(kRequestIndex<ShardHop>) < milliseconds(44));
  CHECK(policy.Delay(kRequestIndex<ShardRows>) == HedgePolicy::kLeastDelay);  // each for itself
}

TEST_CASE("at most one call in twenty is hedged", "[hedge_policy]") {
  HedgePolicy policy(true);
  CHECK_FALSE(policy.TryTake());
  int hedges = 0;
  for (int calls = 1; calls <= 10'000; ++calls) {
    policy.CountCall();
    hedges += policy.TryTake();
    REQUIRE(hedges * 20 <= calls);
  }
  CHECK(hedges == 500);
  for (int calls = 0; calls < 10'000; ++calls) policy.CountCall();
  for (int i = 0; i < 10; ++i) CHECK(policy.TryTake());
  CHECK_FALSE(policy.TryTake());  // a long calm saves ten
}

TEST_CASE("a hedge that did not come about is given back", "[hedge_policy]") {
  HedgePolicy policy(true);
  for (int calls = 0; calls < 20; ++calls) policy.CountCall();
  REQUIRE(policy.TryTake());
  REQUIRE_FALSE(policy.TryTake());
  policy.GiveBack();
  CHECK(policy.TryTake());
  CHECK_FALSE(policy.TryTake());
}

TEST_CASE("hedging can be off", "[hedge_policy]") {
  HedgePolicy policy(false);
  for (int i = 0; i < 100; ++i) policy.Observe(kRequestIndex<ShardRows>, milliseconds(1));
  for (int i = 0; i < 100; ++i) policy.CountCall();
  CHECK_FALSE(policy.Delay(kRequestIndex<ShardRows>).has_value());
  CHECK_FALSE(policy.TryTake());
}

}  // namespace
}  // namespace vicinity
