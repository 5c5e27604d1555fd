#include "client/cli/flags/shards_flag.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/testing/status_checks.h"

namespace vicinity::cli {
namespace {

TEST_CASE("shards are numbers and ranges, each once", "[shards_flag]") {
  CHECK(ParseShards("3").value() == std::vector<int32_t>{3});
  CHECK(ParseShards("0-3").value() == std::vector<int32_t>{0, 1, 2, 3});
  CHECK(ParseShards("7,0-2,2,1").value() == std::vector<int32_t>{7, 0, 1, 2});
  CHECK(ParseShards("5-5").value() == std::vector<int32_t>{5});
  CHECK(ParseShards("2147483647").value() == std::vector<int32_t>{2147483647});
  CHECK(ParseShards("2147483646-2147483647").value().size() == 2);
}

TEST_CASE("what are no shards is refused, and soon", "[shards_flag]") {
  for (const char* text : {"", "x", "1,", ",1", "3-1", "-1", "1-2-3", "0-", "1..3", "2147483648",
                           "0-2147483647", "0-999999,1000000-1999999"}) {
    CAPTURE(text);
    VICINITY_CHECK_CODE(ParseShards(text), absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("the flag takes them, and says what is wrong", "[shards_flag]") {
  CLI::App app;
  std::vector<int32_t> shards;
  AddShardsFlag(&app, &shards, "these alone");
  app.parse("--shards 0-2,4");
  CHECK(shards == std::vector<int32_t>{0, 1, 2, 4});
  CHECK_THROWS_WITH(app.parse("--shards 3-1"),
                    Catch::Contains("--shards: should be numbers and ranges"));
}

}  // namespace
}  // namespace vicinity::cli
