// Attacks that take hold of something and keep it.
#pragma once

#include <vector>

#include "tests/testing/attacks/hostile_session.h"

namespace vicinity::testing {

std::vector<Attack> HoldingAttacks(const AttackTarget& target);

}  // namespace vicinity::testing
