// What walks of the C interface are told; in C++ they are arguments of Graph::Walk.
#pragma once

#include "client/types/graph_values.h"
#include "sampler/walk_spec.h"

namespace vicinity {

struct WalkOptions {
  WalkSpec walk;  // metapath and length are arguments of the call
  DrawId draw;
};

}  // namespace vicinity
