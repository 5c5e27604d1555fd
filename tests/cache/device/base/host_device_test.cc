#include "cache/device/base/host_device.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "cache/device/base/device.h"
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

TEST_CASE("memory that the host does not have is refused", "[host_device]") {
  HostDevice device;
  VICINITY_CHECK_CODE(device.Allocate(MemoryKind::kDevice, INT64_MAX),
                      absl::StatusCode::kResourceExhausted);
  VICINITY_ASSERT_OK_AND_ASSIGN(const DeviceMemory none, device.Allocate(MemoryKind::kPinned, 0));
  CHECK(none.data() == nullptr);
}

}  // namespace
}  // namespace vicinity
