#include "client/types/dlpack_type.h"

#include <cstdint>

namespace vicinity {

DLDataType DlpackType(DType dtype) {
  const auto bits = static_cast<uint8_t>(8 * DTypeBytes(dtype));
  switch (dtype) {
    case DType::kBool:
    case DType::kUint8:
      return {kDLUInt, bits, 1};
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
      return {kDLInt, bits, 1};
    case DType::kBfloat16:
      return {kDLBfloat, bits, 1};
    case DType::kFloat16:
    case DType::kFloat32:
    case DType::kFloat64:
      break;
  }
  return {kDLFloat, bits, 1};
}

}  // namespace vicinity
