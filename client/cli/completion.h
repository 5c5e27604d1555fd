// Completion of the tool's command lines in a shell.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "client/cli/commands/command.h"

namespace vicinity::cli {

// A script for bash that completes commands, subcommands and flags, and else names of files:
// `source <(vicinity completion bash)`.
std::string BashCompletion(absl::Span<const Command> commands);

}  // namespace vicinity::cli
