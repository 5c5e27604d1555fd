#include "client/replicas/jitter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

namespace vicinity {
namespace {

using std::chrono::nanoseconds;

TEST_CASE("a wait is from nothing to the most, and the seed decides", "[jitter]") {
  Jitter a(7);
  Jitter b(7);
  nanoseconds least(100);
  nanoseconds most(0);
  for (int i = 0; i < 5000; ++i) {
    const nanoseconds wait = a.UpTo(nanoseconds(100));
    REQUIRE(wait == b.UpTo(nanoseconds(100)));
    least = std::min(least, wait);
    most = std::max(most, wait);
  }
  CHECK(least == nanoseconds(0));
  CHECK(most == nanoseconds(100));
  CHECK(a.UpTo(nanoseconds(0)) == nanoseconds(0));
  CHECK(a.UpTo(nanoseconds(-5)) == nanoseconds(0));
}

}  // namespace
}  // namespace vicinity
