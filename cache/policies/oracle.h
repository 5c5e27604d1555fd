// The static oracle: the best that a cache can be which is filled once.
#pragma once

#include <memory>

#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"

namespace vicinity {

// "oracle": nodes by how many batches of the trace that it is counted on ask for them; no static
// cache of the same size fetches fewer rows for it.
std::unique_ptr<Policy> MakeOraclePolicy(const AccessTrace& trace);

}  // namespace vicinity
