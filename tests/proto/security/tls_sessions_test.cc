#include "proto/security/tls_sessions.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "proto/security/certificates.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::CertificateAuthority;
using testing::CertificateWish;
using Session = TlsSessions::Session;

TlsMaterial MaterialOf(const CertificateAuthority& authority,
                       const CertificateWish& wish = CertificateWish()) {
  const testing::IssuedCertificate issued = authority.Issue(wish);
  TlsMaterial material;
  material.ca = authority.certificate();
  material.certificate = issued.certificate;
  material.key = issued.key;
  return material;
}

TlsMaterial Trusting(const CertificateAuthority& authority) {
  TlsMaterial material;
  material.ca = authority.certificate();
  return material;
}

TlsSessions::Options OptionsOf(TlsEnd end, TlsMaterial material) {
  TlsSessions::Options options;
  options.end = end;
  options.material = [material = std::move(material)] { return material; };
  options.wants_certificates = false;
  options.only_newest = true;
  return options;
}

// Why one of the two does not want the other; "": they have shaken hands.
std::string ShakeHands(SSL* client, SSL* server) {
  BIO* ours = nullptr;
  BIO* theirs = nullptr;
  REQUIRE(BIO_new_bio_pair(&ours, 0, &theirs, 0) == 1);
  SSL_set_bio(client, ours, ours);
  SSL_set_bio(server, theirs, theirs);
  for (int i = 0; i < 10; ++i) {
    bool done = true;
    for (SSL* const end : {client, server}) {
      const int shaken = SSL_do_handshake(end);
      const int error = SSL_get_error(end, shaken);
      if (error != SSL_ERROR_NONE && error != SSL_ERROR_WANT_READ) {
        return TlsSessions::WhyFailed(*end);
      }
      done = done && error == SSL_ERROR_NONE;
    }
    if (done) return "";
  }
  return "they are not done";
}

TEST_CASE("both ends shake hands, by the newest version and its cheapest cipher",
          "[tls_sessions]") {
  const CertificateAuthority authority("ours");
  TlsSessions servers(OptionsOf(TlsEnd::kServer, MaterialOf(authority)));
  TlsSessions clients(OptionsOf(TlsEnd::kClient, Trusting(authority)));
  for (const std::string host : {"localhost", "127.0.0.1"}) {
    const Session server = servers.New();
    const Session client = clients.New(host);
    CHECK(ShakeHands(client.get(), server.get()) == "");
    CHECK(std::string(SSL_get_version(client.get())) == "TLSv1.3");
    CHECK(std::string(SSL_get_cipher(client.get())) == "TLS_AES_128_GCM_SHA256");
    CHECK(SSL_session_reused(client.get()) == 0);
    VICINITY_CHECK_OK(clients.Check(*client));
    CHECK(TlsSessions::CertificateOf(*client).find("BEGIN CERTIFICATE") != std::string::npos);
    CHECK(TlsSessions::CertificateOf(*server) == "");
  }
}

TEST_CASE("a client wants a certificate that is good for the host that it dials",
          "[tls_sessions]") {
  const CertificateAuthority authority("ours");
  const CertificateAuthority other("theirs");
  CertificateWish wish;
  std::string host = "localhost";
  std::string why;
  const CertificateAuthority* trusted = &authority;
  SECTION("another name") {
    host = "elsewhere";
    why = "hostname mismatch";
  }
  SECTION("another address") {
    host = "127.0.0.2";
    why = "IP address mismatch";
  }
  SECTION("of another authority") {
    trusted = &other;
    why = "unable to get local issuer certificate";
  }
  SECTION("expired") {
    wish.begins = -absl::Hours(3);
    wish.ends = -absl::Hours(1);
    why = "expired";
  }
  TlsSessions servers(OptionsOf(TlsEnd::kServer, MaterialOf(authority, wish)));
  TlsSessions clients(OptionsOf(TlsEnd::kClient, Trusting(*trusted)));
  const Session server = servers.New();
  const Session client = clients.New(host);
  CHECK_THAT(ShakeHands(client.get(), server.get()), Catch::Contains(why));
}

TEST_CASE("what has been taken back is not good, though the handshake is", "[tls_sessions]") {
  const CertificateAuthority authority("ours");
  TlsSessions servers(OptionsOf(TlsEnd::kServer, MaterialOf(authority)));
  TlsSessions::Options options = OptionsOf(TlsEnd::kClient, Trusting(authority));
  std::string asked;
  options.is_revoked = [&asked](const std::string& pem) {
    asked = pem;
    return true;
  };
  TlsSessions clients(std::move(options));
  const Session server = servers.New();
  const Session client = clients.New("localhost");
  REQUIRE(ShakeHands(client.get(), server.get()) == "");
  VICINITY_CHECK_CODE(clients.Check(*client), absl::StatusCode::kUnauthenticated);
  CHECK(asked == TlsSessions::CertificateOf(*client));
}

TEST_CASE("a server that wants certificates takes none without", "[tls_sessions]") {
  const CertificateAuthority authority("ours");
  TlsSessions::Options options = OptionsOf(TlsEnd::kServer, MaterialOf(authority));
  options.wants_certificates = true;
  TlsSessions servers(std::move(options));
  SECTION("shown") {
    TlsSessions clients(OptionsOf(TlsEnd::kClient, MaterialOf(authority)));
    const Session server = servers.New();
    const Session client = clients.New("localhost");
    CHECK(ShakeHands(client.get(), server.get()) == "");
    CHECK(TlsSessions::CertificateOf(*server) != "");
  }
  SECTION("not shown") {
    TlsSessions clients(OptionsOf(TlsEnd::kClient, Trusting(authority)));
    const Session server = servers.New();
    const Session client = clients.New("localhost");
    CHECK_THAT(ShakeHands(client.get(), server.get()),
               Catch::Contains("did not return a certificate"));
  }
}

TEST_CASE("new material is taken with the next session, a second later at most", "[tls_sessions]") {
  const CertificateAuthority authority("ours");
  const CertificateAuthority next("next");
  TlsMaterial material = MaterialOf(authority);
  TlsSessions::Options options;
  options.wants_certificates = false;
  options.material = [&material] { return material; };
  TlsSessions servers(std::move(options));
  TlsSessions clients(OptionsOf(TlsEnd::kClient, Trusting(next)));
  const auto shake = [&] {
    const Session server = servers.New();
    const Session client = clients.New("localhost");
    return ShakeHands(client.get(), server.get());
  };
  CHECK(shake() != "");
  material = MaterialOf(next);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  CHECK(shake() == "");
}

TEST_CASE("without a certificate that OpenSSL takes there is no session", "[tls_sessions]") {
  TlsMaterial damaged;
  damaged.certificate = "-----BEGIN CERTIFICATE-----";
  TlsSessions servers(OptionsOf(TlsEnd::kServer, damaged));
  CHECK(servers.New() == nullptr);
}

}  // namespace
}  // namespace vicinity
