#include "client/cli/flags/changes_size.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace vicinity::cli {
namespace {

void Add(const std::string& name, double value, proto::StatusReply* reply) {
  proto::MetricStatus& metric = *reply->add_metrics();
  metric.set_name(name);
  metric.set_value(value);
}

// Of a server with two shards.
proto::StatusReply Reply(double memory, double files, double buffers) {
  proto::StatusReply reply;
  for (int shard = 0; shard < 2; ++shard) {
    Add("vicinity_server_changes_memory_bytes", memory, &reply);
    Add("vicinity_server_rocksdb_file_bytes", files, &reply);
    Add("vicinity_server_rocksdb_buffer_bytes", buffers, &reply);
    Add("vicinity_server_shard_version", 1e12, &reply);
  }
  return reply;
}

TEST_CASE("the server whose changes take most counts, in memory or on disk", "[changes_size]") {
  const std::vector<ServerTarget> targets = {{"a", ""}, {"b", ""}, {"c", ""}};
  const auto by_disk =
      LargestChanges(targets, {Reply(10, 1, 1), Reply(9, 20, 5), absl::UnavailableError("gone")});
  REQUIRE(by_disk.ok());
  CHECK(by_disk->server == "b");
  CHECK(by_disk->memory_bytes == 18);
  CHECK(by_disk->disk_bytes == 50);
  CHECK(by_disk->larger() == 50);
  const auto by_memory =
      LargestChanges(targets, {Reply(30, 1, 1), Reply(9, 20, 5), Reply(0, 0, 0)});
  REQUIRE(by_memory.ok());
  CHECK(by_memory->server == "a");
  CHECK(by_memory->larger() == 60);
}

TEST_CASE("servers that are silent, or read-only, say nothing of changes", "[changes_size]") {
  const std::vector<ServerTarget> targets = {{"a", ""}, {"b", ""}};
  const absl::Status gone = absl::UnavailableError("gone");
  CHECK(LargestChanges(targets, {gone, gone}).status().code() == absl::StatusCode::kUnavailable);
  CHECK(LargestChanges(targets, {proto::StatusReply(), gone}).status().code() ==
        absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace vicinity::cli
