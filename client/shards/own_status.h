// Statuses that go from one thread to another.
#pragma once

#include "absl/status/status.h"

namespace vicinity {

// The same code and text, sharing nothing with `status`: the counts of absl's shared statuses are
// kept in its library, where ThreadSanitizer cannot see that they are in order.
inline absl::Status OwnStatus(const absl::Status& status) {
  return absl::Status(status.code(), status.message());
}

}  // namespace vicinity
