#include "client/cli/output/dataset_description.h"

#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/manifest.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

proto::Manifest TypedManifest(const testing::TempDir& folder) {
  const testing::MemoryGraph graph = testing::TypedGraph(20, 10, 5, 1);
  VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 3, 1), folder.File("g")));
  auto manifest = ReadManifest(folder.File("g"));
  VICINITY_REQUIRE_OK(manifest);
  return *std::move(manifest);
}

TEST_CASE("a description has every type, column, shard and ranking", "[cli]") {
  const testing::TempDir folder;
  proto::Manifest manifest = TypedManifest(folder);
  proto::Ranking* ranking = manifest.add_rankings();
  ranking->set_name("default");
  ranking->add_fanouts(15);
  ranking->add_homes()->add_shards(2);
  proto::Column* const copy = manifest.mutable_schema()->mutable_edge_types(0)->add_columns();
  *copy = manifest.schema().node_types(0).columns(0);
  copy->set_name("near");
  copy->set_of_source("features");
  VICINITY_ASSERT_OK_AND_ASSIGN(const nlohmann::ordered_json json,
                                DescriptionAsJson(DescriptionOf(manifest)));
  CHECK(json["num_shards"] == 3);
  REQUIRE(json["node_types"].size() == 3);
  const auto& users = json["node_types"][0];
  CHECK(users["name"] == "user");
  CHECK(users["ids"] == "int64");
  CHECK(users["num_nodes"] == 20);
  CHECK(users["num_nodes_by_shard"].size() == 3);
  CHECK(users["columns"][0]["dtype"] == "float32");
  CHECK(json["edge_types"].size() == 5);
  CHECK(json["edge_types"][0]["name"] == "user:buys:item");
  CHECK(json["edge_types"][0]["num_edges"] > 0);
  CHECK(json["edge_types"][0]["columns"].back()["of_source"] == "features");
  CHECK_FALSE(users["columns"][0].contains("of_source"));
  CHECK(json["rankings"][0]["homes"].dump() == "[[2]]");
  std::ostringstream out;
  PrintDescription(json, out);
  for (const char* text :
       {"user", "int64", "features float32[", "] (source's features)", "tag:of:user", "default"}) {
    CHECK_THAT(out.str(), Catch::Contains(text));
  }
}

TEST_CASE("a description that makes no sense is the teller's fault", "[cli]") {
  const testing::TempDir folder;
  proto::DescribeReply description = DescriptionOf(TypedManifest(folder));
  description.mutable_book()->mutable_node_types()->RemoveLast();
  VICINITY_CHECK_CODE(DescriptionAsJson(description), absl::StatusCode::kInternal);
  description.mutable_schema()->mutable_edge_types(0)->set_source("nobody");
  VICINITY_CHECK_CODE(DescriptionAsJson(description), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace vicinity::cli
