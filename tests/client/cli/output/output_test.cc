#include "client/cli/output/output.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace vicinity::cli {
namespace {

TEST_CASE("a table's columns are aligned, names left and numbers right", "[cli]") {
  Table table({{"shard"}, {"nodes", Table::Align::kRight}, {"note"}});
  table.AddRow({"0", "1,000", "first"});
  table.AddRow({"größte", "7"});
  std::ostringstream out;
  table.Print(out);
  CHECK(out.str() ==
        "shard   nodes  note\n"
        "0       1,000  first\n"
        "größte      7\n");
}

TEST_CASE("JSON is indented, and survives names that are no text", "[cli]") {
  nlohmann::ordered_json json;
  json["b"] = 1;
  json["a"] = "x\xff";
  std::ostringstream out;
  PrintJson(json, out);
  CHECK(out.str() == "{\n  \"b\": 1,\n  \"a\": \"x\xEF\xBF\xBD\"\n}\n");
}

TEST_CASE("the format is table unless it is asked to be json, and nothing else", "[cli]") {
  OutputFormat format = OutputFormat::kTable;
  const auto parse = [&format](std::vector<std::string> args) {
    CLI::App app;
    AddFormatFlag(&app, &format);
    app.parse(std::move(args));
  };
  parse({});
  CHECK(format == OutputFormat::kTable);
  parse({"--format=json"});
  CHECK(format == OutputFormat::kJson);
  CHECK_THROWS_AS(parse({"--format=xml"}), CLI::ParseError);
}

TEST_CASE("what is left of a certificate is told in days, and in words when it is little",
          "[cli]") {
  const absl::Time now = absl::FromUnixSeconds(1'000'000);
  CHECK(HumanTimeLeft(absl::InfiniteFuture(), now) == "-");
  CHECK(HumanTimeLeft(now + absl::Hours(24 * 87 + 5), now) == "87 d");
  CHECK(HumanTimeLeft(now + absl::Hours(30), now) == "30 h");
  CHECK(HumanTimeLeft(now - absl::Seconds(1), now) == "expired");
  CHECK(ExpiryWarning("a", absl::InfiniteFuture(), now).empty());
  CHECK(ExpiryWarning("a", now + absl::Hours(24 * 15), now).empty());
  CHECK_THAT(ExpiryWarning("a", now + absl::Hours(24 * 13), now),
             Catch::StartsWith("a: the certificate expires at 1970-01-25") &&
                 Catch::Contains("vicinity certificate renew"));
  CHECK_THAT(ExpiryWarning("a", now - absl::Hours(1), now), Catch::Contains("expired at"));
}

}  // namespace
}  // namespace vicinity::cli
