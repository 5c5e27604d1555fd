#include "client/train/model.h"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

namespace vicinity {

void InitializeWeights(uint64_t seed, Model* model) {
  const torch::NoGradGuard no_grad;
  // A generator of our own: the global one belongs to the whole process.
  const at::Generator generator = at::detail::createCPUGenerator(seed);
  for (torch::Tensor parameter : model->parameters()) {
    if (parameter.dim() < 2) {
      parameter.zero_();
      continue;
    }
    const double bound = 1 / std::sqrt(static_cast<double>(parameter.size(1)));
    parameter.uniform_(-bound, bound, generator);
  }
}

}  // namespace vicinity
