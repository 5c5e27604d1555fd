// Fuzz targets: the frames of the bulk channel, at either end.
#pragma once

#include <string>

#include "tests/fuzz/fuzz_target.h"

namespace vicinity::fuzz {

// Bytes that a client or a server sends: what is taken for a frame is one, to the last bit.
FuzzTarget FuzzBulkFrames(const std::string& folder);

}  // namespace vicinity::fuzz
