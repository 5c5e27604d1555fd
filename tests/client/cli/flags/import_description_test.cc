#include "client/cli/flags/import_description.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

TEST_CASE("flags describe a graph of one type", "[cli]") {
  SimpleImportFlags flags;
  flags.edges = "data/cora.edges.txt.gz";
  flags.num_nodes = 10;
  flags.features = "all.npz:x";
  flags.labels = "odd:name.npy";
  flags.targets = "all.npz:y";
  flags.train = "train.txt";
  flags.test_mask = "all.npz:test";
  flags.add_reverse = true;
  flags.dedup = true;
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ImportDescription description,
                                DescribeSimpleImport(flags));
  CHECK(description.name() == "cora");
  CHECK(description.add_reverse());
  CHECK_FALSE(description.add_reverse_apart());
  CHECK(description.dedup());
  CHECK_FALSE(description.drop_self_loops());
  REQUIRE(description.nodes_size() == 1);
  const proto::NodeSource& nodes = description.nodes(0);
  CHECK(nodes.count() == 10);
  CHECK_FALSE(nodes.ids_from_edges());
  REQUIRE(nodes.columns_size() == 2);
  CHECK(nodes.columns(0).name() == "features");
  CHECK(nodes.columns(0).array().path() == "all.npz");
  CHECK(nodes.columns(0).array().member() == "x");
  CHECK(nodes.columns(1).name() == "target");
  CHECK(nodes.columns(1).array().member() == "y");
  CHECK(nodes.target_column() == "target");
  CHECK(nodes.label().array().path() == "odd:name.npy");
  CHECK(nodes.label().array().member().empty());
  CHECK(nodes.train().ids().path() == "train.txt");
  CHECK_FALSE(nodes.has_validation());
  CHECK(nodes.test().mask().member() == "test");
  REQUIRE(description.edges_size() == 1);
  CHECK(description.edges(0).source() == nodes.name());
  CHECK(description.edges(0).target() == nodes.name());
  CHECK(description.edges(0).ends().path() == "data/cora.edges.txt.gz");
}

TEST_CASE("without a count and ids the nodes are those that edges name", "[cli]") {
  SimpleImportFlags flags;
  flags.edges = "e.npy";
  flags.name = "mine";
  flags.add_reverse_apart = true;
  VICINITY_ASSERT_OK_AND_ASSIGN(proto::ImportDescription description, DescribeSimpleImport(flags));
  CHECK(description.name() == "mine");
  CHECK(description.add_reverse_apart());
  CHECK_FALSE(description.add_reverse());
  CHECK(description.nodes(0).ids_from_edges());
  CHECK(description.nodes(0).id_kind() == proto::DENSE);
  flags.ids = "ids.txt";
  VICINITY_ASSERT_OK_AND_ASSIGN(description, DescribeSimpleImport(flags));
  CHECK_FALSE(description.nodes(0).ids_from_edges());
  CHECK(description.nodes(0).id_kind() == proto::ID_KIND_UNSPECIFIED);
}

TEST_CASE("flags that exclude each other are refused", "[cli]") {
  SimpleImportFlags flags;
  VICINITY_CHECK_CODE(DescribeSimpleImport(flags).status(), absl::StatusCode::kInvalidArgument);
  flags.edges = "e.npy";
  flags.train = "a.txt";
  flags.train_mask = "b.npy";
  VICINITY_CHECK_CODE(DescribeSimpleImport(flags).status(), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a description is read from its file, errors told with their line", "[cli]") {
  const testing::TempDir folder;
  std::ofstream(folder.File("good")) << "name: 'g'\nnodes { name: 'a' count: 3 }\n";
  std::ofstream(folder.File("bad")) << "name: 'g'\nnoodles { name: 'a' }\n";
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ImportDescription description,
                                ReadImportDescription(folder.File("good")));
  CHECK(description.nodes(0).count() == 3);
  const absl::Status bad = ReadImportDescription(folder.File("bad")).status();
  VICINITY_CHECK_CODE(bad, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(bad.message()), Catch::Contains("bad:2:"));
  VICINITY_CHECK_CODE(ReadImportDescription(folder.File("none")).status(),
                      absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace vicinity::cli
