#include "proto/security/authority.h"

#include <openssl/x509v3.h>

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/security/openssl.h"
#include "proto/security/revocations.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

Authority Make(absl::Duration life = absl::Hours(1000)) {
  absl::StatusOr<Authority> made = Authority::Make("test CA", life);
  VICINITY_REQUIRE_OK(made);
  return *std::move(made);
}

openssl::Certificate Parse(const std::string& pem) {
  std::vector<openssl::Certificate> found;
  REQUIRE(openssl::ParseAll(pem, &found));
  REQUIRE(found.size() == 1);
  return std::move(found.front());
}

TEST_CASE("a server's certificate is good for its names and addresses, and to call other servers",
          "[authority]") {
  const Authority authority = Make();
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const Authority::Issued issued,
      authority.Issue({"a", TlsEnd::kServer, {"node.example", "10.0.0.5", "::1"}, absl::Hours(5)}));
  const openssl::Certificate made = Parse(issued.certificate);
  CHECK(X509_verify(made.get(), X509_get0_pubkey(Parse(authority.certificate()).get())) == 1);
  CHECK(X509_check_host(made.get(), "node.example", 0, 0, nullptr) == 1);
  CHECK(X509_check_host(made.get(), "other.example", 0, 0, nullptr) == 0);
  CHECK(X509_check_ip_asc(made.get(), "10.0.0.5", 0) == 1);
  CHECK(X509_check_ip_asc(made.get(), "::1", 0) == 1);
  CHECK(X509_check_ip_asc(made.get(), "10.0.0.6", 0) == 0);
  CHECK(X509_check_purpose(made.get(), X509_PURPOSE_SSL_SERVER, 0) == 1);
  CHECK(X509_check_purpose(made.get(), X509_PURPOSE_SSL_CLIENT, 0) == 1);
  CHECK(X509_check_ca(made.get()) == 0);
  CHECK(X509_check_private_key(made.get(), openssl::ParseKey(issued.key).get()) == 1);
  CHECK(absl::AbsDuration(issued.expires - absl::Now() - absl::Hours(5)) < absl::Minutes(1));
}

TEST_CASE("an authority read back goes on where it was", "[authority]") {
  const Authority made = Make();
  VICINITY_ASSERT_OK_AND_ASSIGN(const Authority read,
                                Authority::FromPem(made.certificate(), made.key()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const Authority::Issued issued,
                                read.Issue({"trainer", TlsEnd::kClient, {}, absl::Hours(1)}));
  CHECK(X509_verify(Parse(issued.certificate).get(),
                    X509_get0_pubkey(Parse(made.certificate()).get())) == 1);
  VICINITY_CHECK_CODE(Authority::FromPem(made.certificate(), Make().key()),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(Authority::FromPem("", made.key()), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a certificate ends no later than its authority", "[authority]") {
  const Authority authority = Make(absl::Hours(3));
  const auto issued = authority.Issue({"trainer", TlsEnd::kClient, {}, absl::Hours(1000)});
  CHECK(issued->expires == authority.expires());
}

TEST_CASE("names that cannot be in a certificate are refused", "[authority]") {
  const Authority authority = Make();
  for (const char* name : {"", "a b", "a,DNS:b", "a\n", "a/b"}) {
    CAPTURE(name);
    VICINITY_CHECK_CODE(authority.Issue({name, TlsEnd::kClient, {}, absl::Hours(1)}),
                        absl::StatusCode::kInvalidArgument);
    VICINITY_CHECK_CODE(authority.Issue({"a", TlsEnd::kServer, {name}, absl::Hours(1)}),
                        absl::StatusCode::kInvalidArgument);
  }
  VICINITY_CHECK_CODE(authority.Issue({"a", TlsEnd::kServer, {}, absl::Hours(1)}),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(authority.Issue({std::string(65, 'a'), TlsEnd::kClient, {}, absl::Hours(1)}),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("what is on the list is revoked, and nothing else", "[authority]") {
  const Authority authority = Make();
  std::vector<Authority::Issued> issued;
  for (int i = 0; i < 20; ++i) {
    issued.push_back(*authority.Issue({"trainer", TlsEnd::kClient, {}, absl::Hours(1)}));
  }
  std::vector<Authority::Revoked> revoked;
  for (size_t i = 0; i < issued.size(); i += 2) {
    revoked.push_back({issued[i].serial, absl::Now()});
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string list, authority.List(revoked));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto read,
                                Revocations::Parse("list", list, authority.certificate()));
  CHECK(read->size() == 10);
  for (size_t i = 0; i < issued.size(); ++i) {
    CHECK(read->Contain(issued[i].certificate) == (i % 2 == 0));
    CHECK(read->Contain(issued[i].certificate) == (i % 2 == 0));  // remembered
  }
  VICINITY_CHECK_CODE(authority.List({{"12x", absl::Now()}}), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
