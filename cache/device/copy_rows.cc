#include "cache/device/copy_rows.h"

#include <cstdint>

#include "cache/device/base/kernel.h"

namespace vicinity {
namespace {

using CopyRowsFunction = void (*)(const CopyRows&, const CopyRowsShape&, int64_t);

CopyRowsFunction CopyRowsOf(int word_bytes) {
  switch (word_bytes) {
    case 16:
      return CopyRowsThread<16>;
    case 8:
      return CopyRowsThread<8>;
    case 4:
      return CopyRowsThread<4>;
    case 2:
      return CopyRowsThread<2>;
    default:
      return CopyRowsThread<1>;
  }
}

}  // namespace

Kernel KernelOf(const CopyRows& work) {
  const CopyRowsShape shape = ShapeOf(work);
  const CopyRowsFunction copy = CopyRowsOf(shape.word_bytes);
  return MakeKernel("copy rows", work, shape.num_threads(),
                    [=](const CopyRows& rows, int64_t t) { copy(rows, shape, t); });
}

}  // namespace vicinity
