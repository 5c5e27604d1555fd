#include "proto/command_line/usage_errors.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/command_line/choices.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
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
  bool once = false;
  app.add_flag("--once", once)->disable_flag_override();
  double share = 0;
  CLI::Option* const part = app.add_option("--share", share)->check(InRange(0.0, 1.0));
  app.add_option("--all", share)->excludes(part);
  app.add_option("--of", share)->needs(part);
  CLI::App* const sub = app.add_subcommand("rmat");
  sub->require_subcommand(0, 1);
  CLI::App* const verbs = app.add_subcommand("backup")->require_subcommand(1);
  verbs->add_subcommand("create");
  verbs->add_subcommand("restore");
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
        "--speed should be fast or slow, not \"faster\"; did you mean fast?");
  CHECK(Told({"--input", "x", "--speed", "warp"}) ==
        "--speed should be fast or slow, not \"warp\"");
  CHECK(Told({"--input", "x", "--share", "2"}) == "--share should be from 0 to 1, not 2");
  CHECK(Told({"--input", "x", "--share", "much"}) == "--share should be a number, not \"much\"");
}

TEST_CASE("values that are missing, or too many, are told with the flag", "[usage_errors]") {
  CHECK(Told({"--input"}) == "--input needs a value");
  CHECK(Told({"--input", "x", "--fanouts"}) == "--fanouts needs a value of the form N,N,...");
  CHECK(Told({"--input", "x", "--input", "y"}) == "--input is given twice");
  CHECK(Told({"--input", "x", "--once=3"}) == "--once takes no value");
}

TEST_CASE("flags that exclude or need each other are named, and so are verbs", "[usage_errors]") {
  CHECK(Told({"--input", "x", "--share", "1", "--all", "1"}) ==
        "--share and --all do not go together");
  CHECK(Told({"--input", "x", "--of", "1"}) == "--of needs --share, too");
  CHECK(Told({"--input", "x", "backup"}) == "one of create, restore is needed");
  CHECK(Told({"--input", "x", "backup", "explode"}) ==
        "there is no \"explode\"; one of create, restore is needed");
  CHECK(Told({"--input", "x", "backup", "craete"}) ==
        "\"craete\" is one argument too many; did you mean create?");
}

}  // namespace
}  // namespace vicinity
