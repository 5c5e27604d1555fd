#include "proto/security/guarded_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

std::string Make(const testing::TempDir& folder, mode_t mode) {
  std::string path = folder.File("file");
  VICINITY_REQUIRE_OK(WriteFileAtomically(path, "text\n"));
  REQUIRE(chmod(path.c_str(), mode) == 0);
  return path;
}

TEST_CASE("a secret is read if nobody else can read it", "[guarded_file]") {
  const testing::TempDir folder;
  for (const mode_t mode : {0600, 0400, 0700}) {
    CHECK(ReadSecretFile(Make(folder, mode)).value() == "text\n");
  }
  for (const mode_t mode : {0604, 0606, 0644, 0666, 0620}) {
    CAPTURE(mode);
    const absl::Status status = ReadSecretFile(Make(folder, mode)).status();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kFailedPrecondition);
    CHECK_THAT(std::string(status.message()), Catch::Contains("chmod 600"));
  }
}

TEST_CASE("a group may read a secret of root's alone", "[guarded_file]") {
  const testing::TempDir folder;
  const std::string path = Make(folder, 0640);
  CHECK(ReadSecretFile(path).ok() == (geteuid() == 0));
  // Only root may give files away, and in a sandbox not even root.
  if (chown(path.c_str(), 65534, static_cast<gid_t>(-1)) != 0) return;
  VICINITY_CHECK_CODE(ReadSecretFile(path), absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a list is read if nobody else can change it", "[guarded_file]") {
  const testing::TempDir folder;
  CHECK(ReadTrustedFile(Make(folder, 0644)).value() == "text\n");
  for (const mode_t mode : {0664, 0646}) {
    CAPTURE(mode);
    VICINITY_CHECK_CODE(ReadTrustedFile(Make(folder, mode)), absl::StatusCode::kFailedPrecondition);
  }
}

TEST_CASE("a list that belongs to somebody else is not read", "[guarded_file]") {
  const testing::TempDir folder;
  const std::string path = Make(folder, 0644);
  // Only root may give files away, and in a sandbox not even root.
  if (chown(path.c_str(), 65534, static_cast<gid_t>(-1)) != 0) return;
  const absl::Status status = ReadTrustedFile(path).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("belongs to user 65534") && Catch::Contains("chown"));
}

TEST_CASE("what is no file or too large is not read", "[guarded_file]") {
  const testing::TempDir folder;
  VICINITY_CHECK_CODE(ReadSecretFile(folder.File("none")), absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(ReadTrustedFile(folder.path()), absl::StatusCode::kFailedPrecondition);
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder.File("big"), std::string((1 << 20) + 1, 'x')));
  REQUIRE(chmod(folder.File("big").c_str(), 0600) == 0);
  VICINITY_CHECK_CODE(ReadSecretFile(folder.File("big")), absl::StatusCode::kResourceExhausted);
}

TEST_CASE("a secret is written whole or not at all, and over nothing that it should not be",
          "[guarded_file]") {
  const testing::TempDir folder;
  const std::string path = folder.File("secret");
  VICINITY_REQUIRE_OK(WriteSecretFile(path, "first", IfThere::kFail));
  CHECK(ReadSecretFile(path).value() == "first");
  VICINITY_CHECK_CODE(WriteSecretFile(path, "second", IfThere::kFail),
                      absl::StatusCode::kAlreadyExists);
  CHECK(ReadSecretFile(path).value() == "first");
  VICINITY_REQUIRE_OK(WriteSecretFile(path, "third", IfThere::kReplace));
  CHECK(ReadSecretFile(path).value() == "third");
  VICINITY_CHECK_CODE(WriteSecretFile(folder.File("no/such"), "x", IfThere::kFail),
                      absl::StatusCode::kNotFound);
  const auto entries = std::filesystem::directory_iterator(folder.path());
  CHECK(std::distance(begin(entries), end(entries)) == 1);
}

}  // namespace
}  // namespace vicinity
