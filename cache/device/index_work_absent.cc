#include "cache/device/base/kernel.h"
#include "cache/device/index_work.h"

namespace vicinity {

int LaunchOnCuda(void* stream, const WriteCells& work) {
  static_cast<void>(stream);
  static_cast<void>(work);
  return kNoCuda;
}

int LaunchOnCuda(void* stream, const LookUpIds& work) {
  static_cast<void>(stream);
  static_cast<void>(work);
  return kNoCuda;
}

int LaunchOnCuda(void* stream, const PublishCounts& work) {
  static_cast<void>(stream);
  static_cast<void>(work);
  return kNoCuda;
}

}  // namespace vicinity
