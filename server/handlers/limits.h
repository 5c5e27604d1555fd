// What a server takes on in one call; proto/service.proto tells clients.
#pragma once

#include <cstdint>

#include "absl/status/status.h"

namespace vicinity {

struct Limits {
  int64_t max_ids = kMostIds;                    // in one request
  int64_t max_sampled = 10'000'000;              // targets x fanout of one SampleRequest
  int64_t max_chunk_bytes = int64_t{256} << 10;  // payload of one reply message

  // Requests of so many ids stay below kMaxRequestBytes (proto/limits.h).
  static constexpr int64_t kMostIds = 1'000'000;

  // InvalidArgument naming the limit that is out of its range.
  absl::Status Validate() const;
};

}  // namespace vicinity
