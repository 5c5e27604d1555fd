// Keeps gRPC out of forked processes: its threads and locks stay behind in the parent, so that a
// child of a process that has made an RPC would wait for them for ever.
#pragma once

#include "absl/status/status.h"

namespace vicinity {

// To be called before gRPC is used. The first call of a process makes it the one that may;
// FailedPrecondition, with what to do, in the children that it forks from then on. What those run
// by exec is a new process.
//
// Threads: any number.
absl::Status ClaimProcessForRpc();

}  // namespace vicinity
