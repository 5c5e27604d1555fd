// Completion of the tool's command lines in a shell.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "client/cli/commands/command.h"

namespace vicinity::cli {

// A script for bash that completes commands, subcommands and flags, and else names of files:
// `source <(vicinity completion bash)`.
std::string BashCompletion(absl::Span<const Command> commands);

// The same for zsh, each word with what it does: a function `_vicinity` for a folder of its
// `fpath`, or `source <(vicinity completion zsh)` behind `compinit`.
std::string ZshCompletion(absl::Span<const Command> commands);

// The same for fish: `vicinity completion fish | source`.
std::string FishCompletion(absl::Span<const Command> commands);

}  // namespace vicinity::cli
