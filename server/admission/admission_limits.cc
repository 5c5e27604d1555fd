#include "server/admission/admission_limits.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/common/machine.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 50;

absl::Status CheckRange(absl::string_view name, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, ", should be from ", least, " to ", most));
}

absl::Status CheckRate(absl::string_view name, double value) {
  // Not below 0 is what not-a-number is not.
  if (value >= 0 && value <= 1e15) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, ", should be from 0 (no limit) to 1e15 a second"));
}

}  // namespace

int64_t AdmissionLimits::EffectiveRunning() const {
  if (max_running > 0) return max_running;
  return std::max<int64_t>(16, 4 * int64_t{NumCores()});
}

absl::Status AdmissionLimits::Validate() const {
  VICINITY_RETURN_IF_ERROR(CheckRange("max_calls", max_calls, 1, 100'000));
  VICINITY_RETURN_IF_ERROR(CheckRange("max_client_calls", max_client_calls, 1, 100'000));
  VICINITY_RETURN_IF_ERROR(CheckRange("max_running", max_running, 0, 100'000));
  VICINITY_RETURN_IF_ERROR(CheckRange("max_reply_bytes", max_reply_bytes, 1, kMostBytes));
  VICINITY_RETURN_IF_ERROR(
      CheckRange("max_client_reply_bytes", max_client_reply_bytes, 1, kMostBytes));
  VICINITY_RETURN_IF_ERROR(CheckRate("max_client_request_rate", max_client_request_rate));
  VICINITY_RETURN_IF_ERROR(CheckRate("max_client_byte_rate", max_client_byte_rate));
  VICINITY_RETURN_IF_ERROR(CheckRange("max_queue_delay (ms)", max_queue_delay.count(), 1, 60'000));
  VICINITY_RETURN_IF_ERROR(
      CheckRange("max_overload_delay (ms)", max_overload_delay.count(), 1, 60'000));
  VICINITY_RETURN_IF_ERROR(CheckRange("stall_time (ms)", stall_time.count(), 1, 60'000));
  VICINITY_RETURN_IF_ERROR(CheckRange("overload_time (ms)", overload_time.count(), 1, 60'000));
  return CheckRange("write_timeout (ms)", write_timeout.count(), 100, 3'600'000);
}

AdmissionLimits AdmissionLimits::OfSmallCalls() {
  AdmissionLimits limits;
  limits.calls = "small calls";
  limits.has_flags = false;
  limits.max_calls = 512;
  limits.max_client_calls = 128;
  limits.max_running = 2;
  limits.max_client_request_rate = 1000;
  // A small reply goes at once, or nobody reads it. Its turn is over after ten times as long in any
  // case: sooner than those who wait for it are refused, twice max_queue_delay.
  limits.stall_time = std::chrono::milliseconds(5);
  limits.write_timeout = std::chrono::seconds(2);
  return limits;
}

AdmissionLimits AdmissionLimits::OfHealthChecks() {
  AdmissionLimits limits = OfSmallCalls();
  limits.calls = "health checks";
  limits.max_client_calls = 64;
  limits.max_running = 1;
  return limits;
}

AdmissionLimits AdmissionLimits::OfWrites() {
  AdmissionLimits limits;
  limits.calls = "writes";
  limits.has_flags = false;
  limits.max_calls = 64;  // each of a request's memory
  limits.max_client_calls = 32;
  limits.max_running = 16;
  limits.max_queue_delay = std::chrono::seconds(2);
  limits.max_overload_delay = std::chrono::seconds(1);
  limits.overload_time = std::chrono::seconds(1);
  return limits;
}

AdmissionLimits AdmissionLimits::OfReplicas() {
  AdmissionLimits limits = OfWrites();
  limits.calls = "copied writes";
  limits.max_calls = 256;
  limits.max_client_calls = 256;
  limits.max_running = 8;
  limits.max_queue_delay = std::chrono::seconds(10);
  limits.max_overload_delay = std::chrono::seconds(10);
  return limits;
}

}  // namespace vicinity
