#include "proto/common/retry_delay.h"

#include <cstdint>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"

namespace vicinity {
namespace {

constexpr int64_t kLongest = 24 * 3600 * 1000;

}  // namespace

absl::Status WithRetryDelay(absl::Status status, std::chrono::milliseconds delay) {
  status.SetPayload(kRetryDelayTrailer, absl::Cord(absl::StrCat(delay.count())));
  return status;
}

std::optional<std::chrono::milliseconds> RetryDelayOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kRetryDelayTrailer);
  int64_t delay = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &delay) || delay < 0 ||
      delay > kLongest) {
    return std::nullopt;
  }
  return std::chrono::milliseconds(delay);
}

}  // namespace vicinity
