// `--shards`, wherever shards are named.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace vicinity::cli {

// Declares `--shards N,N-M,...`, as ParseShardList() takes them. `shards` must outlive the app.
CLI::Option* AddShardsFlag(CLI::App* app, std::vector<int32_t>* shards, const std::string& help);

}  // namespace vicinity::cli
