// Is this machine, or container, fit for a server?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/commands/operate/finding.h"

namespace vicinity::cli {

// Open files, processes, address space and mappings against what docs/operations.md says a server
// wants; huge pages; the clock. `root` is the folder that /proc and /sys lie in: "" but for tests.
// Each limit that the system does not tell is passed over.
std::vector<Finding> CheckMachine(const std::string& root = "");

// Do files of so many bytes fit the memory that the page cache may have?
Finding CheckPageCache(int64_t file_bytes, const std::string& root = "");

}  // namespace vicinity::cli
