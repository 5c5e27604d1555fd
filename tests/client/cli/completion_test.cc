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
  app->add_option("--tone")->type_name("high|low");
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
  CHECK_THAT(script, Catch::Contains("'speak') next='--help --word --tone loud'"));
  CHECK_THAT(script, Catch::Contains("'speak loud') next='--help --very'"));
  CHECK_THAT(script, Catch::Contains("'speak --tone') next='high low'"));
  CHECK_THAT(script, !Catch::Contains("secret"));
}

TEST_CASE("zsh and fish get words with what they do, quotes among it", "[cli]") {
  const Command commands[] = {{"speak", "says it's a word", "vicinity speak", &DeclareSpeak},
                              {"secret", "", "", &DeclareSpeak, /*hidden=*/true}};
  const std::string zsh = ZshCompletion(commands);
  CHECK_THAT(zsh, Catch::StartsWith("#compdef vicinity\n"));
  CHECK_THAT(zsh, Catch::Contains("'speak:says it'\\''s a word'"));
  CHECK_THAT(zsh, Catch::Contains("'speak '*) flags=('loud:"));
  CHECK_THAT(zsh, Catch::Contains("'speak loud') flags=("));
  CHECK_THAT(zsh, Catch::Contains("'speak --tone') flags=(high low)"));
  CHECK_THAT(zsh, !Catch::Contains("secret"));
  const std::string fish = FishCompletion(commands);
  CHECK_THAT(fish, Catch::Contains("-a speak -d 'says it\\'s a word'"));
  CHECK_THAT(fish, Catch::Contains("-n '__fish_seen_subcommand_from speak' -l word -r"));
  CHECK_THAT(fish, Catch::Contains("speak; and __fish_seen_subcommand_from loud' -l very -d"));
  CHECK_THAT(fish, Catch::Contains("-l tone -x -a 'high low'"));
  CHECK_THAT(fish, !Catch::Contains("secret"));
}

}  // namespace
}  // namespace vicinity::cli
