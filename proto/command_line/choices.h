// Values of a flag that are words or numbers of a range, and what is said of others.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/command_line/nearest_word.h"

namespace vicinity {

// "should be a, b or c, not "d"; did you mean c?"
inline std::string NoSuchChoice(const std::string& value, const std::vector<std::string>& words) {
  std::string list;
  for (size_t i = 0; i < words.size(); ++i) {
    absl::StrAppend(&list, i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  }
  return absl::StrCat("should be ", list, ", not \"", value, "\"", DidYouMean(value, words));
}

// Turns one of the words into the number of its enumerator, as CLI11's own transformers do, whose
// errors show the numbers to people. For an option of type Enum: ->transform(Choices(words)).
template <typename Enum>
CLI::Validator Choices(const std::map<std::string, Enum>& words) {
  return CLI::Validator(
      [words](std::string& value) {
        const auto found = words.find(value);
        if (found != words.end()) {
          value = std::to_string(static_cast<int64_t>(found->second));
          return std::string();
        }
        std::vector<std::string> names;
        for (const auto& [name, number] : words) names.push_back(name);
        return NoSuchChoice(value, names);
      },
      /*validator_desc=*/"");
}

// For an option that keeps the word: ->check(OneOf({...})).
inline CLI::Validator OneOf(const std::vector<std::string>& words) {
  return CLI::Validator(
      [words](std::string& value) {
        const bool known = std::find(words.begin(), words.end(), value) != words.end();
        return known ? std::string() : NoSuchChoice(value, words);
      },
      /*validator_desc=*/"");
}

// Numbers from `least` to `most`: ->check(InRange(0.05, 3600.0)). What is no number at all is left
// to the option, which says so.
template <typename Number>
CLI::Validator InRange(Number least, Number most) {
  return CLI::Validator(
      [least, most](std::string& value) {
        double number = 0;
        // As the option itself reads it: hexadecimal, too.
        if (!CLI::detail::lexical_cast(value, number)) return std::string();
        if (number >= static_cast<double>(least) && number <= static_cast<double>(most)) {
          return std::string();
        }
        return absl::StrCat("should be from ", least, " to ", most, ", not ", value);
      },
      /*validator_desc=*/"");
}

}  // namespace vicinity
