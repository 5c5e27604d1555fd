// What a command line that makes no sense is told: what is wrong, and what was probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace vicinity::cli {

// The word that `typed` was most likely meant to be; empty if none is near. Near is: one letter in
// three, and one more, left out, doubled, changed, or swapped with its neighbour.
std::string NearestWord(std::string_view typed, const std::vector<std::string>& words);

// "; did you mean WORD?", or nothing where no word is near.
std::string DidYouMean(std::string_view typed, const std::vector<std::string>& words);

// `error`, which CLI11 threw when it parsed for `app`, as InvalidArgument in our words.
absl::Status UsageError(const CLI::App& app, const CLI::ParseError& error);

}  // namespace vicinity::cli
