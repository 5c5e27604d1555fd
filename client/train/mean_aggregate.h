// Mean aggregation over compressed neighbour lists as a differentiable libtorch operation.
#pragma once

#include <torch/types.h>

namespace vicinity {

// Row i of the result is the mean of the rows sources[offsets[i]] .. sources[offsets[i + 1] - 1] of
// `inputs`, 0 where there are none. Differentiable in `inputs`; the result does not depend on the
// number of threads.
//
// `inputs`: float32 [n, width]; `offsets`: int64 [m + 1], rising from 0; `sources`: int32, each in
// [0, n). Throws c10::Error for other types or shapes, as libtorch's own operations do; the values
// of `offsets` and `sources` are trusted.
//
// Lifetime: the graph of derivatives keeps `offsets` and `sources` until the backward pass.
torch::Tensor MeanOfNeighbours(const torch::Tensor& inputs, const torch::Tensor& offsets,
                               const torch::Tensor& sources);

}  // namespace vicinity
