#include "cache/device/base/device.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// Says what it was told to. What devices do beyond, tests/contract/device_contract.h tells.
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

}  // namespace
}  // namespace vicinity
