#include "sampler/rules/background_pass.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <thread>

namespace vicinity {
namespace {

TEST_CASE("one pass runs at a time, and another may follow it", "[background_pass]") {
  BackgroundPass pass;
  std::atomic<bool> may_end{false};
  std::atomic<int> num_run{0};
  CHECK_FALSE(pass.is_running());
  REQUIRE(pass.Start([&] {
    while (!may_end) std::this_thread::yield();
    ++num_run;
  }));
  CHECK(pass.is_running());
  CHECK_FALSE(pass.Start([&] { num_run += 100; }));
  may_end = true;
  while (pass.is_running()) std::this_thread::yield();
  CHECK(num_run == 1);
  REQUIRE(pass.Start([&] { ++num_run; }));
  while (pass.is_running()) std::this_thread::yield();
  CHECK(num_run == 2);
}

TEST_CASE("a pass that is under way is told to stop, and waited for", "[background_pass]") {
  std::optional<BackgroundPass> pass;
  pass.emplace();
  std::atomic<bool> has_ended{false};
  REQUIRE(pass->Start([&] {
    while (!pass->stops()) std::this_thread::yield();
    has_ended = true;
  }));
  CHECK_FALSE(has_ended);
  pass.reset();
  CHECK(has_ended);
}

}  // namespace
}  // namespace vicinity
