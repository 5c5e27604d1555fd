#include "client/rpc/credentials.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "proto/common/file.h"
#include "proto/security/token.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr char kHere[] = "127.0.0.1:1";
constexpr char kBeyond[] = "server.example:1";

// A variable of the environment, gone at the end.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

class CredentialsTest {
 protected:
  CredentialsTest() {
    const testing::CertificateAuthority authority("authority");
    VICINITY_REQUIRE_OK(WriteFileAtomically(ca_, authority.certificate()));
    testing::WriteSecret(token_file_, MakeToken().value());
  }
  static bool Allows(const CredentialOptions& options, const char* address,
                     const ClusterFile* cluster = nullptr) {
    const auto credentials = ClientCredentials::Load(options, cluster);
    VICINITY_REQUIRE_OK(credentials);
    const auto made = (*credentials)->For(address);
    if (!made.ok()) VICINITY_CHECK_CODE(made, absl::StatusCode::kInvalidArgument);
    return made.ok();
  }

  const testing::TempDir folder_;
  const std::string ca_ = folder_.File("ca.pem");
  const std::string token_file_ = folder_.File("token");
};

TEST_CASE_METHOD(CredentialsTest, "plaintext stays on this machine unless it is allowed",
                 "[credentials]") {
  CredentialOptions options;
  CHECK(Allows(options, kHere));
  CHECK_FALSE(Allows(options, kBeyond));
  options.allow_plaintext = true;
  CHECK(Allows(options, kBeyond));
  ClusterFile cluster;
  cluster.open = true;
  CHECK(Allows({}, kBeyond, &cluster));
}

TEST_CASE_METHOD(CredentialsTest, "a token leaves this machine over TLS only", "[credentials]") {
  CredentialOptions options;
  options.token_file = token_file_;
  options.allow_plaintext = true;
  CHECK(Allows(options, kHere));
  CHECK_FALSE(Allows(options, kBeyond));
  options.ca = ca_;
  CHECK(Allows(options, kBeyond));
}

TEST_CASE_METHOD(CredentialsTest, "the cluster file's authority is believed", "[credentials]") {
  ClusterFile cluster;
  cluster.tls.ca = ca_;
  CHECK(Allows({}, kBeyond, &cluster));
  cluster.tls.ca = folder_.File("none.pem");
  VICINITY_CHECK_CODE(ClientCredentials::Load({}, &cluster), absl::StatusCode::kNotFound);
  CredentialOptions options;
  options.ca = ca_;  // goes before the cluster's
  CHECK(Allows(options, kBeyond, &cluster));
}

TEST_CASE_METHOD(CredentialsTest, "the environment fills in what is not given", "[credentials]") {
  const Variable ca("VICINITY_TLS_CA", ca_);
  CHECK(Allows({}, kBeyond));
  const Variable token("VICINITY_TOKEN", "hunter2");
  const absl::Status status = ClientCredentials::Load({}, nullptr).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("VICINITY_TOKEN") && !Catch::Contains("hunter2"));
  const Variable file("VICINITY_TOKEN_FILE", token_file_);  // goes before the text
  CHECK(Allows({}, kBeyond));
  const Variable missing("VICINITY_TLS_KEY", folder_.File("none.key"));
  VICINITY_CHECK_CODE(ClientCredentials::Load({}, nullptr), absl::StatusCode::kInvalidArgument);
}

TEST_CASE_METHOD(CredentialsTest, "only what may be TLS is looked into", "[credentials]") {
  const auto credentials = ClientCredentials::Load({}, nullptr);
  VICINITY_REQUIRE_OK(credentials);
  const absl::Status denied = absl::PermissionDeniedError("no");
  CHECK((*credentials)->Explain(kHere, denied, std::chrono::milliseconds(100)) == denied);
  const absl::Status gone = absl::UnavailableError("gone");  // as nobody listens on port 1
  CHECK((*credentials)->Explain(kHere, gone, std::chrono::milliseconds(100)) == gone);
}

}  // namespace
}  // namespace vicinity
