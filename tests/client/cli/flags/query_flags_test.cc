#include "client/cli/flags/query_flags.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/flags/vip_flags.h"
#include "client/planning/home_plan.h"
#include "client/query/query_text.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

constexpr char kText[] = "src = nodes(node, $seeds)\nw = walk(src, links, 4)\n";

// The command line from its end, as CLI11 takes it.
absl::StatusOr<VipRequest> Parsed(std::vector<std::string> args) {
  VipRequest request;
  QueryFlags flags;
  CLI::App app;
  AddVipFlags(&app, &request);
  AddQueryFlags(&app, &flags);
  app.parse(std::move(args));
  CHECK(flags.given() == (flags.text.has_value() || flags.file.has_value()));
  return WithQuery(request, flags);
}

TEST_CASE("a query is given as text or in a file", "[cli]") {
  const testing::TempDir folder;
  std::ofstream(folder.File("q.txt")) << kText;
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipRequest none, Parsed({"7", "--batch-size"}));
  CHECK_FALSE(none.query.has_value());
  const std::vector<std::vector<std::string>> both = {{kText, "--query"},
                                                      {folder.File("q.txt"), "--query-file"}};
  for (std::vector<std::string> args : both) {
    args.insert(args.begin(), {"7", "--batch-size"});
    VICINITY_ASSERT_OK_AND_ASSIGN(const VipRequest request, Parsed(args));
    REQUIRE(request.query.has_value());
    CHECK(QueryText(*request.query) == kText);
    CHECK(request.batch_size == 7);
  }
}

TEST_CASE("what is no query, or two, or goes with none is refused", "[cli]") {
  std::vector<std::string> args = {kText, "--query"};
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  SECTION("two") { args.insert(args.end(), {"q.txt", "--query-file"}); }
  SECTION("no text") { args = {"", "--query"}; }
  SECTION("no query") { args = {"src = node(", "--query"}; }
  SECTION("no file") {
    args = {"/nowhere/q.txt", "--query-file"};
    code = absl::StatusCode::kNotFound;
  }
  SECTION("fanouts") { args.insert(args.end(), {"5,5", "--fanouts"}); }
  SECTION("draws") { args.insert(args.end(), {"labor", "--draws"}); }
  SECTION("edges") { args.insert(args.end(), {"weight > 2", "--where"}); }
  VICINITY_CHECK_CODE(Parsed(args).status(), code);
}

}  // namespace
}  // namespace vicinity::cli
