// float32 values in half the bytes, as rows may cross the wire: rounded to the nearest value there
// is, of two to the even one; beyond the range to infinity; NaN stays NaN, with its upper bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proto/service.pb.h"

namespace vicinity {

uint16_t ToFloat16(float value);
uint16_t ToBfloat16(float value);

// Exact.
float FromFloat16(uint16_t bits);
float FromBfloat16(uint16_t bits);

// Of `count` values, which need not be aligned. `precision` is not PRECISION_STORED.
void NarrowFloats(proto::Precision precision, const char* floats, size_t count, char* halves);
void WidenFloats(proto::Precision precision, const char* halves, size_t count, char* floats);

}  // namespace vicinity
