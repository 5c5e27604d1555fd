#include "client/rpc/call_queue.h"

#include <grpcpp/alarm.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

namespace vicinity {
namespace {

// Counts its events, and by which threads they came.
struct Counter final : CallQueue::Handler {
  int events = 0;
  std::set<std::thread::id> threads;
  void OnEvent(bool) override {
    ++events;
    threads.insert(std::this_thread::get_id());
  }
};

TEST_CASE("events reach their handlers in the queue's thread, the last before it goes",
          "[call_queue]") {
  Counter counter;
  std::vector<grpc::Alarm> alarms(20);
  {
    CallQueue queue;
    for (grpc::Alarm& alarm : alarms) {
      alarm.Set(queue.queue(), std::chrono::system_clock::now(),
                static_cast<CallQueue::Handler*>(&counter));
    }
  }
  CHECK(counter.events == 20);
  CHECK(counter.threads.size() == 1);
  CHECK(counter.threads.count(std::this_thread::get_id()) == 0);
}

}  // namespace
}  // namespace vicinity
