#include "client/cli/completion.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <string>

#include "absl/status/status.h"
#include "client/cli/commands/command.h"

namespace vicinity::cli {
namespace {

Action DeclareSpeak(CLI::App* app) {
  app->add_option("-w,--word");
  CLI::App* const loud = app->add_subcommand("loud");
  loud->add_flag("--very");
  return [](const ToolContext&, std::ostream&) { return absl::OkStatus(); };
}

// What bash makes of it tests/client/cli/command_matrix_test.py tells.
TEST_CASE("a script knows commands, subcommands and flags, and hides what is hidden", "[cli]") {
  const Command commands[] = {{"speak", "says a word", "vicinity speak", &DeclareSpeak},
                              {"secret", "", "", &DeclareSpeak, /*hidden=*/true}};
  const std::string script = BashCompletion(commands);
  CHECK_THAT(script, Catch::Contains("'') next='help completion speak'"));
  CHECK_THAT(script, Catch::Contains("'speak') next='--help --word loud'"));
  CHECK_THAT(script, Catch::Contains("'speak loud') next='--help --very'"));
  CHECK_THAT(script, !Catch::Contains("secret"));
}

}  // namespace
}  // namespace vicinity::cli
