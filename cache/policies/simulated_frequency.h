// Simulated frequency: what some epochs of sampling needed, the next will need.
#pragma once

#include <memory>

#include "cache/policies/access_trace.h"
#include "cache/policies/static_order.h"

namespace vicinity {

// "simulated-frequency": nodes by how many batches of `simulated` asked for them: epochs of the
// same trainer, but not those that the policy is counted on. Equal ones by number.
std::unique_ptr<StaticOrder> MakeSimulatedFrequencyPolicy(const AccessTrace& simulated);

}  // namespace vicinity
