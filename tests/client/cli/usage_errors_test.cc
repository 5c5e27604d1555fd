#include "client/cli/usage_errors.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/output/choices.h"
#include "tests/testing/status_checks.h"

namespace vicinity::cli {
namespace {

enum class Speed { kSlow, kFast };

// What a command line is told; empty if nothing is wrong with it.
std::string Told(std::vector<std::string> args) {
  CLI::App app;
  std::string input;
  std::vector<int> fanouts;
  double timeout = 1;
  Speed speed = Speed::kSlow;
  const std::map<std::string, Speed> speeds = {{"slow", Speed::kSlow}, {"fast", Speed::kFast}};
  app.add_option("--input", input)->required();
  app.add_option("--fanouts", fanouts)->delimiter(',')->type_name("N,N,...");
  app.add_option("--timeout", timeout);
  app.add_option("--speed", speed)->transform(Choices(speeds));
  CLI::App* const sub = app.add_subcommand("rmat");
  int scale = 0;
  sub->add_option("--scale", scale);
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::ParseError& error) {
    const absl::Status status = UsageError(app, error);
    VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }
  CHECK(speed == Speed::kFast);
  return "";
}

TEST_CASE("the nearest word is the one that was meant, or none", "[usage_errors]") {
  const std::vector<std::string> words = {"status", "shards", "partition", "get", "top"};
  CHECK(NearestWord("statsu", words) == "status");
  CHECK(NearestWord("stats", words) == "status");
  CHECK(NearestWord("partitoin", words) == "partition");
  CHECK(NearestWord("shard", words) == "shards");
  CHECK(NearestWord("gte", words) == "get");
  CHECK(NearestWord("frobnicate", words).empty());
  CHECK(NearestWord("x", words).empty());
  CHECK(NearestWord("", words).empty());
  CHECK(NearestWord("get", {}).empty());
  CHECK(DidYouMean("statsu", words) == "; did you mean status?");
  CHECK(DidYouMean("frobnicate", words).empty());
}

TEST_CASE("a command line that is right is told nothing", "[usage_errors]") {
  CHECK(Told({"--input", "x", "--fanouts", "15,10", "--speed", "fast"}) == "");
}

TEST_CASE("a mistyped flag is told with the one that was meant", "[usage_errors]") {
  CHECK(Told({"--input", "x", "--fanuots", "15,10"}) ==
        "there is no flag --fanuots; did you mean --fanouts?");
  CHECK(Told({"--input", "x", "--fanuots=15,10"}) ==
        "there is no flag --fanuots; did you mean --fanouts?");
  // Also where it is a flag that must be there.
  CHECK(Told({"--inptu", "x"}) == "there is no flag --inptu; did you mean --input?");
  CHECK(Told({"--input", "x", "--verbose"}) == "there is no flag --verbose");
  CHECK(Told({"--input", "x", "rmat", "--scael", "3"}) ==
        "there is no flag --scael; did you mean --scale?");
  CHECK(Told({"--input", "x", "rmta"}) == "\"rmta\" is one argument too many; did you mean rmat?");
  CHECK(Told({"--input", "x", "y"}) == "\"y\" is one argument too many");
  CHECK(Told({}) == "--input is required");
}

TEST_CASE("a value of another form is told with the form", "[usage_errors]") {
  CHECK(Told({"--input", "x", "--fanouts", "15x10"}) ==
        "--fanouts should be of the form N,N,..., not \"15x10\"");
  CHECK(Told({"--input", "x", "--timeout", "soon"}) ==
        "--timeout should be a number, not \"soon\"");
  CHECK(Told({"--input", "x", "rmat", "--scale", "2.5"}) ==
        "--scale should be a whole number, not \"2.5\"");
  CHECK(Told({"--input", "x", "--speed", "faster"}) ==
        "--speed: should be fast or slow, not \"faster\"");
}

}  // namespace
}  // namespace vicinity::cli
