// Runs one command of the tool as the tool would, without a process.
#pragma once

#include <string>
#include <vector>

#include "client/cli/commands/command.h"
#include "client/cli/output/exit_code.h"

namespace vicinity::cli {

struct Answer {
  ExitCode code = ExitCode::kOk;
  std::string out;
  std::string narration;  // notes of the progress included
};

// `args` without the command's name. METIS runs in tests/partition/cut:metis_child_program, which
// the test must have among its data.
Answer RunCommand(const Command& command, const std::vector<std::string>& args);

}  // namespace vicinity::cli
