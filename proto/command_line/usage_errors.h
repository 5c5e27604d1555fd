// What a command line that makes no sense is told: what is wrong, and what was probably meant.
#pragma once

#include "absl/status/status.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace vicinity {

// `error`, which CLI11 threw when it parsed for `app`, as InvalidArgument in our words, none of
// CLI11's.
absl::Status UsageError(const CLI::App& app, const CLI::ParseError& error);

}  // namespace vicinity
