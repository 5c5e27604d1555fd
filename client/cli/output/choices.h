// Values of a flag that are words.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace vicinity::cli {

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
        return absl::StrCat("should be ",
                            absl::StrJoin(words, " or ",
                                          [](std::string* out, const auto& word) {
                                            absl::StrAppend(out, word.first);
                                          }),
                            ", not \"", value, "\"");
      },
      /*validator_desc=*/"");
}

}  // namespace vicinity::cli
