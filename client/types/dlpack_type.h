// What a value of a column is in DLPack.
#pragma once

#include <dlpack/dlpack.h>

#include "partition/schema/schema.h"

namespace vicinity {

// kBool is an unsigned byte of 0 or 1: DLPack 0.6 has no type for it.
DLDataType DlpackType(DType dtype);

}  // namespace vicinity
