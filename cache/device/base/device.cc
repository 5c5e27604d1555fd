#include "cache/device/base/device.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr std::chrono::microseconds kLongestNap(200);

}  // namespace

DeviceMemory::~DeviceMemory() {
  if (data_ != nullptr) device_->Free(kind_, data_);
}

// Asks again and again, since a device cannot wake a thread that wants to give up in time.
absl::Status DeviceEvent::WaitOnHost(std::chrono::nanoseconds timeout) {
  const auto start = std::chrono::steady_clock::now();
  std::chrono::microseconds nap(1);
  for (;;) {
    VICINITY_ASSIGN_OR_RETURN(const bool reached, Reached());
    if (reached) return absl::OkStatus();
    const auto waited = std::chrono::steady_clock::now() - start;
    if (waited >= timeout) {
      return absl::DeadlineExceededError(absl::StrCat(
          "the device is not there after ",
          std::chrono::duration_cast<std::chrono::milliseconds>(waited).count(), " ms"));
    }
    std::this_thread::sleep_for(nap);
    nap = std::min(2 * nap, kLongestNap);
  }
}

absl::Status FinishOnHost(Device* device, DeviceStream* stream, std::chrono::nanoseconds timeout) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<DeviceEvent> event, device->NewEvent());
  VICINITY_RETURN_IF_ERROR(stream->Record(event.get()));
  return event->WaitOnHost(timeout);
}

}  // namespace vicinity
