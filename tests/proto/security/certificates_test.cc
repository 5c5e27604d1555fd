#include "proto/security/certificates.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "proto/common/file.h"
#include "tests/testing/certificate_authority.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::CertificateAuthority;
using testing::CertificateWish;

class CertificatesTest {
 protected:
  CertificatesTest() {
    WriteIssued(authority_.Issue({}), folder_.path(), "good");
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("ca.pem"), authority_.certificate()));
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("junk.pem"), "-----BEGIN nonsense"));
  }
  TlsFiles Files(const std::string& name) const {
    return {folder_.File("ca.pem"), folder_.File(name + ".pem"), folder_.File(name + ".key")};
  }
  // What is said of files with a fault of theirs.
  std::string Fault(const TlsFiles& files) const {
    const absl::Status status = CheckTlsFiles(files);
    VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }

  const CertificateAuthority authority_{"authority"};
  const testing::TempDir folder_;
};

TEST_CASE_METHOD(CertificatesTest, "good files pass, and so do none", "[certificates]") {
  VICINITY_CHECK_OK(CheckTlsFiles(Files("good")));
  VICINITY_CHECK_OK(CheckTlsFiles({}));
  VICINITY_CHECK_OK(CheckTlsFiles({folder_.File("ca.pem"), "", ""}));
  const absl::Time expires = ExpiryOf(folder_.File("good.pem")).value();
  CHECK(absl::AbsDuration(expires - absl::Now() - absl::Hours(24)) < absl::Minutes(5));
}

TEST_CASE_METHOD(CertificatesTest, "certificates out of their time are told by date",
                 "[certificates]") {
  WriteIssued(authority_.Issue({"DNS:h", -absl::Hours(2), -absl::Hours(1)}), folder_.path(),
              "expired");
  CHECK_THAT(Fault(Files("expired")), Catch::Contains("expired.pem: the certificate expired at"));
  WriteIssued(authority_.Issue({"DNS:h", absl::Hours(1), absl::Hours(2)}), folder_.path(), "early");
  CHECK_THAT(Fault(Files("early")), Catch::Contains("early.pem: the certificate is not valid"));
}

TEST_CASE_METHOD(CertificatesTest, "files that do not fit are told by name", "[certificates]") {
  WriteIssued(authority_.Issue({}), folder_.path(), "other");
  TlsFiles files = Files("good");
  files.key = folder_.File("other.key");
  CHECK_THAT(Fault(files), Catch::Contains("other.key: is not the key of"));
  files.key = "";
  CHECK_THAT(Fault(files), Catch::Contains("good.pem: a certificate needs its key"));
  files = Files("good");
  files.certificate = "";
  CHECK_THAT(Fault(files), Catch::Contains("good.key: a key needs its certificate"));
  files.certificate = folder_.File("junk.pem");
  CHECK_THAT(Fault(files), Catch::Contains("junk.pem: holds no certificate"));
  files = Files("good");
  files.ca = folder_.File("junk.pem");
  CHECK_THAT(Fault(files), Catch::Contains("junk.pem: holds no certificate"));
  files = Files("good");
  files.ca = folder_.File("none.pem");
  VICINITY_CHECK_CODE(CheckTlsFiles(files), absl::StatusCode::kNotFound);
}

TEST_CASE_METHOD(CertificatesTest, "a key that others may read is refused", "[certificates]") {
  std::filesystem::permissions(folder_.File("good.key"), std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  VICINITY_CHECK_CODE(CheckTlsFiles(Files("good")), absl::StatusCode::kFailedPrecondition);
}

TEST_CASE_METHOD(CertificatesTest, "a key with a passphrase is refused without asking for it",
                 "[certificates]") {
  TlsFiles files = Files("good");
  files.key = folder_.File("locked.key");
  testing::WriteSecret(files.key,
                       "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
                       "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjeJpnO2RriVwICCAAw\n"
                       "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEM5scbz5EX8NqWe8EufVmkMEQEC7\n"
                       "PtpvUfkACM+edz1wJ0zIPgALvc6mNtFurxMYMavJJVbooABa+yqHEWMiWIuBJWx9\n"
                       "lgDggfUN6pDQ9k3k370=\n"
                       "-----END ENCRYPTED PRIVATE KEY-----\n");
  CHECK_THAT(Fault(files), Catch::Contains("locked.key: holds no private key"));
}

}  // namespace
}  // namespace vicinity
