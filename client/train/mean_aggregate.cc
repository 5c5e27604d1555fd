#include "client/train/mean_aggregate.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "client/train/mean_kernel.h"

namespace vicinity {
namespace {

constexpr int64_t kTargetsATask = 256;  // enough work to outweigh handing it to a thread
constexpr int64_t kColumnsATask = 64;   // four cache lines, so that threads do not share any

NeighbourLists ListsOf(const torch::Tensor& offsets, const torch::Tensor& sources) {
  return {offsets.data_ptr<int64_t>(), sources.data_ptr<int32_t>(), offsets.size(0) - 1};
}

class MeanFunction : public torch::autograd::Function<MeanFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& inputs, const torch::Tensor& offsets,
                               const torch::Tensor& sources) {
    context->save_for_backward({offsets, sources});
    context->saved_data["num_inputs"] = inputs.size(0);
    const torch::Tensor dense = inputs.contiguous();
    const NeighbourLists lists = ListsOf(offsets, sources);
    torch::Tensor result = torch::empty({lists.num_outputs, inputs.size(1)}, inputs.options());
    at::parallel_for(0, lists.num_outputs, kTargetsATask, [&](int64_t first, int64_t end) {
      MeanForward(lists, dense.data_ptr<float>(), dense.size(1), first, end,
                  result.data_ptr<float>());
    });
    return result;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    const torch::autograd::variable_list saved = context->get_saved_variables();
    const NeighbourLists lists = ListsOf(saved[0], saved[1]);
    const torch::Tensor grad_out = grads[0].contiguous();
    const int64_t width = grad_out.size(1);
    torch::Tensor grad_in =
        torch::zeros({context->saved_data["num_inputs"].toInt(), width}, grad_out.options());
    at::parallel_for(0, width, kColumnsATask, [&](int64_t first, int64_t end) {
      MeanBackward(lists, grad_out.data_ptr<float>(), width, first, end, grad_in.data_ptr<float>());
    });
    return {grad_in, torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

torch::Tensor MeanOfNeighbours(const torch::Tensor& inputs, const torch::Tensor& offsets,
                               const torch::Tensor& sources) {
  TORCH_CHECK(inputs.dim() == 2 && inputs.scalar_type() == torch::kFloat32,
              "inputs must be a float32 matrix");
  TORCH_CHECK(offsets.dim() == 1 && offsets.size(0) > 0 && offsets.scalar_type() == torch::kInt64 &&
                  offsets.is_contiguous(),
              "offsets must be a contiguous int64 vector that is not empty");
  TORCH_CHECK(
      sources.dim() == 1 && sources.scalar_type() == torch::kInt32 && sources.is_contiguous(),
      "sources must be a contiguous int32 vector");
  return MeanFunction::apply(inputs, offsets, sources);
}

}  // namespace vicinity
