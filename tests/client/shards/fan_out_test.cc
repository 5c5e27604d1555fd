#include "client/shards/fan_out.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("a fan-out of nothing is over", "[fan_out]") {
  FanOut calls;
  VICINITY_CHECK_OK(calls.Wait());
}

TEST_CASE("the first error wins, and all calls are waited for", "[fan_out]") {
  FanOut calls;
  const Done good = calls.Add();
  const Done bad = calls.Add();
  const Done worse = calls.Add();
  bad(absl::UnavailableError("first"));
  std::atomic<bool> last{false};
  std::thread late([&] {
    worse(absl::DataLossError("second"));
    last = true;
    good(absl::OkStatus());
  });
  VICINITY_CHECK_CODE(calls.Wait(), absl::StatusCode::kUnavailable);
  CHECK(last);
  late.join();
}

TEST_CASE("buffers outlive their calls even when nobody waits", "[fan_out]") {
  std::vector<std::thread> threads;
  std::atomic<int> over{0};
  {
    FanOut calls;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&over, done = calls.Add()] {
        ++over;
        done(absl::OkStatus());
      });
    }
  }
  CHECK(over == 8);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace vicinity
