#include "client/cli/commands/token_command.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/strip.h"
#include "proto/common/file.h"
#include "proto/security/guarded_file.h"
#include "proto/security/token.h"
#include "server/security/access_control.h"
#include "tests/client/cli/run_command.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

constexpr char kDrain[] = "/vicinity.proto.Admin/Drain";
constexpr char kRows[] = "/vicinity.proto.Graph/FetchRows";

Caller With(const std::string& token) { return {{"Bearer " + token}, false, {}}; }

TEST_CASE("a token is printed once and works for its role", "[cli]") {
  const testing::TempDir folder;
  const std::string file = folder.File("access.textproto");
  const Answer reader = RunCommand(kTokenCommand, {"--name", "trainer", "--access-file", file});
  REQUIRE(reader.code == ExitCode::kOk);
  const Answer admin =
      RunCommand(kTokenCommand, {"--name", "ops", "--role", "admin", "--access-file", file});
  REQUIRE(admin.code == ExitCode::kOk);
  const std::string token(absl::StripSuffix(reader.out, "\n"));
  CHECK(LooksLikeToken(token));
  const std::string text = ReadFile(file).value();
  CHECK_THAT(text, !Catch::Contains(token));
  CHECK_THAT(reader.narration, !Catch::Contains(token));
  const auto access = AccessControl::Load(file);
  VICINITY_REQUIRE_OK(access);
  CHECK((*access)->Check(kRows, With(token)).value() == "trainer");
  VICINITY_CHECK_CODE((*access)->Check(kDrain, With(token)), absl::StatusCode::kPermissionDenied);
  const std::string ops(absl::StripSuffix(admin.out, "\n"));
  CHECK((*access)->Check(kDrain, With(ops)).value() == "ops");
}

TEST_CASE("a token's file is new and its owner's alone", "[cli]") {
  const testing::TempDir folder;
  const std::vector<std::string> args = {"--name",        "trainer",
                                         "--access-file", folder.File("access"),
                                         "--token-file",  folder.File("token")};
  const Answer answer = RunCommand(kTokenCommand, args);
  CHECK(answer.code == ExitCode::kOk);
  CHECK(answer.out.empty());
  const auto text = ReadSecretFile(folder.File("token"));
  VICINITY_REQUIRE_OK(text);
  CHECK(LooksLikeToken(absl::StripSuffix(*text, "\n")));
  // Neither the name nor the file is taken twice, and a failure changes nothing.
  const std::string access = ReadFile(folder.File("access")).value();
  CHECK(RunCommand(kTokenCommand, args).code == ExitCode::kPrecondition);
  CHECK(RunCommand(kTokenCommand, {"--name", "other", "--access-file", folder.File("access"),
                                   "--token-file", folder.File("token")})
            .code != ExitCode::kOk);
  CHECK(ReadFile(folder.File("access")).value() == access);
  CHECK(ReadFile(folder.File("token")).value() == *text);
}

TEST_CASE("a token that the disk has no room for leaves nothing behind", "[cli]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder.File("access"), ""));
  const std::vector<std::string> args = {"--name",        "trainer",
                                         "--access-file", folder.File("access"),
                                         "--token-file",  folder.File("token")};
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit room = {GENERATE(rlim_t{0}, rlim_t{20}), before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &room);
  const Answer answer = RunCommand(kTokenCommand, args);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(answer.code == ExitCode::kFailure);
  CHECK_FALSE(std::filesystem::exists(folder.File("token")));
  CHECK(ReadFile(folder.File("access")).value().empty());
  CHECK(RunCommand(kTokenCommand, args).code == ExitCode::kOk);
}

TEST_CASE("grants are listed, and taken back one by one, the rest of the file as it was", "[cli]") {
  const testing::TempDir folder;
  const std::string file = folder.File("access.textproto");
  REQUIRE(RunCommand(kTokenCommand, {"--name", "trainer", "--access-file", file}).code ==
          ExitCode::kOk);
  const std::string before = ReadFile(file).value();
  VICINITY_REQUIRE_OK(WriteFileAtomically(
      file,
      "# who may do what\n" + before +
          "# the operators'\ngrants {\n  name: 'ops' role: ADMIN\n  certificate: 'ops' }  # a\n"));
  const Answer list =
      RunCommand(kTokenCommand, {"list", "--access-file", file, "--format", "json"});
  REQUIRE(list.code == ExitCode::kOk);
  const nlohmann::json grants = nlohmann::json::parse(list.out)["grants"];
  REQUIRE(grants.size() == 2);
  CHECK(grants[0]["name"] == "trainer");
  CHECK(grants[0]["role"] == "read");
  CHECK(grants[0]["by"] == "token");
  CHECK(grants[1]["certificate"] == "ops");

  const Answer unknown = RunCommand(kTokenCommand, {"revoke", "opss", "--access-file", file});
  CHECK(unknown.code == ExitCode::kNotFound);
  CHECK_THAT(unknown.narration, Catch::Contains("did you mean ops?"));
  const std::string all = ReadFile(file).value();
  CHECK(RunCommand(kTokenCommand, {"revoke", "ops", "--dry-run", "--access-file", file}).code ==
        ExitCode::kOk);
  CHECK(ReadFile(file).value() == all);
  CHECK(RunCommand(kTokenCommand, {"revoke", "trainer", "--access-file", file}).code ==
        ExitCode::kOk);
  CHECK(ReadFile(file).value() ==
        "# who may do what\n"
        "# the operators'\ngrants {\n  name: 'ops' role: ADMIN\n  certificate: 'ops' }  # a\n");
  CHECK(RunCommand(kTokenCommand, {"revoke", "ops", "--access-file", file}).code == ExitCode::kOk);
  CHECK(ReadFile(file).value() == "# who may do what\n# the operators'\n  # a\n");
  CHECK(RunCommand(kTokenCommand, {"list"}).code == ExitCode::kUsage);
  CHECK(RunCommand(kTokenCommand, {"revoke", "--access-file", file}).code == ExitCode::kUsage);
}

TEST_CASE("names and roles that cannot be are misuse", "[cli]") {
  const testing::TempDir folder;
  const std::string file = folder.File("access");
  for (const char* name : {"", "a b", "a\"", "a\n"}) {
    CAPTURE(name);
    CHECK(RunCommand(kTokenCommand, {std::string("--name=") + name, "--access-file", file}).code ==
          ExitCode::kUsage);
  }
  CHECK(RunCommand(kTokenCommand, {"--name", "a", "--role", "king", "--access-file", file}).code ==
        ExitCode::kUsage);
  CHECK(RunCommand(kTokenCommand, {"--name", "a"}).code == ExitCode::kUsage);
  VICINITY_CHECK_CODE(ReadFile(file), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace vicinity::cli
