#include "server/security/credentials.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "proto/common/file.h"
#include "server/logging/logging.h"
#include "tests/testing/hosts/certificate_authority.h"
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
    security.tls = {folder_.File("ca.pem"), folder_.File("server.pem"), folder_.File("server.key"),
                    ""};
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

TEST_CASE_METHOD(TrustTest, "beyond this machine clients need certificates unless it is open",
                 "[trust]") {
  CheckWhere({}, false, true, false);
  ServerSecurity open;
  open.open = true;
  CheckWhere(open, false, true, true);
  CheckWhere(Tls(), false, true, true);
  open = Tls();
  open.open = true;
  CheckWhere(open, false, true, true);
  // Who is refused is told what to run.
  const absl::Status refused = Load({})->CheckAddress({"0.0.0.0", 1}, false);
  for (const char* told : {"certificate ca", "certificate server", "certificate client",
                           "--tls-certificate", "--tls-ca", "--open"}) {
    CHECK_THAT(std::string(refused.message()), Catch::Contains(told));
  }
}

TEST_CASE_METHOD(TrustTest, "tokens never travel in plaintext, allowed or not", "[trust]") {
  ServerSecurity security;
  security.access_file = folder_.File("access");
  security.open = GENERATE(false, true);
  CheckWhere(security, false, true, false);
  // gRPC knows these three as local, and no other address of the loopback device.
  CHECK_FALSE(Load(security)->CheckAddress({"127.0.0.2", 1}, false).ok());
  VICINITY_CHECK_OK(Load(security)->CheckAddress({"::1", 1}, false));
}

TEST_CASE_METHOD(TrustTest, "an admin port beyond loopback needs TLS and roles", "[trust]") {
  ServerSecurity security;
  CheckWhere(security, true, true, false);
  security.open = true;
  CheckWhere(security, true, true, false);
  security = Tls();
  CheckWhere(security, true, true, false);
  security.access_file = folder_.File("access");
  CheckWhere(security, true, true, true);
}

TEST_CASE_METHOD(TrustTest, "TLS needs an authority of clients unless it is open", "[trust]") {
  ServerSecurity security = Tls();
  security.tls.ca = "";
  const absl::Status status = ServerTrust::Load(security, MakeSilentLogger()).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()), Catch::Contains("--tls-ca"));
  security.open = true;
  VICINITY_CHECK_OK(ServerTrust::Load(security, MakeSilentLogger()));
  // An authority without TLS is somebody's slip.
  ServerSecurity plain;
  plain.tls.ca = folder_.File("ca.pem");
  VICINITY_CHECK_CODE(ServerTrust::Load(plain, MakeSilentLogger()),
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
  ServerSecurity open;
  open.open = true;
  CHECK(Load(open)->Describe() == "plaintext, open");
  CHECK(Load({})->Facts().certificate_expires() == 0);
  CHECK(Load({})->Tls().expires == absl::InfiniteFuture());
  ServerSecurity security = Tls();
  security.access_file = folder_.File("access");
  const auto trust = Load(security);
  CHECK(trust->Describe() == "TLS, client certificates, 1 granted");
  VICINITY_REQUIRE_OK(WriteFileAtomically(security.access_file, ""));
  VICINITY_REQUIRE_OK(trust->Reload());
  CHECK(trust->Facts().grants() == 0);
  CHECK(trust->Facts().certificate_expires() > absl::ToUnixSeconds(absl::Now()));
}

TEST_CASE_METHOD(TrustTest, "a bad pair changes nothing and is told by the reload", "[trust]") {
  const auto trust = Load(Tls());
  const absl::Time expires = trust->Tls().expires;
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("server.pem"), ""));
  VICINITY_CHECK_CODE(trust->Reload(), absl::StatusCode::kInvalidArgument);
  CHECK(trust->Tls().expires == expires);
  CHECK_THAT(trust->Tls().fault, Catch::Contains("server.pem"));
}

}  // namespace
}  // namespace vicinity
