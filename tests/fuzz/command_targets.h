// Fuzz targets: the daemon's command line, and addresses wherever they are written.
#pragma once

#include <string>

#include "tests/fuzz/fuzz_target.h"

namespace vicinity::fuzz {

FuzzTarget FuzzServerFlags(const std::string& folder);
FuzzTarget FuzzAddress(const std::string& folder);

}  // namespace vicinity::fuzz
