#include "tests/testing/attacks/attacks.h"

#include <utility>

#include "tests/testing/attacks/flood_attacks.h"
#include "tests/testing/attacks/holding_attacks.h"

namespace vicinity::testing {

std::vector<Attack> AllAttacks(const AttackTarget& target) {
  std::vector<Attack> all = FloodAttacks(target);
  for (Attack& attack : HoldingAttacks(target)) all.push_back(std::move(attack));
  return all;
}

}  // namespace vicinity::testing
