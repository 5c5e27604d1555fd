#include "client/cli/tool.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/completion.h"
#include "proto/command_line/help.h"
#include "proto/command_line/nearest_word.h"
#include "proto/command_line/usage_errors.h"
#include "proto/common/thread.h"
#include "proto/version.h"

namespace vicinity::cli {
namespace {

void PrintOverview(absl::Span<const Command> commands, std::ostream& out) {
  out << "vicinity: builds, inspects and serves graphs for GNN training\n\n"
         "Usage: vicinity COMMAND [ARGUMENTS]\n"
         "       vicinity help COMMAND\n"
         "       vicinity completion bash|zsh|fish\n"
         "       vicinity --version\n\n"
         "Commands:\n";
  size_t width = 0;
  for (const Command& command : commands) {
    if (!command.hidden) width = std::max(width, std::string_view(command.name).size());
  }
  for (const Command& command : commands) {
    if (command.hidden) continue;
    const std::string_view name = command.name;
    out << "  " << name << std::string(width + 2 - name.size(), ' ') << command.summary << '\n';
  }
}

// The example comes first: it is what most people came for.
void PrintHelp(const Command& command, const CLI::App& app, std::ostream& out) {
  out << "vicinity " << command.name << ": " << command.summary << "\n\nExample:\n";
  for (const absl::string_view line : absl::StrSplit(command.example, '\n')) {
    out << "  " << line << '\n';
  }
  out << '\n' << app.help();
}

const Command* Find(absl::Span<const Command> commands, const std::string& name) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&name](const Command& command) { return command.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

ExitCode UnknownCommand(absl::Span<const Command> commands, const std::string& name,
                        const ToolContext& tool) {
  if (absl::StartsWith(name, "-")) {
    *tool.narration << "vicinity: there is no flag " << name
                    << DidYouMean(name, {"--help", "--version"})
                    << "\n(flags go behind a command; `vicinity help` lists them)" << std::endl;
    return ExitCode::kUsage;
  }
  std::vector<std::string> names = {"help", "completion"};
  for (const Command& command : commands) {
    if (!command.hidden) names.push_back(command.name);
  }
  *tool.narration << "vicinity: there is no command " << name << DidYouMean(name, names)
                  << "\n(`vicinity help` lists them)" << std::endl;
  return ExitCode::kUsage;
}

ExitCode Report(const Command& command, const absl::Status& status, const ToolContext& tool) {
  const ExitCode code = ExitCodeOf(status);
  if (code == ExitCode::kOk) return code;
  *tool.narration << "vicinity " << command.name << ": " << status.message() << std::endl;
  if (code == ExitCode::kUsage) {
    *tool.narration << "(`vicinity help " << command.name << "` shows an example and the flags)"
                    << std::endl;
  }
  return code;
}

// CLI11 reports by exceptions; they end here.
absl::Status Parse(std::vector<std::string> args, CLI::App* app, bool* wants_help) {
  std::reverse(args.begin(), args.end());  // as CLI11 takes them
  try {
    app->parse(std::move(args));
  } catch (const CLI::CallForHelp&) {
    *wants_help = true;
  } catch (const CLI::ParseError& error) {
    return UsageError(*app, error);
  }
  return absl::OkStatus();
}

ExitCode RunCommand(const Command& command, std::vector<std::string> args, const ToolContext& tool,
                    std::ostream& out) {
  CLI::App app;
  app.name(absl::StrCat("vicinity ", command.name));
  SetHelp(&app);
  app.option_defaults()->always_capture_default();
  const Action action = command.declare(&app);
  bool wants_help = false;
  absl::Status status = Parse(std::move(args), &app, &wants_help);
  if (wants_help) {
    PrintHelp(command, app, out);
  } else if (status.ok()) {
    status = WithinResources([&] { return action(tool, out); });
  }
  out.flush();
  if (status.ok() && !out) status = absl::UnavailableError("cannot write the output");
  return Report(command, status, tool);
}

ExitCode PrintCompletion(absl::Span<const Command> commands, const std::vector<std::string>& args,
                         const ToolContext& tool, std::ostream& out) {
  const std::string shell = args.size() == 2 ? args[1] : "";
  if (shell == "bash") {
    out << BashCompletion(commands);
  } else if (shell == "zsh") {
    out << ZshCompletion(commands);
  } else if (shell == "fish") {
    out << FishCompletion(commands);
  } else {
    *tool.narration << "vicinity completion: there are those for bash, zsh and fish"
                    << DidYouMean(shell, {"bash", "zsh", "fish"})
                    << " (`vicinity help` shows how)\n";
    return ExitCode::kUsage;
  }
  return ExitCode::kOk;
}

}  // namespace

ExitCode RunTool(absl::Span<const Command> commands, const std::vector<std::string>& args,
                 const ToolContext& tool, std::ostream& out) {
  if (args.empty()) {
    PrintOverview(commands, *tool.narration);
    return ExitCode::kUsage;
  }
  if (args[0] == "--version") {
    out << "vicinity " << kVersion << '\n';
    return ExitCode::kOk;
  }
  if (args[0] == "help" && args.size() > 1) {
    const Command* const command = Find(commands, args[1]);
    if (command == nullptr) return UnknownCommand(commands, args[1], tool);
    return RunCommand(*command, {"--help"}, tool, out);
  }
  if (args[0] == "help" || args[0] == "--help" || args[0] == "-h") {
    PrintOverview(commands, out);
    return ExitCode::kOk;
  }
  if (args[0] == "completion") return PrintCompletion(commands, args, tool, out);
  const Command* const command = Find(commands, args[0]);
  if (command == nullptr) return UnknownCommand(commands, args[0], tool);
  return RunCommand(*command, {args.begin() + 1, args.end()}, tool, out);
}

}  // namespace vicinity::cli
