// A command line of the user's, run by the shell.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace vicinity::cli {

// The word as the shell takes it back, whatever it holds; plain words stay as they are.
std::string ShellQuoted(const std::string& word);

// Runs `command` by /bin/sh and waits for its end. Aborted with the end of what it printed unless
// it exits with 0; DeadlineExceeded if it was ended at the limit.
absl::Status RunShellCommand(const std::string& command, absl::Duration limit);

}  // namespace vicinity::cli
