// The attacks that are known to have hurt servers of HTTP/2, gRPC or ours, by name.
#pragma once

#include <vector>

#include "tests/testing/attacks/hostile_session.h"

namespace vicinity::testing {

// No two have the same name.
std::vector<Attack> AllAttacks(const AttackTarget& target);

}  // namespace vicinity::testing
