// Fuzz targets: what comes over the network, at either end.
#pragma once

#include <string>

#include "tests/fuzz/fuzz_target.h"

namespace vicinity::fuzz {

// A message of any kind, cut anyhow: what our reader finds is what protobuf finds.
FuzzTarget FuzzMessage(const std::string& folder);
// The answers of a server that means harm to a trainer: lengths and messages, one after the other.
FuzzTarget FuzzRowsReply(const std::string& folder);
FuzzTarget FuzzFoundReply(const std::string& folder);
FuzzTarget FuzzSampleReply(const std::string& folder);
FuzzTarget FuzzRetryDelay(const std::string& folder);
// What a caller says of its trace; and traces as servers and files give them, up to the picture.
FuzzTarget FuzzTraceparent(const std::string& folder);
FuzzTarget FuzzTraces(const std::string& folder);

}  // namespace vicinity::fuzz
