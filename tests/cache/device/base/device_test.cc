#include "cache/device/base/device.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::OpenTestedDevice;
using testing::TestedDevices;

// Says what it was told to.
class FixedEvent : public DeviceEvent {
 public:
  explicit FixedEvent(absl::StatusOr<bool> reached) : reached_(std::move(reached)) {}
  absl::StatusOr<bool> Reached() override { return reached_; }
  absl::StatusOr<double> SecondsSince(const DeviceEvent&) const override { return 0.0; }

 private:
  const absl::StatusOr<bool> reached_;
};

TEST_CASE("who waits for what never comes is told in time", "[device]") {
  const std::chrono::milliseconds soon(3);
  VICINITY_CHECK_CODE(FixedEvent(false).WaitOnHost(soon), absl::StatusCode::kDeadlineExceeded);
  VICINITY_CHECK_CODE(FixedEvent(absl::InternalError("kernel")).WaitOnHost(soon),
                      absl::StatusCode::kInternal);
  VICINITY_CHECK_OK(FixedEvent(true).WaitOnHost(std::chrono::nanoseconds(0)));
}

TEST_CASE("events, streams and memory of every device", "[device]") {
  const auto device = OpenTestedDevice(GENERATE_COPY(from_range(TestedDevices())));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto first, device->NewEvent());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto last, device->NewEvent());
  VICINITY_CHECK_OK(first->WaitOnHost(std::chrono::nanoseconds(0)));  // was never recorded
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto stream, device->NewStream());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto other, device->NewStream());
  VICINITY_ASSERT_OK_AND_ASSIGN(const DeviceMemory memory,
                                device->Allocate(MemoryKind::kDevice, 1000));
  CHECK(reinterpret_cast<uintptr_t>(memory.data()) % 256 == 0);
  VICINITY_REQUIRE_OK(stream->Record(first.get()));
  VICINITY_REQUIRE_OK(stream->Fill(memory.data(), 7, memory.bytes()));
  VICINITY_REQUIRE_OK(stream->Record(last.get()));
  VICINITY_REQUIRE_OK(other->WaitFor(*last));
  CHECK(testing::BytesFromDevice(device.get(), other.get(), memory.data(), memory.bytes()) ==
        std::string(1000, 7));
  VICINITY_ASSERT_OK_AND_ASSIGN(const double seconds, last->SecondsSince(*first));
  CHECK(seconds >= 0);
  VICINITY_CHECK_CODE(device->Allocate(MemoryKind::kDevice, int64_t{1} << 50),
                      absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace vicinity
