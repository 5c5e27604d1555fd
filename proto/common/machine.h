// What this process may use of its machine: memory and cores, limits of the container counted.
//
// A container is a control group (version 1 or 2). The groups around this process' own count, too,
// as far as it can see them.
//
// Threads: all functions, any number at once. Each call asks the system anew.
// Errors:  none; what the system does not tell is no limit.
//
// `root` is the folder that /proc and /sys lie in: "" but for tests.
#pragma once

#include <cstdint>
#include <string>

namespace vicinity {

// The machine's memory, or the container's where that is less.
int64_t TotalMemory(const std::string& root = "");

// Memory that processes could still take: what the machine has free or can free, or what is left of
// the container's limit where that is less. -1 where nobody can tell.
int64_t AvailableMemory(const std::string& root = "");

// Cores that this process may run on: those of its affinity, or the container's share of time,
// rounded up, where that is less. At least 1.
int NumCores(const std::string& root = "");

// Processes and threads that this process' containers may still start; INT64_MAX: without a limit.
// The user's limit (ulimit -u) is not among them.
int64_t AvailableTasks(const std::string& root = "");

}  // namespace vicinity
