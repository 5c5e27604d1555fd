#include "proto/security/certificates.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "proto/common/file.h"
#include "proto/security/authority.h"
#include "tests/testing/hosts/certificate_authority.h"
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
    return {folder_.File("ca.pem"), folder_.File(name + ".pem"), folder_.File(name + ".key"), ""};
  }
  static absl::Status Check(const TlsFiles& files) {
    return ReadTlsFiles(files, TlsEnd::kServer).status();
  }
  void Write(const std::string& name, const std::string& text) const {
    testing::WriteSecret(folder_.File(name), text);
  }
  // What is said of files with a fault of theirs.
  std::string Fault(const TlsFiles& files) const {
    const absl::Status status = Check(files);
    VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }

  const CertificateAuthority authority_{"authority"};
  const testing::TempDir folder_;
};

TEST_CASE_METHOD(CertificatesTest, "good files pass, and so do none", "[certificates]") {
  VICINITY_CHECK_OK(Check({}));
  VICINITY_CHECK_OK(Check({folder_.File("ca.pem"), "", "", ""}));
  VICINITY_ASSERT_OK_AND_ASSIGN(const TlsMaterial good,
                                ReadTlsFiles(Files("good"), TlsEnd::kServer));
  CHECK(absl::AbsDuration(good.expires - absl::Now() - absl::Hours(24)) < absl::Minutes(5));
  CHECK(ExpiryOf(good.certificate).value() == good.expires);
  CHECK(good.vouched_for);
  CHECK(good.ca == authority_.certificate());
  VICINITY_CHECK_CODE(ExpiryOf("junk"), absl::StatusCode::kInvalidArgument);
}

TEST_CASE_METHOD(CertificatesTest, "a certificate may have its key in its own file",
                 "[certificates]") {
  const testing::IssuedCertificate issued = authority_.Issue({});
  Write("one.pem", issued.key + issued.certificate);
  const TlsFiles files = {folder_.File("ca.pem"), folder_.File("one.pem"), "", ""};
  VICINITY_ASSERT_OK_AND_ASSIGN(const TlsMaterial read, ReadTlsFiles(files, TlsEnd::kServer));
  CHECK(read.certificate == issued.certificate);
  CHECK_THAT(read.key, Catch::Contains("PRIVATE KEY") && !Catch::Contains("CERTIFICATE"));
  Write("one.pem", issued.certificate);
  CHECK_THAT(Fault(files), Catch::Contains("one.pem: holds no private key"));
  // It is a secret then.
  std::filesystem::permissions(folder_.File("one.pem"), std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  VICINITY_CHECK_CODE(Check(files), absl::StatusCode::kFailedPrecondition);
}

TEST_CASE_METHOD(CertificatesTest, "what a copy that is not done leaves is told",
                 "[certificates]") {
  const testing::IssuedCertificate issued = authority_.Issue({});
  WriteIssued(issued, folder_.path(), "one");
  const TlsFiles files = Files("one");
  for (const std::string& part : {std::string(), issued.certificate.substr(0, 300)}) {
    Write("one.pem", part);
    CHECK_THAT(Fault(files), Catch::Contains("one.pem: holds no certificate"));
  }
  Write("one.pem", issued.certificate + issued.certificate.substr(0, 300));
  CHECK_THAT(Fault(files), Catch::Contains("one.pem: is damaged after certificate 1"));
  Write("one.pem", issued.certificate);
  for (const std::string& part : {std::string(), issued.key.substr(0, 100)}) {
    Write("one.key", part);
    CHECK_THAT(Fault(files), Catch::Contains("one.key: holds no private key"));
  }
}

TEST_CASE_METHOD(CertificatesTest, "the order of a chain and whom it leads to are looked at",
                 "[certificates]") {
  const testing::IssuedCertificate issued = authority_.Issue({});
  WriteIssued(issued, folder_.path(), "one");
  Write("one.pem", issued.certificate + authority_.certificate());
  VICINITY_CHECK_OK(Check(Files("one")));
  Write("one.pem", authority_.certificate() + issued.certificate);
  CHECK_THAT(Fault(Files("one")), Catch::Contains("is not the key of"));
  const CertificateAuthority other("other");
  Write("one.pem", issued.certificate + other.certificate());
  CHECK_THAT(Fault(Files("one")), Catch::Contains("did not sign"));
  // Somebody else's word is no fault: `ca` may be that of the clients alone.
  WriteIssued(other.Issue({}), folder_.path(), "one");
  CHECK_FALSE(ReadTlsFiles(Files("one"), TlsEnd::kServer)->vouched_for);
}

TEST_CASE_METHOD(CertificatesTest,
                 "a client's certificate is no server's, and a server's is good at both ends",
                 "[certificates]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Authority own, Authority::Make("own", absl::Hours(48)));
  Write("own.pem", own.certificate());
  for (const TlsEnd end : {TlsEnd::kServer, TlsEnd::kClient}) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const Authority::Issued issued,
                                  own.Issue({"x", end, {"localhost"}, absl::Hours(1)}));
    Write("x.pem", issued.key + issued.certificate);
    const TlsFiles files = {folder_.File("own.pem"), folder_.File("x.pem"), "", ""};
    VICINITY_CHECK_OK(ReadTlsFiles(files, end));
    VICINITY_CHECK_OK(ReadTlsFiles(files, TlsEnd::kClient));
    if (end == TlsEnd::kServer) continue;
    VICINITY_CHECK_CODE(ReadTlsFiles(files, TlsEnd::kServer), absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE_METHOD(CertificatesTest, "a list of the revoked is read, if an authority signed it",
                 "[certificates]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Authority own, Authority::Make("own", absl::Hours(48)));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string list, own.List({}));
  Write("own.pem", own.certificate());
  Write("revoked.pem", list);
  TlsFiles files = {folder_.File("own.pem"), "", "", folder_.File("revoked.pem")};
  VICINITY_CHECK_OK(Check(files));
  files.ca = folder_.File("ca.pem");
  CHECK_THAT(Fault(files), Catch::Contains("revoked.pem: the list is not signed"));
  files.revoked = folder_.File("none.pem");
  VICINITY_CHECK_CODE(Check(files), absl::StatusCode::kNotFound);
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
  VICINITY_CHECK_CODE(Check(files), absl::StatusCode::kNotFound);
}

TEST_CASE_METHOD(CertificatesTest, "a key that others may read is refused", "[certificates]") {
  std::filesystem::permissions(folder_.File("good.key"), std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  VICINITY_CHECK_CODE(Check(Files("good")), absl::StatusCode::kFailedPrecondition);
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
