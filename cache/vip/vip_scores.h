// What a VIP analysis finds: a probability for every node and home.
#pragma once

#include <cstdint>
#include <vector>

#include "proto/common/ids.h"

namespace vicinity {

// P for every node and home: row u, home k is values[type][u * num_homes + k].
struct VipScores {
  int32_t num_homes = 0;
  std::vector<std::vector<float>> values;  // by node type

  float at(NodeTypeId type, GlobalNode node, int32_t home) const {
    return values[type.value][node.value * num_homes + home];
  }
};

}  // namespace vicinity
