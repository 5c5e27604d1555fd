#include "client/cli/usage_errors.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace vicinity::cli {
namespace {

// Letters left out, added, changed, or swapped with their neighbours (Damerau and Levenshtein).
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> to(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        to[i][j] = i + j;
        continue;
      }
      const size_t changed = to[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      to[i][j] = std::min({changed, to[i - 1][j] + 1, to[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        to[i][j] = std::min(to[i][j], to[i - 2][j - 2] + 1);
      }
    }
  }
  return to[a.size()][b.size()];
}

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

// Whether something that was not expected looks like a flag or a subcommand.
bool IsMistyped(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(/*recurse=*/true);
  return std::any_of(extras.begin(), extras.end(), [&app](const std::string& extra) {
    return absl::StartsWith(extra, "-") || !NearestWord(extra, SubcommandsOf(app)).empty();
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
                      DidYouMean(first, SubcommandsOf(app)));
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

// "Could not convert: --fanouts = 15x10"
std::string ConversionText(const CLI::App& app, std::string_view text) {
  absl::string_view rest(text.data(), text.size());
  if (!absl::ConsumePrefix(&rest, "Could not convert: ")) return std::string(text);
  const std::vector<std::string> parts = absl::StrSplit(rest, absl::MaxSplits(" = ", 1));
  if (parts.size() != 2) return std::string(text);
  return absl::StrCat(parts[0], " should be ", FormOf(app, parts[0]), ", not \"", parts[1], "\"");
}

}  // namespace

std::string NearestWord(std::string_view typed, const std::vector<std::string>& words) {
  std::string nearest;
  size_t least = std::numeric_limits<size_t>::max();
  for (const std::string& word : words) {
    const size_t distance = Distance(typed, word);
    if (distance >= least) continue;
    least = distance;
    nearest = word;
  }
  return least <= 1 + typed.size() / 3 && least < typed.size() ? nearest : "";
}

std::string DidYouMean(std::string_view typed, const std::vector<std::string>& words) {
  const std::string nearest = NearestWord(typed, words);
  return nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?");
}

absl::Status UsageError(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    return absl::InvalidArgumentError(ConversionText(app, error.what()));
  }
  // What is missing is often there, mistyped, and CLI11 looks for what is missing first.
  const bool required = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr || (required && IsMistyped(app))) {
    return absl::InvalidArgumentError(ExtrasText(app));
  }
  return absl::InvalidArgumentError(error.what());
}

}  // namespace vicinity::cli
