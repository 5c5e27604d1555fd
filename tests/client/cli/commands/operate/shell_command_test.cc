#include "client/cli/commands/operate/shell_command.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

TEST_CASE("words come through the shell as they are", "[shell]") {
  CHECK(ShellQuoted("server-1.example:7500") == "server-1.example:7500");
  const testing::TempDir folder;
  for (const std::string word : {"a b", "it's", "$(touch x)", "", "a;b", "*", "\"", "a\nb"}) {
    CAPTURE(word);
    VICINITY_REQUIRE_OK(RunShellCommand(
        absl::StrCat("printf %s ", ShellQuoted(word), " > ", ShellQuoted(folder.File("said"))),
        absl::Minutes(1)));
    CHECK(ReadFile(folder.File("said")).value() == word);
  }
}

TEST_CASE("a command that fails or stays is told with what it printed", "[shell]") {
  const absl::Status failed = RunShellCommand("echo no such unit >&2; exit 5", absl::Minutes(1));
  VICINITY_CHECK_CODE(failed, absl::StatusCode::kAborted);
  CHECK_THAT(std::string(failed.message()), Catch::Contains("no such unit"));
  VICINITY_CHECK_CODE(RunShellCommand("sleep 60", absl::Milliseconds(100)),
                      absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace vicinity::cli
