#include "cache/device/base/host_device.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "cache/device/base/device.h"
#include "cache/device/base/kernel.h"
#include "tests/contract/device_contract.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr std::chrono::seconds kLong(60);

// What stream 2 copies out of a buffer that stream 1 fills, with or without an event between them.
int64_t CopyAfterFill(HostDevice* device, bool with_event) {
  auto memory = device->Allocate(MemoryKind::kDevice, 8);
  auto filling = device->NewStream();
  auto copying = device->NewStream();
  auto filled = device->NewEvent();
  VICINITY_REQUIRE_OK(memory);
  int64_t copied = 0;
  VICINITY_REQUIRE_OK((*filling)->Fill(memory->data(), 1, 8));
  VICINITY_REQUIRE_OK((*filling)->Record(filled->get()));
  if (with_event) VICINITY_REQUIRE_OK((*copying)->WaitFor(**filled));
  VICINITY_REQUIRE_OK((*copying)->Copy(&copied, memory->data(), 8));
  VICINITY_REQUIRE_OK(FinishOnHost(device, copying->get(), kLong));
  return copied;
}

TEST_CASE("a late host shows that an event is missing", "[host_device]") {
  std::set<int64_t> with, without;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    HostDevice device(HostOrder::kLate, seed);
    with.insert(CopyAfterFill(&device, true));
    without.insert(CopyAfterFill(&device, false));
  }
  CHECK(with == std::set<int64_t>{0x0101010101010101});
  CHECK(without.size() == 2);
}

TEST_CASE("a host that works at once needs nobody to ask", "[host_device]") {
  HostDevice device;
  CHECK(CopyAfterFill(&device, false) == 0x0101010101010101);
}

TEST_CASE("the host keeps the contract of devices, at once and late", "[host_device]") {
  const HostOrder order = GENERATE(HostOrder::kAtOnce, HostOrder::kLate);
  const uint64_t seed = GENERATE(range(uint64_t{0}, uint64_t{5}));
  HostDevice device(order, seed);
  testing::CheckDevice(&device);
}

// Which threads ran, in their order, of a kernel that no device has heard of.
std::vector<int64_t> ThreadsRun(HostDevice* device, int64_t num_threads) {
  std::vector<int64_t> ran;
  auto stream = device->NewStream();
  VICINITY_REQUIRE_OK(stream);
  {
    Kernel kernel;
    kernel.name = "append";
    kernel.num_threads = num_threads;
    kernel.run_on_host = [&ran](const ThreadOrder& order) {
      order.ForEach([&ran](int64_t t) { ran.push_back(t); });
    };
    VICINITY_REQUIRE_OK((*stream)->Launch(kernel));
  }
  VICINITY_REQUIRE_OK(FinishOnHost(device, stream->get(), kLong));
  return ran;
}

TEST_CASE("any kernel runs, each of its threads once, and late in any order", "[host_device]") {
  const int64_t num_threads = GENERATE(0, 1, 2, 3, 12, 97, 1000);
  std::vector<int64_t> in_order(num_threads);
  std::iota(in_order.begin(), in_order.end(), int64_t{0});
  HostDevice at_once;
  CHECK(ThreadsRun(&at_once, num_threads) == in_order);
  std::set<std::vector<int64_t>> orders;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    HostDevice late(HostOrder::kLate, seed);
    std::vector<int64_t> ran = ThreadsRun(&late, num_threads);
    orders.insert(ran);
    std::sort(ran.begin(), ran.end());
    CHECK(ran == in_order);
  }
  CHECK((orders.size() > 1) == (num_threads > 1));
}

TEST_CASE("a size that cannot be rounded up is refused", "[host_device]") {
  HostDevice device;
  VICINITY_CHECK_CODE(device.Allocate(MemoryKind::kDevice, INT64_MAX),
                      absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace vicinity
