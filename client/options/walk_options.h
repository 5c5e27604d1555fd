// What walks of the C interface are told, and what is counted on them; in C++ they are arguments of
// Graph::Walk and Graph::MostVisited.
#pragma once

#include <string>

#include "client/types/graph_values.h"
#include "sampler/proximity/visit_counts.h"
#include "sampler/walk_spec.h"

namespace vicinity {

struct WalkOptions {
  WalkSpec walk;  // metapath and length are arguments of the call
  DrawId draw;
};

struct VisitOptions {
  std::string node_type;  // its number is what `visits` has
  VisitSpec visits;       // metapath, length, num_walks and top are arguments of the call
  DrawId draw;
};

}  // namespace vicinity
