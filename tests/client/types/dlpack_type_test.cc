#include "client/types/dlpack_type.h"

#include <catch2/catch.hpp>

namespace vicinity {
namespace {

TEST_CASE("values of every type have their type in DLPack", "[dlpack_type]") {
  struct Case {
    DType dtype;
    int code;
    int bits;
  };
  for (const Case& c : {Case{DType::kBool, kDLUInt, 8}, Case{DType::kInt8, kDLInt, 8},
                        Case{DType::kUint8, kDLUInt, 8}, Case{DType::kInt16, kDLInt, 16},
                        Case{DType::kInt32, kDLInt, 32}, Case{DType::kInt64, kDLInt, 64},
                        Case{DType::kFloat16, kDLFloat, 16}, Case{DType::kBfloat16, kDLBfloat, 16},
                        Case{DType::kFloat32, kDLFloat, 32}, Case{DType::kFloat64, kDLFloat, 64}}) {
    const DLDataType type = DlpackType(c.dtype);
    CHECK(type.code == c.code);
    CHECK(type.bits == c.bits);
    CHECK(type.lanes == 1);
  }
}

}  // namespace
}  // namespace vicinity
