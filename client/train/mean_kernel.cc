#include "client/train/mean_kernel.h"

#include <algorithm>

namespace vicinity {

void MeanForward(const NeighbourLists& lists, const float* in, int64_t width, int64_t first,
                 int64_t end, float* out) {
  for (int64_t i = first; i < end; ++i) {
    float* __restrict sum = out + i * width;
    std::fill(sum, sum + width, 0.0f);
    const int64_t num_neighbours = lists.offsets[i + 1] - lists.offsets[i];
    if (num_neighbours == 0) continue;
    for (int64_t e = lists.offsets[i]; e < lists.offsets[i + 1]; ++e) {
      const float* __restrict row = in + int64_t{lists.sources[e]} * width;
      for (int64_t c = 0; c < width; ++c) sum[c] += row[c];
    }
    const float scale = 1.0f / static_cast<float>(num_neighbours);
    for (int64_t c = 0; c < width; ++c) sum[c] *= scale;
  }
}

void MeanBackward(const NeighbourLists& lists, const float* grad_out, int64_t width, int64_t first,
                  int64_t end, float* grad_in) {
  for (int64_t i = 0; i < lists.num_outputs; ++i) {
    const int64_t num_neighbours = lists.offsets[i + 1] - lists.offsets[i];
    if (num_neighbours == 0) continue;
    const float scale = 1.0f / static_cast<float>(num_neighbours);
    const float* __restrict grad = grad_out + i * width;
    for (int64_t e = lists.offsets[i]; e < lists.offsets[i + 1]; ++e) {
      float* __restrict row = grad_in + int64_t{lists.sources[e]} * width;
      for (int64_t c = first; c < end; ++c) row[c] += scale * grad[c];
    }
  }
}

}  // namespace vicinity
