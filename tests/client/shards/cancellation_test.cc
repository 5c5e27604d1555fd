#include "client/shards/cancellation.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

namespace vicinity {
namespace {

TEST_CASE("cancelling tells everyone who is still there, once", "[cancellation]") {
  Cancellation cancellation;
  int first = 0;
  int second = 0;
  const int64_t removed = cancellation.Add([&first] { ++first; });
  cancellation.Add([&second] { ++second; });
  cancellation.Remove(removed);
  CHECK_FALSE(cancellation.cancelled());
  cancellation.Cancel();
  cancellation.Cancel();
  CHECK(cancellation.cancelled());
  CHECK(first == 0);
  CHECK(second == 1);
}

TEST_CASE("who comes after the cancelling hears of it at once", "[cancellation]") {
  Cancellation cancellation;
  cancellation.Cancel();
  int heard = 0;
  cancellation.Remove(cancellation.Add([&heard] { ++heard; }));
  CHECK(heard == 1);
}

TEST_CASE("threads may come and go while another cancels", "[cancellation]") {
  Cancellation cancellation;
  const auto heard = std::make_shared<std::atomic<int>>(0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cancellation, heard] {
      for (int i = 0; i < 500; ++i) {
        const int64_t id = cancellation.Add([heard] { heard->fetch_add(1); });
        if (i % 2 == 0) cancellation.Remove(id);
      }
    });
  }
  cancellation.Cancel();
  for (std::thread& thread : threads) thread.join();
  CHECK(heard->load() <= 4 * 500);
  CHECK(heard->load() >= 0);
}

}  // namespace
}  // namespace vicinity
