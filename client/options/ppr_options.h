// What personalised PageRank of the C interface is told; in C++ they are arguments of
// Graph::PersonalizedPageRank.
#pragma once

#include <string>

#include "client/types/graph_values.h"
#include "sampler/proximity/ppr_spec.h"

namespace vicinity {

struct PprOptions {
  std::string node_type;  // its number is what `ppr` has
  PprSpec ppr;            // edge_types and top are arguments of the call
  DrawId draw;
};

}  // namespace vicinity
