// Fuzz targets: the files that users import.
#pragma once

#include <string>

#include "tests/fuzz/fuzz_target.h"

namespace vicinity::fuzz {

FuzzTarget FuzzNpy(const std::string& folder);
FuzzTarget FuzzNpz(const std::string& folder);
FuzzTarget FuzzTextTable(const std::string& folder);
// A whole import: the description, a line of dashes, and what all its files hold.
FuzzTarget FuzzImport(const std::string& folder);

}  // namespace vicinity::fuzz
