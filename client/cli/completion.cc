#include "client/cli/completion.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "proto/command_line/help.h"

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

// A word that may be typed, and what it does.
struct Offer {
  std::string word;
  std::string text;
  bool takes_value = false;              // a flag's
  std::vector<std::string> values = {};  // that it may have; empty: any
};

// Those of a flag whose form is "table|json".
std::vector<std::string> ValuesOf(const CLI::Option& option) {
  const std::string form = option.get_type_name();
  if (form.find('|') == std::string::npos) return {};
  return absl::StrSplit(form, '|');
}

std::vector<Offer> FlagOffers(const CLI::App& app) {
  std::vector<Offer> offers;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      offers.push_back({"--" + name, option->get_description(),
                        option->get_items_expected_max() > 0, ValuesOf(*option)});
    }
  }
  return offers;
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

std::vector<Offer> SubcommandOffers(const CLI::App& app) {
  std::vector<Offer> offers;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    offers.push_back({sub->get_name(), sub->get_description()});
  }
  return offers;
}

std::vector<Offer> CommandOffers(absl::Span<const Command> commands) {
  std::vector<Offer> offers = {{"help", "what a command does, with an example"},
                               {"completion", "a script for bash, zsh or fish"}};
  for (const Command& command : commands) {
    if (!command.hidden) offers.push_back({command.name, command.summary});
  }
  return offers;
}

// Each command that is not hidden, and each of their subcommands, which come first. `sub`: its
// name; empty: the command itself.
using Visit = std::function<void(const Command&, const std::string& sub, const CLI::App& app)>;

void ForAll(absl::Span<const Command> commands, const Visit& visit) {
  for (const Command& command : commands) {
    if (command.hidden) continue;
    CLI::App app;
    SetHelp(&app);
    command.declare(&app);
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
      visit(command, sub->get_name(), *sub);
    }
    visit(command, "", app);
  }
}

// In single quotes, for zsh.
std::string ZshWord(const Offer& offer) {
  return absl::StrCat(
      "'", absl::StrReplaceAll(absl::StrCat(offer.word, ":", offer.text), {{"'", "'\\''"}}), "'");
}

std::string ZshWords(std::vector<Offer> offers, const std::vector<Offer>& more) {
  offers.insert(offers.end(), more.begin(), more.end());
  return absl::StrJoin(offers, " ", [](std::string* out, const Offer& offer) {
    absl::StrAppend(out, ZshWord(offer));
  });
}

std::string InFishQuotes(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

// What follows a flag, for fish: one of these, a file, or nothing.
std::string FishValue(const Offer& offer) {
  if (offer.values.empty()) return offer.takes_value ? " -r" : "";
  return absl::StrCat(" -x -a '", absl::StrJoin(offer.values, " "), "'");
}

// Lines for flags that have few values: what may follow them.
std::string ValueLines(absl::Span<const Command> commands,
                       const std::function<std::string(const std::string& words,
                                                       const std::vector<std::string>&)>& line) {
  std::string lines;
  ForAll(commands, [&](const Command& command, const std::string& sub, const CLI::App& app) {
    const std::string words = sub.empty() ? command.name : absl::StrCat(command.name, " ", sub);
    for (const Offer& offer : FlagOffers(app)) {
      if (!offer.values.empty()) {
        absl::StrAppend(&lines, line(absl::StrCat(words, " ", offer.word), offer.values));
      }
    }
  });
  return lines;
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
  const std::string values = ValueLines(commands, &Line);
  // A subcommand counts where it is one: else the command's own words are offered. Where nothing
  // fits, bash offers files.
  return absl::StrCat(
      "_vicinity() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" next=''\n"
      "  local first=\"${COMP_WORDS[1]}\" second=\"${COMP_WORDS[2]}\"\n"
      "  local before=\"${COMP_WORDS[COMP_CWORD - 1]}\"\n"
      "  if ((COMP_CWORD == 1)); then first='' second=''; fi\n"
      "  if ((COMP_CWORD == 2)); then second=''; fi\n"
      "  case \"$first\" in\n"
      "    '') next='",
      all, "' ;;\n    help) next='", all, "' ;;\n    completion) next='bash zsh fish' ;;\n",
      "  esac\n"
      "  case \"$first\" in\n",
      lines,
      "  esac\n"
      "  case \"$first $second\" in\n",
      lines,
      "  esac\n"
      "  case \"$first $before\" in\n",
      values,
      "  esac\n"
      "  case \"$first $second $before\" in\n",
      values,
      "  esac\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$next\" -- \"$word\")\n"
      "}\n"
      "complete -o default -F _vicinity vicinity\n");
}

std::string ZshCompletion(absl::Span<const Command> commands) {
  const std::string values =
      ValueLines(commands, [](const std::string& words, const std::vector<std::string>& next) {
        return absl::StrCat("    '", words, "') flags=(", absl::StrJoin(next, " "), ") ;;\n");
      });
  std::string lines;
  ForAll(commands, [&lines](const Command& command, const std::string& sub, const CLI::App& app) {
    const std::string words = sub.empty() ? absl::StrCat("'", command.name, " '*")
                                          : absl::StrCat("'", command.name, " ", sub, "'");
    absl::StrAppend(&lines, "    ", words, ") flags=(",
                    ZshWords(SubcommandOffers(app), FlagOffers(app)), ") ;;\n");
  });
  return absl::StrCat(
      "#compdef vicinity\n"
      "_vicinity() {\n"
      "  local -a commands flags\n"
      "  commands=(",
      ZshWords(CommandOffers(commands), {}),
      ")\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  case \"${words[2]} ${words[3]}\" in\n",
      lines,
      "    'completion '*) flags=(bash zsh fish) ;;\n"
      "    'help '*) flags=(\"${commands[@]}\") ;;\n"
      "  esac\n"
      "  case \"${words[2]} ${words[CURRENT-1]}\" in\n",
      values,
      "  esac\n"
      "  case \"${words[2]} ${words[3]} ${words[CURRENT-1]}\" in\n",
      values,
      "  esac\n"
      "  _describe option flags\n"
      "  _files\n"
      "}\n"
      // Loaded by fpath it is the function's body; sourced it only makes the function known.
      "if [[ \"${funcstack[1]}\" == _vicinity ]]; then\n"
      "  _vicinity \"$@\"\n"
      "else\n"
      "  compdef _vicinity vicinity\n"
      "fi\n");
}

std::string FishCompletion(absl::Span<const Command> commands) {
  std::string lines;
  for (const Offer& offer : CommandOffers(commands)) {
    absl::StrAppend(&lines, "complete -c vicinity -n __fish_use_subcommand -f -a ", offer.word,
                    " -d ", InFishQuotes(offer.text), "\n");
  }
  absl::StrAppend(&lines,
                  "complete -c vicinity -n '__fish_seen_subcommand_from completion' -f "
                  "-a 'bash zsh fish'\n");
  ForAll(commands, [&lines](const Command& command, const std::string& sub, const CLI::App& app) {
    std::string seen = absl::StrCat("__fish_seen_subcommand_from ", command.name);
    if (!sub.empty()) absl::StrAppend(&seen, "; and __fish_seen_subcommand_from ", sub);
    const std::string begin = absl::StrCat("complete -c vicinity -n ", InFishQuotes(seen));
    for (const Offer& offer : SubcommandOffers(app)) {
      absl::StrAppend(&lines, begin, " -a ", offer.word, " -d ", InFishQuotes(offer.text), "\n");
    }
    for (const Offer& offer : FlagOffers(app)) {
      absl::StrAppend(&lines, begin, " -l ", offer.word.substr(2), FishValue(offer), " -d ",
                      InFishQuotes(offer.text), "\n");
    }
  });
  return lines;
}

}  // namespace vicinity::cli
