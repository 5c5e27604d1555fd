#include "client/cli/output/index_list.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "proto/manifest.pb.h"
#include "proto/service.pb.h"

namespace vicinity::cli {
namespace {

void Add(const std::string& name, const std::string& shard, const std::string& type, double value,
         proto::StatusReply* reply) {
  proto::MetricStatus* const metric = reply->add_metrics();
  metric->set_name(name);
  metric->set_value(value);
  for (const auto& [label, text] : std::vector<std::pair<std::string, std::string>>{
           {"shard", shard}, {"type", type}, {"column", "year"}}) {
    proto::MetricLabel* const added = metric->add_labels();
    added->set_name(label);
    added->set_value(text);
  }
}

TEST_CASE("a shard of two replicas has its index once, and a shard without it is not named",
          "[cli]") {
  std::vector<proto::StatusReply> servers(3);
  for (const int server : {0, 1}) {
    Add("vicinity_server_index_bytes", "2", "paper", 1'200, &servers[server]);
    Add("vicinity_server_index_rows", "2", "paper", 100, &servers[server]);
  }
  Add("vicinity_server_index_bytes", "0", "paper", 240, &servers[1]);
  Add("vicinity_server_index_rows", "0", "paper", 20, &servers[1]);
  Add("vicinity_server_index_bytes", "0", "paper:cites:paper", 24, &servers[1]);
  Add("vicinity_server_index_rows", "0", "paper:cites:paper", 2, &servers[1]);
  Add("vicinity_server_sent_bytes_total", "1", "paper", 7, &servers[2]);
  const nlohmann::ordered_json indexes = IndexesAsJson(servers);
  CHECK(indexes == nlohmann::ordered_json::parse(R"([
      {"type": "paper", "column": "year", "kind": "sorted", "entries": 120, "bytes": 1440,
       "shards": [0, 2]},
      {"type": "paper:cites:paper", "column": "year", "kind": "sorted", "entries": 2, "bytes": 24,
       "shards": [0]}])"));
  std::ostringstream out;
  PrintIndexes(indexes, out);
  CHECK_THAT(out.str(), Catch::Contains("paper:cites:paper") && Catch::Contains("[0,2]"));
}

TEST_CASE("of a dataset without indexes nothing is shown", "[cli]") {
  std::ostringstream out;
  PrintIndexes(IndexesAsJson(proto::Manifest()), out);
  CHECK(out.str().empty());
}

}  // namespace
}  // namespace vicinity::cli
