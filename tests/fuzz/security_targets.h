// Fuzz targets: what decides who may call.
#pragma once

#include <string>

#include "tests/fuzz/fuzz_target.h"

namespace vicinity::fuzz {

FuzzTarget FuzzAccessFile(const std::string& folder);
// A token, alone, in a file, and in a call's header.
FuzzTarget FuzzToken(const std::string& folder);
// Certificate, key, CA and revocation files: the text of each behind a line of dashes.
FuzzTarget FuzzCertificates(const std::string& folder);

}  // namespace vicinity::fuzz
