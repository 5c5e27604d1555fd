#include "cache/device/base/kernel.h"
#include "cache/device/copy_rows.h"

namespace vicinity {

int LaunchOnCuda(void* stream, const CopyRows& work) {
  static_cast<void>(stream);
  static_cast<void>(work);
  return kNoCuda;
}

}  // namespace vicinity
