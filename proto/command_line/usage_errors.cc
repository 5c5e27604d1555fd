#include "proto/command_line/usage_errors.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/command_line/nearest_word.h"

namespace vicinity {
namespace {

// The command, and the subcommand that was given.
std::vector<const CLI::App*> Parsed(const CLI::App& app) {
  std::vector<const CLI::App*> apps = {&app};
  for (const CLI::App* sub : app.get_subcommands()) apps.push_back(sub);
  return apps;
}

std::vector<std::string> FlagsOf(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::App* parsed : Parsed(app)) {
    for (const CLI::Option* option : parsed->get_options()) {
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    }
  }
  return flags;
}

std::vector<std::string> SubcommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

// Those of the command, and of the subcommand that was given.
std::vector<std::string> SubcommandsAtHand(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* parsed : Parsed(app)) {
    for (std::string& name : SubcommandsOf(*parsed)) names.push_back(std::move(name));
  }
  return names;
}

// Whether something that was not expected looks like a flag or a subcommand.
bool IsMistyped(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(/*recurse=*/true);
  return std::any_of(extras.begin(), extras.end(), [&app](const std::string& extra) {
    return absl::StartsWith(extra, "-") || !NearestWord(extra, SubcommandsAtHand(app)).empty();
  });
}

// Of what was not expected a flag is told, since what follows it is often its value.
std::string ExtrasText(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(/*recurse=*/true);
  const auto flag = std::find_if(extras.begin(), extras.end(), [](const std::string& extra) {
    return absl::StartsWith(extra, "-");
  });
  if (flag != extras.end()) {
    const std::string name = flag->substr(0, flag->find('='));
    return absl::StrCat("there is no flag ", name, DidYouMean(name, FlagsOf(app)));
  }
  const std::string first = extras.empty() ? "" : extras.front();
  return absl::StrCat("\"", first, "\" is one argument too many",
                      DidYouMean(first, SubcommandsAtHand(app)));
}

std::string FormOf(const CLI::App& app, const std::string& option_name) {
  for (const CLI::App* parsed : Parsed(app)) {
    const CLI::Option* const option = parsed->get_option_no_throw(option_name);
    if (option == nullptr) continue;
    const std::string type = option->get_type_name();
    if (type == "INT") return "a whole number";
    if (type == "UINT") return "a whole number from 0 on";
    if (type == "FLOAT") return "a number";
    return absl::StrCat("of the form ", type);
  }
  return "of another form";
}

// The part of CLI11's text that names the option: "--cluster: 1 required TEXT missing". Flags it
// names without their dashes.
std::string NameIn(const CLI::App& app, absl::string_view text) {
  std::string name(text.substr(0, text.find_first_of(": ")));
  if (absl::StartsWith(name, "-")) return name;
  for (const CLI::App* parsed : Parsed(app)) {
    const std::string flag = absl::StrCat("--", name);
    if (parsed->get_option_no_throw(flag) != nullptr) return flag;
  }
  return name;
}

// "Could not convert: --fanouts = 15x10"
std::string ConversionText(const CLI::App& app, absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "Could not convert: ")) {
    return absl::StrCat(NameIn(app, text), " should have another value, or none");
  }
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(" = ", 1));
  return absl::StrCat(parts.first, " should be ", FormOf(app, parts.first), ", not \"",
                      parts.second, "\"");
}

// Too few values, too many, or one for a flag that takes none.
std::string MismatchText(const CLI::App& app, absl::string_view text) {
  if (absl::StrContains(text, "At Most")) return absl::StrCat(NameIn(app, text), " is given twice");
  if (absl::StrContains(text, "flag override")) {
    return absl::StrCat(NameIn(app, text), " takes no value");
  }
  const std::string name = NameIn(app, text);
  const std::string form = FormOf(app, name);
  return absl::StrCat(name, " needs a value",
                      absl::StrContains(form, "TEXT") ? "" : absl::StrCat(" ", form));
}

// The innermost command that needs one of its subcommands and did not get it.
const CLI::App* LacksSubcommand(const CLI::App& app) {
  for (const CLI::App* parsed : Parsed(app)) {
    if (parsed->get_require_subcommand_min() > parsed->get_subcommands().size()) return parsed;
  }
  return nullptr;
}

std::string RequiredText(const CLI::App& app, absl::string_view text) {
  const CLI::App* const lacks = LacksSubcommand(app);
  if (lacks == nullptr || !absl::StartsWith(text, "A subcommand")) {
    return absl::StrCat(NameIn(app, text), " is required");
  }
  const std::vector<std::string> extras = app.remaining(/*recurse=*/true);
  return absl::StrCat(extras.empty() ? "" : absl::StrCat("there is no \"", extras[0], "\"; "),
                      "one of ", absl::StrJoin(SubcommandsOf(*lacks), ", "), " is needed");
}

// "--data excludes --cluster", "--to requires --from"
std::string PairText(absl::string_view text) {
  if (absl::StrContains(text, " excludes ")) {
    const std::pair<std::string, std::string> flags = absl::StrSplit(text, " excludes ");
    return absl::StrCat(flags.first, " and ", flags.second, " do not go together");
  }
  const std::pair<std::string, std::string> flags = absl::StrSplit(text, " requires ");
  return absl::StrCat(flags.first, " needs ", flags.second, ", too");
}

// Ours, of choices.h or of the command: "--format: should be json or table, not "yaml"".
std::string ValidationText(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(": ", 1));
  if (!absl::StartsWith(parts.second, "should be ")) return std::string(text);
  return absl::StrCat(parts.first, " ", parts.second);
}

template <typename Kind>
bool Is(const CLI::ParseError& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

}  // namespace

absl::Status UsageError(const CLI::App& app, const CLI::ParseError& error) {
  const absl::string_view text = error.what();
  // What is missing is often there, mistyped, and CLI11 looks for what is missing first.
  const bool required = Is<CLI::RequiredError>(error);
  std::string said = "these arguments do not go together";
  if (Is<CLI::ExtrasError>(error) || (required && IsMistyped(app))) {
    said = ExtrasText(app);
  } else if (required) {
    said = RequiredText(app, text);
  } else if (Is<CLI::ConversionError>(error)) {
    said = ConversionText(app, text);
  } else if (Is<CLI::ArgumentMismatch>(error)) {
    said = MismatchText(app, text);
  } else if (Is<CLI::ExcludesError>(error) || Is<CLI::RequiresError>(error)) {
    said = PairText(text);
  } else if (Is<CLI::ValidationError>(error)) {
    said = ValidationText(text);
  }
  return absl::InvalidArgumentError(said);
}

}  // namespace vicinity
