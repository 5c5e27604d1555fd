// How long a server that refuses for now (ResourceExhausted) wants to be left alone, carried beside
// the status's code and text; and how one that is about to stop says that.
#pragma once

#include <chrono>
#include <optional>

#include "absl/status/status.h"

namespace vicinity {

// On the wire it is this trailing metadata, a decimal number of milliseconds.
inline constexpr char kRetryDelayTrailer[] = "grpc-retry-pushback-ms";
// Trailing metadata of calls that a server still answers when it is about to stop, "1": who has
// another server for its next call should ask that one. Calls on their way when it stops are lost.
inline constexpr char kStoppingTrailer[] = "vicinity-stopping";

// The same status with a delay. An OK status stays as it is.
absl::Status WithRetryDelay(absl::Status status, std::chrono::milliseconds delay);

// None: nobody said, or what was said is no number from 0 to a day.
std::optional<std::chrono::milliseconds> RetryDelayOf(const absl::Status& status);

}  // namespace vicinity
