// Attacks that keep connections busy: what is bad about them is how fast they come.
#pragma once

#include <vector>

#include "tests/testing/attacks/hostile_session.h"

namespace vicinity::testing {

std::vector<Attack> FloodAttacks(const AttackTarget& target);

}  // namespace vicinity::testing
