#include "client/cli/flags/certificate_folder.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/common/file.h"
#include "proto/common/folder_lock.h"
#include "proto/security/certificates.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

class FolderTest {
 protected:
  FolderTest() {
    VICINITY_REQUIRE_OK(CertificateFolder::Create(path_, "test CA", absl::Hours(2400)));
  }
  std::unique_ptr<CertificateFolder> Open() const {
    auto opened = CertificateFolder::Open(path_);
    VICINITY_REQUIRE_OK(opened);
    return *std::move(opened);
  }
  static CertificateFolder::Wish Client(const std::string& name) {
    return {name, proto::CLIENT, {}, absl::Hours(240)};
  }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

  const testing::TempDir temporary_;
  const std::string path_ = temporary_.File("certificates");
};

TEST_CASE_METHOD(FolderTest, "a CA is made once, and its key is its owner's alone",
                 "[certificate_folder]") {
  struct stat facts {};
  REQUIRE(stat(File("ca.key").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0600);
  const std::string before = ReadFile(File("ca.pem")).value();
  VICINITY_CHECK_CODE(CertificateFolder::Create(path_, "again", absl::Hours(1)),
                      absl::StatusCode::kAlreadyExists);
  CHECK(ReadFile(File("ca.pem")).value() == before);
  VICINITY_CHECK_CODE(CertificateFolder::Open(temporary_.path()), absl::StatusCode::kNotFound);
}

TEST_CASE_METHOD(FolderTest, "a name is issued once, renewed, revoked and issued anew",
                 "[certificate_folder]") {
  const auto folder = Open();
  VICINITY_REQUIRE_OK(folder->Issue(Client("t")));
  const std::string first = ReadFile(File("t.pem")).value();
  VICINITY_CHECK_CODE(folder->Issue(Client("t")), absl::StatusCode::kAlreadyExists);
  VICINITY_REQUIRE_OK(folder->Renew("t", absl::Hours(480)));
  const std::string second = ReadFile(File("t.pem")).value();
  CHECK(first != second);
  CHECK(folder->issued().certificates_size() == 2);
  VICINITY_REQUIRE_OK(folder->Revoke("t"));
  for (const auto& entry : folder->issued().certificates()) CHECK_FALSE(entry.revoked().empty());
  VICINITY_CHECK_CODE(folder->Renew("t", absl::Hours(1)), absl::StatusCode::kFailedPrecondition);
  CHECK(folder->CurrentNames().empty());
  VICINITY_REQUIRE_OK(folder->Issue(Client("t")));
  CHECK(ReadFile(File("t.pem")).value() != second);
  for (const char* unknown : {"x", ""}) {
    VICINITY_CHECK_CODE(folder->Renew(unknown, absl::Hours(1)), absl::StatusCode::kNotFound);
    VICINITY_CHECK_CODE(folder->Revoke(unknown), absl::StatusCode::kNotFound);
  }
}

TEST_CASE_METHOD(FolderTest, "what was issued is there after the process", "[certificate_folder]") {
  VICINITY_REQUIRE_OK(Open()->Issue(Client("t")));
  VICINITY_REQUIRE_OK(
      Open()->Issue({"s", proto::SERVER, {"h.example", "10.0.0.1"}, absl::Hours(1)}));
  VICINITY_REQUIRE_OK(Open()->Renew("s", absl::Hours(100)));
  const auto folder = Open();
  REQUIRE(folder->issued().certificates_size() == 3);
  const proto::IssuedCertificate& renewed = *folder->Youngest("s");
  CHECK(renewed.kind() == proto::SERVER);
  CHECK(renewed.addresses_size() == 2);
  const absl::Duration left = ParseMoment(renewed.expires()).value() - absl::Now();
  CHECK(absl::AbsDuration(left - absl::Hours(100)) < absl::Minutes(2));
  const TlsFiles files = {File("ca.pem"), File("s.pem"), "", File("revoked.pem")};
  VICINITY_CHECK_OK(ReadTlsFiles(files, TlsEnd::kServer));
}

TEST_CASE_METHOD(FolderTest, "one works in a folder at a time", "[certificate_folder]") {
  auto first = Open();
  LockWait at_once;
  at_once.limit = absl::ZeroDuration();
  VICINITY_CHECK_CODE(CertificateFolder::Open(path_, at_once),
                      absl::StatusCode::kFailedPrecondition);
  first.reset();
  VICINITY_CHECK_OK(CertificateFolder::Open(path_));
}

TEST_CASE_METHOD(FolderTest, "files of others are not written over", "[certificate_folder]") {
  VICINITY_REQUIRE_OK(WriteFileAtomically(File("mine.pem"), "mine"));
  const auto folder = Open();
  VICINITY_CHECK_CODE(folder->Issue(Client("mine")), absl::StatusCode::kAlreadyExists);
  CHECK(ReadFile(File("mine.pem")).value() == "mine");
  for (const char* name : {"ca", "revoked", "a/b", ""}) {
    VICINITY_CHECK_CODE(folder->Issue(Client(name)), absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE_METHOD(FolderTest, "faults of the folder are told by file", "[certificate_folder]") {
  std::filesystem::permissions(File("ca.key"), std::filesystem::perms(0644));
  VICINITY_CHECK_CODE(CertificateFolder::Open(path_), absl::StatusCode::kFailedPrecondition);
  std::filesystem::permissions(File("ca.key"), std::filesystem::perms(0600));
  VICINITY_REQUIRE_OK(WriteFileAtomically(File("issued.textproto"), "nonsense"));
  const absl::Status status = CertificateFolder::Open(path_).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()), Catch::Contains("issued.textproto:1"));
}

}  // namespace
}  // namespace vicinity::cli
