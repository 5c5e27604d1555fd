// `--shards`, wherever shards are named.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace vicinity::cli {

// Numbers and ranges, both ends included: "0-2,7" are 0, 1, 2 and 7, in that order, each once.
// InvalidArgument for what is neither, a range that falls, a negative number, or more than a
// million shards.
absl::StatusOr<std::vector<int32_t>> ParseShards(absl::string_view text);

// Declares `--shards N,N-M,...`. `shards` must outlive the app.
CLI::Option* AddShardsFlag(CLI::App* app, std::vector<int32_t>* shards, const std::string& help);

}  // namespace vicinity::cli
