// The arithmetic of mean aggregation: plain loops that compilers vectorise, without libtorch.
//
// Matrices are row-major and dense; `width` is the length of a row. Neighbours come as in
// LayerFlow: those of output i are sources[offsets[i]] .. sources[offsets[i + 1] - 1].
#pragma once

#include <cstdint>

namespace vicinity {

struct NeighbourLists {
  const int64_t* offsets = nullptr;
  const int32_t* sources = nullptr;
  int64_t num_outputs = 0;
};

// out[i] = the mean of in[s] over the neighbours s of i, 0 if there are none, for `first` <= i <
// `end`. Calls for disjoint ranges may run at once.
void MeanForward(const NeighbourLists& lists, const float* in, int64_t width, int64_t first,
                 int64_t end, float* out);

// grad_in[s] += grad_out[i] / (number of neighbours of i) for every i and neighbour s of it, in
// columns [first, end) of both. Calls for disjoint columns may run at once, and the order of the
// additions does not depend on how the columns are divided: results are the same for any number of
// threads.
void MeanBackward(const NeighbourLists& lists, const float* grad_out, int64_t width, int64_t first,
                  int64_t end, float* grad_in);

}  // namespace vicinity
