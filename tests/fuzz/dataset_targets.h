// Fuzz targets: the files of a dataset, and those beside it.
#pragma once

#include <string>

#include "tests/fuzz/fuzz_target.h"

namespace vicinity::fuzz {

// The text without its checksum line; tried as it is, and with a fingerprint that fits.
FuzzTarget FuzzManifest(const std::string& folder);
// The number of a file, and what it holds: the header's checksum and the manifest are made to fit.
FuzzTarget FuzzShardFile(const std::string& folder);
FuzzTarget FuzzRanking(const std::string& folder);
// Schema and book as a server sends them.
FuzzTarget FuzzDescription(const std::string& folder);
// Whose node is whose, as another partitioner says it: text or .npy.
FuzzTarget FuzzAssignment(const std::string& folder);
FuzzTarget FuzzClusterFile(const std::string& folder);

}  // namespace vicinity::fuzz
