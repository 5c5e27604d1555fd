// The tool `vicinity`: what of it needs a process. All else is in tool.cc and the commands.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "client/cli/commands.h"
#include "client/cli/output/terminal_progress.h"
#include "client/cli/tool.h"
#include "proto/common/last_words.h"

namespace {

bool Ask(const std::string& question) {
  std::cerr << question << " [y/N] " << std::flush;
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

}  // namespace

int main(int argc, char** argv) {
  vicinity::SpeakLastWords("vicinity");
  // gRPC's own lines say less than the errors that commands end with.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  vicinity::cli::TerminalProgress progress(&std::cerr, isatty(STDERR_FILENO) == 1,
                                           &std::chrono::steady_clock::now);
  vicinity::cli::ToolContext tool;
  tool.narration = &std::cerr;
  tool.progress = &progress;
  if (isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1) tool.ask = &Ask;
  // Not argv[0], which a shell may have found on its PATH.
  std::error_code no_proc;
  tool.program = std::filesystem::read_symlink("/proc/self/exe", no_proc).string();
  const std::vector<std::string> args(argv + 1, argv + argc);
  return static_cast<int>(
      vicinity::cli::RunTool(vicinity::cli::AllCommands(), args, tool, std::cout));
}
