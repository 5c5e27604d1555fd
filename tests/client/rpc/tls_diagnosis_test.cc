#include "client/rpc/tls_diagnosis.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/common/file.h"
#include "proto/service.grpc.pb.h"
#include "tests/integration/fixtures/silent_listener.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::CertificateAuthority;
using testing::CertificateWish;

constexpr std::chrono::milliseconds kLimit(20'000);

// Servers of gRPC with certificates made here.
class DiagnosisTest {
 protected:
  DiagnosisTest() {
    VICINITY_REQUIRE_OK(WriteFileAtomically(ca_, authority_.certificate()));
    VICINITY_REQUIRE_OK(WriteFileAtomically(other_ca_, other_.certificate()));
  }
  void Serve(const CertificateWish& wish, bool ask_client = false) {
    const testing::IssuedCertificate issued = authority_.Issue(wish);
    grpc::SslServerCredentialsOptions options(
        ask_client ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                   : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
    options.pem_root_certs = authority_.certificate();
    options.pem_key_cert_pairs.push_back({issued.key, issued.certificate});
    Listen(grpc::SslServerCredentials(options));
  }
  void Listen(const std::shared_ptr<grpc::ServerCredentials>& credentials) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", credentials, &port_);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    REQUIRE(server_ != nullptr);
  }
  std::string Here(const char* host = "127.0.0.1") const { return absl::StrCat(host, ":", port_); }
  // What is told, for a fault of TLS.
  std::string Told(const TlsFiles& files, const std::string& address) const {
    const absl::Status status = DiagnoseTls(address, files, kLimit);
    VICINITY_CHECK_CODE(status, absl::StatusCode::kUnauthenticated);
    return std::string(status.message());
  }
  TlsFiles Client(const CertificateAuthority& signer) const {
    WriteIssued(signer.Issue({}), folder_.path(), "client");
    return {ca_, folder_.File("client.pem"), folder_.File("client.key")};
  }

  const testing::TempDir folder_;
  const CertificateAuthority authority_{"authority"};
  const CertificateAuthority other_{"other"};
  const std::string ca_ = folder_.File("ca.pem");
  const std::string other_ca_ = folder_.File("other.pem");
  proto::Graph::Service service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST_CASE_METHOD(DiagnosisTest, "a connection that works has nothing wrong", "[tls_diagnosis]") {
  Serve({});
  VICINITY_CHECK_OK(DiagnoseTls(Here(), {ca_, "", ""}, kLimit));
  VICINITY_CHECK_OK(DiagnoseTls(Here("localhost"), {ca_, "", ""}, kLimit));
}

TEST_CASE_METHOD(DiagnosisTest, "the faults of a server's certificate are told apart",
                 "[tls_diagnosis]") {
  Serve({});
  CHECK_THAT(Told({other_ca_, "", ""}, Here()), Catch::Contains("not to be believed"));
  Serve({"IP:127.0.0.1", -absl::Hours(2), -absl::Hours(1)});
  CHECK_THAT(Told({ca_, "", ""}, Here()), Catch::Contains("expired"));
  Serve({"IP:127.0.0.1", absl::Hours(1), absl::Hours(2)});
  CHECK_THAT(Told({ca_, "", ""}, Here()), Catch::Contains("not yet valid"));
  Serve({"DNS:elsewhere.example,IP:10.0.0.1"});
  CHECK_THAT(Told({ca_, "", ""}, Here()), Catch::Contains("mismatch"));
  CHECK_THAT(Told({ca_, "", ""}, Here("localhost")), Catch::Contains("mismatch"));
}

TEST_CASE_METHOD(DiagnosisTest, "a client certificate that is missing or refused is told",
                 "[tls_diagnosis]") {
  Serve({}, /*ask_client=*/true);
  CHECK_THAT(Told({}, Here()), Catch::Contains("speaks TLS"));
  CHECK_THAT(Told({ca_, "", ""}, Here()), Catch::Contains("--certificate"));
  CHECK_THAT(Told(Client(other_), Here()), Catch::Contains("refused the certificate"));
  VICINITY_CHECK_OK(DiagnoseTls(Here(), Client(authority_), kLimit));
}

TEST_CASE_METHOD(DiagnosisTest, "one end that does not speak TLS is told", "[tls_diagnosis]") {
  Serve({});
  CHECK_THAT(Told({}, Here()), Catch::Contains("speaks TLS"));
  Listen(grpc::InsecureServerCredentials());
  CHECK_THAT(Told({ca_, "", ""}, Here()), Catch::Contains("does not speak TLS"));
  VICINITY_CHECK_CODE(DiagnoseTls(Here(), {}, kLimit), absl::StatusCode::kUnavailable);
}

TEST_CASE("a host that is there is no unknown one", "[tls_diagnosis]") {
  // What is said of names that are not there depends on the machine's network.
  for (const char* host : {"localhost", "127.0.0.1", "::1"}) CHECK_FALSE(IsUnknownHost(host));
}

TEST_CASE_METHOD(DiagnosisTest, "who does not answer is not waited for", "[tls_diagnosis]") {
  const testing::SilentListener silent;
  VICINITY_CHECK_CODE(DiagnoseTls(silent.address(), {ca_, "", ""}, std::chrono::milliseconds(50)),
                      absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(DiagnoseTls("127.0.0.1:1", {ca_, "", ""}, kLimit),
                      absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace vicinity
