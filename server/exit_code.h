// How vicinityd ends (docs/cli.md).
#pragma once

#include "absl/status/status.h"

namespace vicinity {

// A number that says what to do next, the same as the tool's (docs/decisions/0006): 2 for wrong
// flags or a wrong file, 3 for what is not there, 6 for what may not be read, 7 for another dataset
// than expected, 65 for damaged data, 71 for what the machine refuses, 1 for all else.
int DaemonExitCode(const absl::Status& status);

}  // namespace vicinity
