#include "client/cli/commands.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/command.h"
#include "client/cli/tool.h"
#include "proto/common/progress.h"

namespace vicinity::cli {
namespace {

TEST_CASE("every command has its own name, a summary, an example and help", "[cli]") {
  std::set<std::string> names;
  for (const Command& command : AllCommands()) {
    CAPTURE(command.name);
    CHECK(names.insert(command.name).second);
    CHECK_THAT(std::string(command.summary), !Catch::EndsWith("."));
    CHECK_THAT(std::string(command.example),
               Catch::StartsWith(absl::StrCat("vicinity ", command.name)));
    std::ostringstream out;
    std::ostringstream narration;
    ToolContext tool;
    tool.narration = &narration;
    tool.progress = NoProgress();
    CHECK(RunTool(AllCommands(), {"help", command.name}, tool, out) == ExitCode::kOk);
    CHECK_THAT(out.str(), Catch::Contains(command.summary));
    CHECK(narration.str().empty());
  }
  for (const char* name : {"import", "generate", "partition", "rank", "verify"}) {
    CHECK(names.count(name) == 1);
  }
}

}  // namespace
}  // namespace vicinity::cli
