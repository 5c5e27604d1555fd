#include "proto/command_line/help.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace vicinity {
namespace {

TEST_CASE("flags are shown with form and default, without marks of the library", "[help]") {
  CLI::App app("does something");
  SetHelp(&app);
  int last = 100;
  double wait = 1.5;
  std::vector<std::string> names;
  std::string file;
  bool open = false;
  CLI::Option* const of = app.add_option("--last", last, "lines")->capture_default_str();
  app.add_option("--wait", wait, "seconds")->capture_default_str()->excludes(of);
  app.add_option("--name", names, "whose")->delimiter(',')->type_name("NAME,...")->needs(of);
  app.add_option("--file", file, "which")->type_name("FILE")->required();
  app.add_flag("--open", open, "let all in");
  CLI::App* const sub = app.add_subcommand("sub", "less");
  sub->add_option("--most", last, "lines");
  const std::string help = app.help();
  for (const char* const line :
       {"  -h,--help                   show this and do nothing else\n",
        "  --last N=100                lines\n", "  --wait NUMBER=1.5           seconds\n",
        "  --name NAME,...             whose\n", "  --file FILE (required)      which\n",
        "  --open                      let all in\n"}) {
    CHECK_THAT(help, Catch::Contains(line));
  }
  CHECK_THAT(sub->help(), Catch::Contains("  --most N                    lines\n") &&
                              Catch::Contains("show this and do nothing else"));
}

}  // namespace
}  // namespace vicinity
