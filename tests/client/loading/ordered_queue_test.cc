#include "client/loading/ordered_queue.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "client/loading/batch_window.h"

namespace vicinity {
namespace {

TEST_CASE("items leave by index, however they come", "[ordered_queue]") {
  OrderedQueue<int> queue(10, 13, 100);
  CHECK(queue.Push(12, 1, 120));
  CHECK_FALSE(queue.Pop(std::chrono::nanoseconds(0)).has_value());  // two come before it
  CHECK(queue.Push(10, 1, 100));
  CHECK(queue.Push(11, 1, 110));
  CHECK(queue.Pop() == 100);
  CHECK(queue.Pop() == 110);
  CHECK(queue.Pop() == 120);
  CHECK_FALSE(queue.Pop().has_value());
  CHECK(queue.next() == 13);
}

TEST_CASE("whoever has an item waits until those before it have left", "[ordered_queue]") {
  OrderedQueue<int> queue(5, 9, 100);
  CHECK(queue.WaitForTurn(4));
  CHECK(queue.WaitForTurn(5));
  std::atomic<bool> came{false};
  std::thread third([&] { came = queue.WaitForTurn(7); });
  CHECK(queue.Push(5, 1, 50));
  CHECK(queue.Push(6, 1, 60));
  CHECK(queue.Pop() == 50);
  CHECK_FALSE(came);
  CHECK(queue.Pop() == 60);
  third.join();
  CHECK(came);
  std::thread dropped([&] { came = queue.WaitForTurn(8); });
  queue.Close();
  dropped.join();
  CHECK_FALSE(came);
}

TEST_CASE("an item that does not come is waited for no longer than said", "[ordered_queue]") {
  OrderedQueue<int> queue(0, 2, 100);
  CHECK(queue.Push(1, 1, 1));
  CHECK_FALSE(queue.Pop(std::chrono::milliseconds(1)).has_value());
  CHECK(queue.next() == 0);
}

TEST_CASE("waiting for the next item takes nothing", "[ordered_queue]") {
  OrderedQueue<int> queue(0, 1, 100);
  CHECK_FALSE(queue.WaitForNext(std::chrono::nanoseconds(0)));
  CHECK_FALSE(queue.WaitForNext(std::chrono::milliseconds(1)));
  std::thread late([&queue] { queue.Push(0, 1, 7); });
  CHECK(queue.WaitForNext(std::chrono::seconds(60)));
  late.join();
  CHECK(queue.WaitForNext(std::chrono::nanoseconds(0)));
  CHECK(queue.Pop() == 7);
  CHECK(queue.WaitForNext(std::chrono::nanoseconds(0)));  // the end: Pop would not wait
}

TEST_CASE("the item that is next always gets in, whatever it weighs", "[ordered_queue]") {
  OrderedQueue<int> queue(0, 3, 10);
  CHECK(queue.Push(1, 10, 1));  // full
  std::thread late([&queue] { queue.Push(2, 1, 2); });
  CHECK(queue.Push(0, 1000, 0));
  CHECK(queue.Pop() == 0);
  CHECK(queue.Pop() == 1);
  CHECK(queue.Pop() == 2);
  late.join();
}

TEST_CASE("closing ends all waiting", "[ordered_queue]") {
  OrderedQueue<int> queue(0, 100, 1);
  CHECK(queue.Push(5, 1, 5));
  bool pushed = true;
  std::optional<int> popped = 1;
  std::thread producer([&] { pushed = queue.Push(6, 1, 6); });
  std::thread consumer([&] { popped = queue.Pop(); });
  queue.Close();
  producer.join();
  consumer.join();
  CHECK_FALSE(pushed);
  CHECK_FALSE(popped.has_value());
  CHECK_FALSE(queue.Push(0, 1, 0));
}

TEST_CASE("many producers and consumers lose nothing and keep the order", "[ordered_queue]") {
  constexpr int64_t kItems = 2000;
  OrderedQueue<int64_t> first(0, kItems, 8);
  OrderedQueue<int64_t> second(0, kItems, 8);
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (int64_t i = 0; i < kItems; ++i) first.Push(i, 1, i);
  });
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      while (const std::optional<int64_t> item = first.Pop()) second.Push(*item, 1, *item);
    });
  }
  bool in_order = true;
  for (int64_t i = 0; i < kItems; ++i) in_order = in_order && second.Pop() == i;
  CHECK(in_order);
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("a window lets in what fits, and one that never fits alone", "[batch_window]") {
  BatchWindow window(10, 100);
  CHECK(window.Take(60));
  CHECK(window.Take(40));
  std::thread large([&window] { window.Take(1000); });
  window.Give(60);
  window.Give(40);
  large.join();
  CHECK(window.bytes() == 1000);
  window.Close();
  CHECK_FALSE(window.Take(1));
}

TEST_CASE("a window lets in no more batches than it says, but always one", "[batch_window]") {
  const int64_t most = GENERATE(0, 1, 3);
  BatchWindow window(most, 100);
  for (int64_t i = 0; i < std::max<int64_t>(1, most); ++i) CHECK(window.Take(0));
  std::thread next([&window] { window.Take(7); });
  window.Give(0);
  next.join();
  CHECK(window.bytes() == 7);
  // Full again: only the end of all waiting lets another go, and not in.
  bool taken = true;
  std::thread late([&] { taken = window.Take(0); });
  window.Close();
  late.join();
  CHECK_FALSE(taken);
}

}  // namespace
}  // namespace vicinity
