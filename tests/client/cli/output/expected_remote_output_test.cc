#include "client/cli/output/expected_remote_output.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "client/planning/expected_remote.h"

namespace vicinity::cli {
namespace {

TEST_CASE("expected rows are a table and JSON, by the size of the cache", "[cli]") {
  ExpectedRemote expected;
  expected.rows = 40;
  expected.points = {{0, 0, 30}, {0.5, 50, 10}, {-1, 1000, 0}};
  const nlohmann::ordered_json json = ExpectedRemoteJson(expected);
  CHECK(json["rows_per_batch"] == 40);
  REQUIRE(json["by_cache_size"].size() == 3);
  CHECK(json["by_cache_size"][1]["cache_share"] == 0.5);
  CHECK(json["by_cache_size"][1]["cache_rows"] == 50);
  CHECK(json["by_cache_size"][1]["remote_rows_per_batch"] == 10);
  CHECK(json["by_cache_size"][2]["cache_share"].is_null());
  std::ostringstream table;
  const bool of_loader = GENERATE(false, true);
  PrintExpectedRemote(expected, of_loader, table);
  CHECK((table.str().find("what a loader fetches") != std::string::npos) == of_loader);
  CHECK_THAT(table.str(), Catch::Contains("A batch needs 40 rows") && Catch::Contains("50 %") &&
                              Catch::Contains("1,000") && Catch::Contains("all remote") &&
                              Catch::Contains("25.0 %"));
}

TEST_CASE("where batches need nothing shares are 0, not what 0 / 0 is", "[cli]") {
  ExpectedRemote expected;
  expected.points = {{0, 0, 0}};
  std::ostringstream table;
  PrintExpectedRemote(expected, true, table);
  CHECK_THAT(table.str(), Catch::Contains("0.0 %") && !Catch::Contains("nan"));
}

}  // namespace
}  // namespace vicinity::cli
