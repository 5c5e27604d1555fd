#include "client/cli/flags/shards_flag.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <vector>

namespace vicinity::cli {
namespace {

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
