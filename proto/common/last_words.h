// What a program says when the system refuses it memory or threads where nobody can return a
// status: inside the standard library, gRPC, or a thread at work.
#pragma once

namespace vicinity {

// The exit code of a program that has not got the memory, threads or processes it needs.
inline constexpr int kResourcesExitCode = 71;  // EX_OSERR of <sysexits.h>

// From now on an exception that nobody catches and SIGABRT end the process with a line on standard
// error, which names the limits of memory and processes where one of them is met; the exit code is
// then kResourcesExitCode. Any other abort is a fault of ours, says so, and leaves a core as it
// would have. For the `main` of programs, never for a library.
//
// `program` must live as long as the process.
void SpeakLastWords(const char* program);

}  // namespace vicinity
