// All commands of the tool, in the order of the help.
#pragma once

#include "absl/types/span.h"
#include "client/cli/commands/command.h"

namespace vicinity::cli {

absl::Span<const Command> AllCommands();

}  // namespace vicinity::cli
