#include "client/cli/completion.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace vicinity::cli {
namespace {

std::vector<std::string> FlagsOf(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

// A line of the script's `case`: what may stand behind these words.
std::string Line(const std::string& words, const std::vector<std::string>& next) {
  return absl::StrCat("    '", words, "') next='", absl::StrJoin(next, " "), "' ;;\n");
}

std::string LinesOf(const Command& command) {
  CLI::App app;
  command.declare(&app);
  std::vector<std::string> next = FlagsOf(app);
  std::string lines;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    next.push_back(sub->get_name());
    absl::StrAppend(&lines, Line(absl::StrCat(command.name, " ", sub->get_name()), FlagsOf(*sub)));
  }
  return absl::StrCat(lines, Line(command.name, next));
}

}  // namespace

std::string BashCompletion(absl::Span<const Command> commands) {
  std::vector<std::string> names = {"help", "completion"};
  std::string lines;
  for (const Command& command : commands) {
    if (command.hidden) continue;
    names.push_back(command.name);
    absl::StrAppend(&lines, LinesOf(command));
  }
  const std::string all = absl::StrJoin(names, " ");
  // A subcommand counts where it is one: else the command's own words are offered. Where nothing
  // fits, bash offers files.
  return absl::StrCat(
      "_vicinity() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" next=''\n"
      "  local first=\"${COMP_WORDS[1]}\" second=\"${COMP_WORDS[2]}\"\n"
      "  if ((COMP_CWORD == 1)); then first='' second=''; fi\n"
      "  if ((COMP_CWORD == 2)); then second=''; fi\n"
      "  case \"$first\" in\n"
      "    '') next='",
      all, "' ;;\n    help) next='", all, "' ;;\n    completion) next=bash ;;\n",
      "  esac\n"
      "  case \"$first\" in\n",
      lines,
      "  esac\n"
      "  case \"$first $second\" in\n",
      lines,
      "  esac\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$next\" -- \"$word\")\n"
      "}\n"
      "complete -o default -F _vicinity vicinity\n");
}

}  // namespace vicinity::cli
