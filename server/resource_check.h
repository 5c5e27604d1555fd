// Has this process room for what a server needs, before gRPC takes it and aborts where it cannot?
#pragma once

#include <cstdint>

#include "absl/status/status.h"

namespace vicinity {

struct ResourceNeeds {
  int num_threads = 32;  // beside those there are: a server's own and gRPC's, at its start
  // Beside what is mapped: stacks of 8 MiB, and what the allocator sets aside for each thread.
  int64_t address_bytes = int64_t{1} << 30;
};

// Takes it all for a moment and gives it back. ResourceExhausted naming what is wanting, how much
// of it there is, and the limit to look at.
absl::Status CheckResources(const ResourceNeeds& needs = {});

}  // namespace vicinity
