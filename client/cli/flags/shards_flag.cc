#include "client/cli/flags/shards_flag.h"

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "proto/cluster/shard_list.h"
#include "proto/common/ids.h"

namespace vicinity::cli {

CLI::Option* AddShardsFlag(CLI::App* app, std::vector<int32_t>* shards, const std::string& help) {
  const CLI::Validator checked(
      [](std::string& value) {
        const absl::Status status = ParseShardList(value).status();
        return status.ok() ? std::string() : std::string(status.message());
      },
      /*validator_desc=*/"");
  const auto take = [shards](const std::string& text) {
    const absl::StatusOr<std::vector<ShardId>> parsed = ParseShardList(text);
    if (!parsed.ok()) return;  // `checked` has said so
    shards->clear();
    for (const ShardId shard : *parsed) shards->push_back(shard.value);
  };
  return app->add_option_function<std::string>("--shards", take, help)
      ->type_name("N,N-M,...")
      ->check(checked);
}

}  // namespace vicinity::cli
