#include "proto/security/token_source.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <string>

#include "absl/status/status.h"
#include "proto/security/token.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

TEST_CASE("a token comes from its file's only line, or as it is", "[token_source]") {
  const testing::TempDir folder;
  const std::string token = MakeToken().value();
  testing::WriteSecret(folder.File("token"), token + "\n");
  CHECK(TokenSource::FromFile(folder.File("token")).value()->Get() == token);
  CHECK(TokenSource::FromText(token).value()->Get() == token);
}

TEST_CASE("what is no token is refused and not repeated", "[token_source]") {
  const testing::TempDir folder;
  testing::WriteSecret(folder.File("token"), "hunter2\n");
  const absl::Status status = TokenSource::FromFile(folder.File("token")).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains(folder.File("token")) && !Catch::Contains("hunter2"));
  VICINITY_CHECK_CODE(TokenSource::FromText("hunter2"), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(TokenSource::FromFile(folder.File("none")), absl::StatusCode::kNotFound);
}

TEST_CASE("a token file that others may read is refused", "[token_source]") {
  const testing::TempDir folder;
  testing::WriteSecret(folder.File("token"), MakeToken().value());
  REQUIRE(chmod(folder.File("token").c_str(), 0644) == 0);
  VICINITY_CHECK_CODE(TokenSource::FromFile(folder.File("token")),
                      absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace vicinity
