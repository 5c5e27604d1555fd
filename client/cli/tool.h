// The tool without its process: finds the command, parses its flags, runs it.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/cli/commands/command.h"
#include "client/cli/output/exit_code.h"

namespace vicinity::cli {

// `args` is what stands behind the program's name. Data and help that was asked for go to `out`;
// errors, with a pointer to the help where the tool was misused, to tool.narration.
ExitCode RunTool(absl::Span<const Command> commands, const std::vector<std::string>& args,
                 const ToolContext& tool, std::ostream& out);

}  // namespace vicinity::cli
