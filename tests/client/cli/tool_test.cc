#include "client/cli/tool.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/commands/command.h"
#include "client/cli/output/exit_code.h"
#include "proto/common/progress.h"

namespace vicinity::cli {
namespace {

Action DeclareEcho(CLI::App* app) {
  const auto times = std::make_shared<int>(1);
  const auto word = std::make_shared<std::string>();
  app->add_option("WORD", *word, "what to say")->required();
  app->add_option("--times", *times, "how often");
  return [times, word](const ToolContext& tool, std::ostream& out) {
    if (*times < 0) return absl::NotFoundError("no such number of times");
    *tool.narration << "about to speak\n";
    for (int i = 0; i < *times; ++i) out << *word << '\n';
    return absl::OkStatus();
  };
}

constexpr Command kCommands[] = {
    {"echo", "says a word", "vicinity echo hello --times 2", &DeclareEcho},
    {"secret", "for the tool itself", "", &DeclareEcho, /*hidden=*/true},
};

struct Answer {
  ExitCode code;
  std::string out;
  std::string narration;
};

Answer Run(const std::vector<std::string>& args) {
  std::ostringstream out;
  std::ostringstream narration;
  ToolContext tool;
  tool.narration = &narration;
  tool.progress = NoProgress();
  const ExitCode code = RunTool(kCommands, args, tool, out);
  return {code, out.str(), narration.str()};
}

TEST_CASE("data goes to the output, talk to the narration", "[cli]") {
  const Answer answer = Run({"echo", "hello", "--times", "2"});
  CHECK(answer.code == ExitCode::kOk);
  CHECK(answer.out == "hello\nhello\n");
  CHECK(answer.narration == "about to speak\n");
}

TEST_CASE("misuse is told with a pointer to the help", "[cli]") {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{},
                                             {"ehco"},
                                             {"help", "ehco"},
                                             {"echo"},
                                             {"echo", "a", "b"},
                                             {"echo", "a", "--loud"},
                                             {"echo", "a", "--times", "x"},
                                             {"--loud"}}) {
    const Answer answer = Run(args);
    CHECK(answer.code == ExitCode::kUsage);
    CHECK(answer.out.empty());
    CHECK_THAT(answer.narration, Catch::Contains("help"));
  }
}

TEST_CASE("a mistyped command or flag is told with what was meant", "[cli]") {
  CHECK_THAT(Run({"ehco"}).narration, Catch::Contains("did you mean echo?"));
  CHECK_THAT(Run({"help", "ehco"}).narration, Catch::Contains("did you mean echo?"));
  CHECK_THAT(Run({"--verison"}).narration, Catch::Contains("did you mean --version?"));
  CHECK_THAT(Run({"hepl"}).narration, Catch::Contains("did you mean help?"));
  CHECK_THAT(Run({"secrte"}).narration, !Catch::Contains("did you mean"));  // it is hidden
  CHECK_THAT(Run({"echo", "a", "--tiems", "2"}).narration,
             Catch::Contains("no flag --tiems; did you mean --times?"));
}

TEST_CASE("a command's failure is its text and its code", "[cli]") {
  const Answer answer = Run({"echo", "a", "--times=-1"});
  CHECK(answer.code == ExitCode::kNotFound);
  CHECK(answer.narration == "vicinity echo: no such number of times\n");
}

TEST_CASE("help lists the commands, and shows a command's example before its flags", "[cli]") {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"help"}, {"--help"}, {"-h"}}) {
    const Answer overview = Run(args);
    CHECK(overview.code == ExitCode::kOk);
    CHECK_THAT(overview.out, Catch::Contains("echo  says a word") && !Catch::Contains("secret"));
  }
  const Answer by_name = Run({"help", "echo"});
  const Answer by_flag = Run({"echo", "--help"});
  CHECK(by_name.code == ExitCode::kOk);
  CHECK(by_name.out == by_flag.out);
  const size_t example = by_name.out.find("vicinity echo hello --times 2");
  const size_t flags = by_name.out.find("how often");
  REQUIRE(example != std::string::npos);
  REQUIRE(flags != std::string::npos);
  CHECK(example < flags);
}

TEST_CASE("the version is asked for by flag", "[cli]") {
  const Answer answer = Run({"--version"});
  CHECK(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::StartsWith("vicinity "));
}

TEST_CASE("an output that cannot be written is a failure", "[cli]") {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  std::ostringstream narration;
  ToolContext tool;
  tool.narration = &narration;
  tool.progress = NoProgress();
  CHECK(RunTool(kCommands, {"echo", "hello"}, tool, out) != ExitCode::kOk);
  CHECK_THAT(narration.str(), Catch::Contains("write"));
}

}  // namespace
}  // namespace vicinity::cli
