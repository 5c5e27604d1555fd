// What one sample of the C interface is told; in C++ they are arguments of Graph::Sample, Fetch and
// FetchEdges.
#pragma once

#include <cstdint>
#include <vector>

#include "client/types/graph_values.h"
#include "client/types/loader_values.h"
#include "partition/schema/sampling_spec.h"

namespace vicinity {

struct SampleOptions {
  SamplingSpec sampling;
  DrawId draw;
  std::vector<LoaderOptions::ColumnRequest> columns;
  bool edge_ids = false;
  std::vector<LoaderOptions::EdgeColumnRequest> edge_columns;
};

}  // namespace vicinity
