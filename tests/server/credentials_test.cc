#include "server/credentials.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "proto/common/file.h"
#include "server/logging.h"
#include "tests/testing/certificate_authority.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

class TrustTest {
 protected:
  TrustTest() {
    const testing::CertificateAuthority authority("authority");
    WriteIssued(authority.Issue({}), folder_.path(), "server");
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("ca.pem"), authority.certificate()));
    VICINITY_REQUIRE_OK(WriteFileAtomically(
        folder_.File("access"), "grants { name: 'x' role: ADMIN certificate: 'x.example' }"));
  }
  ServerSecurity Tls() const {
    ServerSecurity security;
    security.tls = {folder_.File("ca.pem"), folder_.File("server.pem"), folder_.File("server.key")};
    return security;
  }
  static std::unique_ptr<ServerTrust> Load(const ServerSecurity& security) {
    auto trust = ServerTrust::Load(security, MakeSilentLogger());
    VICINITY_REQUIRE_OK(trust);
    return *std::move(trust);
  }
  // Whether that may listen at 127.0.0.1, and at an address that others reach.
  static void CheckWhere(const ServerSecurity& security, bool is_admin, bool here, bool beyond) {
    const auto trust = Load(security);
    CHECK(trust->CheckAddress({"127.0.0.1", 1}, is_admin).ok() == here);
    CHECK(trust->CheckAddress({"10.0.0.1", 1}, is_admin).ok() == beyond);
    CHECK(trust->CheckAddress({"0.0.0.0", 1}, is_admin).ok() == beyond);
    CHECK(trust->CheckAddress({"server.example", 1}, is_admin).ok() == beyond);
    CHECK(trust->Credentials() != nullptr);
  }

  const testing::TempDir folder_;
};

TEST_CASE_METHOD(TrustTest, "plaintext stays on this machine unless it is allowed", "[trust]") {
  CheckWhere({}, false, true, false);
  ServerSecurity allowed;
  allowed.allow_plaintext = true;
  CheckWhere(allowed, false, true, true);
  CheckWhere(Tls(), false, true, true);
}

TEST_CASE_METHOD(TrustTest, "tokens never travel in plaintext, allowed or not", "[trust]") {
  ServerSecurity security;
  security.access_file = folder_.File("access");
  security.allow_plaintext = GENERATE(false, true);
  CheckWhere(security, false, true, false);
  // gRPC knows these three as local, and no other address of the loopback device.
  CHECK_FALSE(Load(security)->CheckAddress({"127.0.0.2", 1}, false).ok());
  VICINITY_CHECK_OK(Load(security)->CheckAddress({"::1", 1}, false));
}

TEST_CASE_METHOD(TrustTest, "an admin port beyond loopback needs TLS and roles", "[trust]") {
  ServerSecurity security;
  CheckWhere(security, true, true, false);
  security.allow_plaintext = true;
  CheckWhere(security, true, true, false);
  security = Tls();
  CheckWhere(security, true, true, false);
  security.access_file = folder_.File("access");
  CheckWhere(security, true, true, true);
}

TEST_CASE_METHOD(TrustTest, "client certificates need TLS and an authority", "[trust]") {
  ServerSecurity security;
  security.require_client_certificate = true;
  VICINITY_CHECK_CODE(ServerTrust::Load(security, MakeSilentLogger()),
                      absl::StatusCode::kInvalidArgument);
  security = Tls();
  security.require_client_certificate = true;
  security.tls.ca = "";
  VICINITY_CHECK_CODE(ServerTrust::Load(security, MakeSilentLogger()),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE_METHOD(TrustTest, "bad files are refused at once, by name", "[trust]") {
  ServerSecurity security = Tls();
  VICINITY_REQUIRE_OK(WriteFileAtomically(security.tls.certificate, "junk"));
  const absl::Status status = ServerTrust::Load(security, MakeSilentLogger()).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()), Catch::Contains("server.pem"));
}

TEST_CASE_METHOD(TrustTest, "it tells what is in force", "[trust]") {
  CHECK(Load({})->Describe() == "plaintext");
  CHECK(Load({})->Facts()->certificate_expires() == 0);
  ServerSecurity security = Tls();
  security.require_client_certificate = true;
  security.access_file = folder_.File("access");
  const auto trust = Load(security);
  CHECK(trust->Describe() == "TLS, client certificates, 1 granted");
  VICINITY_REQUIRE_OK(WriteFileAtomically(security.access_file, ""));
  VICINITY_REQUIRE_OK(trust->Reload());
  CHECK(trust->Facts()->grants() == 0);
  CHECK(trust->Facts()->certificate_expires() > absl::ToUnixSeconds(absl::Now()));
}

}  // namespace
}  // namespace vicinity
