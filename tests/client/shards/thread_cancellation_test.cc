#include "client/shards/thread_cancellation.h"

#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <utility>

namespace vicinity {
namespace {

TEST_CASE("a thread has the cancellation that it was given last, and no other thread has it",
          "[thread_cancellation]") {
  CHECK(ThreadCancellation() == nullptr);
  const auto mine = std::make_shared<Cancellation>();
  SetThreadCancellation(std::make_shared<Cancellation>());
  SetThreadCancellation(mine);
  CHECK(ThreadCancellation() == mine.get());
  const auto others = std::make_shared<Cancellation>();
  std::thread other([&others] {
    const bool had_none = ThreadCancellation() == nullptr;
    SetThreadCancellation(others);
    if (had_none) ThreadCancellation()->Cancel();
  });
  other.join();
  CHECK(others->cancelled());
  CHECK_FALSE(ThreadCancellation()->cancelled());
  SetThreadCancellation(nullptr);
  CHECK(ThreadCancellation() == nullptr);
}

TEST_CASE("a thread keeps its cancellation until it ends", "[thread_cancellation]") {
  auto given = std::make_shared<Cancellation>();
  const std::weak_ptr<Cancellation> seen = given;
  bool kept = false;
  std::thread thread([&] {
    SetThreadCancellation(std::move(given));
    kept = !seen.expired();
  });
  thread.join();
  CHECK(kept);
  CHECK(seen.expired());
}

}  // namespace
}  // namespace vicinity
