#include "tests/client/cli/run_command.h"

#include <chrono>
#include <sstream>

#include "absl/types/span.h"
#include "client/cli/output/terminal_progress.h"
#include "client/cli/tool.h"

namespace vicinity::cli {

Answer RunCommand(const Command& command, const std::vector<std::string>& args) {
  std::ostringstream out;
  std::ostringstream narration;
  TerminalProgress progress(&narration, /*is_terminal=*/false, &std::chrono::steady_clock::now);
  ToolContext tool;
  tool.narration = &narration;
  tool.progress = &progress;
  tool.program = "tests/partition/cut/metis_child_program";
  std::vector<std::string> all = {command.name};
  all.insert(all.end(), args.begin(), args.end());
  Answer answer;
  answer.code = RunTool(absl::MakeConstSpan(&command, 1), all, tool, out);
  answer.out = out.str();
  answer.narration = narration.str();
  return answer;
}

}  // namespace vicinity::cli
