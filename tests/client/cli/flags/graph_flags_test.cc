#include "client/cli/flags/graph_flags.h"

#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/output/output.h"
#include "proto/common/checksum.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

class GraphFlagsTest {
 public:
  GraphFlagsTest() : graph_(testing::TypedGraph(20, 10, 5, 1)) {
    VICINITY_REQUIRE_OK(WriteGraph(graph_, testing::Shuffled(graph_, 2, 1), folder_.File("g")));
    GraphFlags flags;
    flags.data = folder_.File("g");
    auto opened = OpenGraph(flags);
    VICINITY_REQUIRE_OK(opened);
    opened_ = *std::move(opened);
  }

 protected:
  const testing::MemoryGraph graph_;
  const testing::TempDir folder_;
  std::unique_ptr<Graph> opened_;
};

TEST_CASE_METHOD(GraphFlagsTest, "user ids go in and come out, numbers and strings", "[cli]") {
  const std::vector<std::string> items = {graph_.nodes[1].names[3], graph_.nodes[1].names[0]};
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto nodes, ResolveTyped(*opened_, 1, items));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto ids, UserIdsOf(*opened_, 1, nodes));
  REQUIRE(ids.size() == 2);
  CHECK(IdAsText(ids[0]) == items[0]);
  CHECK(IdAsText(ids[1]) == items[1]);

  const auto user = absl::StrCat(static_cast<int64_t>(graph_.nodes[0].keys[7]));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto users, ResolveTyped(*opened_, 0, {user}));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto numbers, UserIdsOf(*opened_, 0, users));
  REQUIRE(numbers.size() == 1);
  CHECK(numbers[0].is_number_integer());
  CHECK(IdAsText(numbers[0]) == user);
}

TEST_CASE("names of any bytes come out as valid JSON, and no two look the same", "[cli]") {
  testing::MemoryGraph graph = testing::TypedGraph(20, 10, 5, 1);
  std::vector<std::string>& names = graph.nodes[1].names;
  names[0] = "caf\xE9";
  names[1] = "caf\xE8";
  names[2] = "\xF0\x9F\x98";  // cut inside a character
  names[3] = "\x1B[2J\"\\";
  names[4] = "gr\xC3\xBCn";
  names[5] = std::string("\0\x80\xFF", 3);
  for (size_t i = 0; i < names.size(); ++i) {
    graph.nodes[1].keys[i] = Checksum(names[i], graph.schema.node_types[1].key_salt);
  }
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(WriteGraph(graph, folder.File("g")));
  GraphFlags flags;
  flags.data = folder.File("g");
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto opened, OpenGraph(flags));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto nodes, ResolveTyped(*opened, 1, names));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto ids, UserIdsOf(*opened, 1, nodes));
  CHECK(ids[0] == "caf\\xe9");
  CHECK(ids[1] == "caf\\xe8");
  CHECK(ids[2] == "\\xf0\\x9f\\x98");
  CHECK(ids[3] == names[3]);
  CHECK(ids[4] == names[4]);
  CHECK(IdAsText(ids[3]) == "\\x1b[2J\\\"\\\\");  // nothing moves the cursor of a terminal
  CHECK(IdAsText(ids[4]) == names[4]);
  std::ostringstream out;
  PrintJson(ids, out);
  CHECK(nlohmann::json::parse(out.str()) == nlohmann::json(ids));
}

TEST_CASE_METHOD(GraphFlagsTest, "ids that the graph does not have are named", "[cli]") {
  const absl::Status strings =
      ResolveTyped(*opened_, 1, {graph_.nodes[1].names[3], "no such item"}).status();
  VICINITY_CHECK_CODE(strings, absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(strings.message()), Catch::Contains("no such item"));
  VICINITY_CHECK_CODE(ResolveTyped(*opened_, 2, {"5"}), absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(ResolveTyped(*opened_, 2, {"-1"}), absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(ResolveTyped(*opened_, 2, {"x"}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(ResolveTyped(*opened_, 2, {""}), absl::StatusCode::kInvalidArgument);
}

TEST_CASE_METHOD(GraphFlagsTest, "a node type must be named where there are several", "[cli]") {
  CHECK(FindNodeTypeFlag(opened_->schema(), "tag").value() == 2);
  VICINITY_CHECK_CODE(FindNodeTypeFlag(opened_->schema(), ""), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(FindNodeTypeFlag(opened_->schema(), "shop"), absl::StatusCode::kNotFound);
  CHECK(FindNodeTypeFlag(testing::RandomGraph({}).schema, "").value() == 0);
}

TEST_CASE("a graph needs a place and a sensible timeout", "[cli]") {
  VICINITY_CHECK_CODE(OpenGraph({}), absl::StatusCode::kInvalidArgument);
  GraphFlags flags;
  flags.data = "/no/such/folder";
  VICINITY_CHECK_CODE(OpenGraph(flags), absl::StatusCode::kNotFound);
  flags.timeout_seconds = 0;
  VICINITY_CHECK_CODE(OpenGraph(flags), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("errors of the client library keep code and text", "[cli]") {
  const absl::Status status = ToStatus(Error(ErrorCode::kUnavailable, "shard 2 is away"));
  VICINITY_CHECK_CODE(status, absl::StatusCode::kUnavailable);
  CHECK(status.message() == "shard 2 is away");
}

}  // namespace
}  // namespace vicinity::cli
