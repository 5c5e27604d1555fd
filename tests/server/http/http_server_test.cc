#include "server/http/http_server.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/common/file.h"
#include "proto/security/token.h"
#include "proto/telemetry/registry.h"
#include "server/logging/logging.h"
#include "server/security/credentials.h"
#include "server/security/server_security.h"
#include "tests/server/http/raw_client.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::BodyOf;
using testing::CertificateAuthority;
using testing::Get;
using testing::RawClient;

constexpr char kRequest[] = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

class HttpTest {
 protected:
  void Start(const HttpLimits& limits = {}, const ServerSecurity& security = {}) {
    VICINITY_ASSERT_OK_AND_ASSIGN(trust_, ServerTrust::Load(security, MakeSilentLogger()));
    PageSources sources;
    sources.metrics = [this] {
      ++made_;
      return text_;
    };
    sources.status = [] { return std::string("{}"); };
    sources.is_ready = [] { return true; };
    VICINITY_ASSERT_OK_AND_ASSIGN(
        server_, HttpServer::Start({"127.0.0.1", 0}, trust_.get(), std::move(sources), limits));
    REQUIRE(server_->address().port > 0);
    server_->AddMetrics(&group_);
  }
  double Metric(const std::string& name) const {
    double value = 0;
    for (const auto& reading : registry_.Read()) {
      if (reading.metric.name == name) value += reading.value;
    }
    return value;
  }
  const HostPort& address() const { return server_->address(); }

  std::string text_ = "calls 2\n";
  std::atomic<int> made_{0};
  MetricRegistry registry_;
  std::unique_ptr<ServerTrust> trust_;
  std::unique_ptr<HttpServer> server_;
  MetricRegistry::Group group_{&registry_};
};

HttpLimits Hasty() {
  HttpLimits limits;
  limits.times.head = std::chrono::milliseconds(200);
  limits.times.idle = std::chrono::milliseconds(200);
  limits.times.reply = std::chrono::milliseconds(300);
  limits.times.end = std::chrono::milliseconds(200);
  return limits;
}

TEST_CASE_METHOD(HttpTest, "a scraper gets metrics, again and again on one connection", "[http]") {
  Start();
  RawClient client(address());
  for (int i = 0; i < 20; ++i) {
    REQUIRE(client.Send(kRequest));
    CHECK_THAT(client.Read("calls 2\n"), Catch::StartsWith("HTTP/1.1 200 OK"));
  }
  CHECK(Metric("vicinity_server_http_connections") == 1);
  CHECK(Metric("vicinity_server_http_requests_total") == 20);
}

TEST_CASE_METHOD(HttpTest, "requests that come at once are answered in their order", "[http]") {
  Start();
  RawClient client(address());
  std::string requests;
  for (int i = 0; i < 50; ++i) absl::StrAppend(&requests, kRequest);
  REQUIRE(client.Send(absl::StrCat(requests, "GET /healthz HTTP/1.0\r\n\r\n")));
  const std::string replies = client.Read();
  size_t found = 0;
  for (size_t at = replies.find("calls 2"); at != std::string::npos;
       at = replies.find("calls 2", at + 1)) {
    ++found;
  }
  CHECK(found == 50);
  CHECK_THAT(replies, Catch::EndsWith("ok\n"));
}

TEST_CASE_METHOD(HttpTest, "a large reply arrives whole, also a slow reader's", "[http]") {
  text_.clear();
  for (int i = 0; text_.size() < 8 << 20; ++i) absl::StrAppend(&text_, "line_", i, " 1\n");
  Start();
  CHECK(BodyOf(Get(address(), "/metrics")) == text_);
}

TEST_CASE_METHOD(HttpTest, "a request that comes a byte at a time is answered", "[http]") {
  Start();
  RawClient client(address());
  for (const char byte : std::string(kRequest)) REQUIRE(client.Send(std::string(1, byte)));
  CHECK_THAT(client.Read("calls 2\n"), Catch::StartsWith("HTTP/1.1 200 OK"));
}

TEST_CASE_METHOD(HttpTest, "who never ends its request is let go, and nobody waits for it",
                 "[http]") {
  Start(Hasty());
  RawClient slow(address());
  REQUIRE(slow.Send("GET /metrics HTTP/1.1\r\nHost: 127."));
  RawClient silent(address());
  CHECK_THAT(Get(address(), "/metrics"), Catch::StartsWith("HTTP/1.1 200"));
  // It may send what it likes: the time counts from its first byte.
  const auto begun = std::chrono::steady_clock::now();
  while (slow.Send("x") && !slow.IsClosedWithin(10)) {
    REQUIRE(std::chrono::steady_clock::now() - begun < std::chrono::seconds(10));
  }
  CHECK(silent.IsClosedWithin(10'000));
}

TEST_CASE_METHOD(HttpTest, "who does not take its reply is let go, and nobody waits for it",
                 "[http]") {
  text_.assign(8 << 20, 'x');
  Start(Hasty());
  RawClient slow(address());
  REQUIRE(slow.Send(kRequest));
  CHECK(BodyOf(Get(address(), "/healthz")) == "ok\n");
  // More than the time that a reply has: what did not fit into the sockets never comes.
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  CHECK(slow.Read().size() < text_.size());
}

TEST_CASE_METHOD(HttpTest, "a head without end is refused", "[http]") {
  Start();
  RawClient client(address());
  std::string head = "GET / HTTP/1.1\r\n";
  while (head.size() < 64 << 10) absl::StrAppend(&head, "X-", head.size(), ": y\r\n");
  client.Send(head);
  CHECK_THAT(client.Read(), Catch::StartsWith("HTTP/1.1 431"));
}

TEST_CASE_METHOD(HttpTest, "garbage of all kinds ends its own connection alone", "[http]") {
  Start(Hasty());
  for (const std::string& bytes :
       {std::string("\r\n\r\n"), std::string(1000, '\0') + "\r\n\r\n",
        std::string("\x16\x03\x01\x00\xa5\x01\r\n\r\n"),
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        std::string("GET http://a/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n")}) {
    RawClient client(address());
    client.Send(bytes);
    CHECK_THAT(client.Read(), !Catch::Contains("200 OK\r\n"));
  }
  CHECK_THAT(Get(address(), "/metrics"), Catch::StartsWith("HTTP/1.1 200"));
}

TEST_CASE_METHOD(HttpTest, "of more connections than there may be the oldest idle ones give way",
                 "[http]") {
  HttpLimits limits;
  limits.max_connections = 4;
  Start(limits);
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 20; ++i) idle.push_back(std::make_unique<RawClient>(address()));
  CHECK_THAT(Get(address(), "/metrics"), Catch::StartsWith("HTTP/1.1 200"));
  CHECK(Metric("vicinity_server_http_displaced_total") >= 16);
  CHECK(idle.front()->IsClosedWithin(10'000));
}

TEST_CASE_METHOD(HttpTest, "beyond the bytes that may be unsent there is no reply", "[http]") {
  text_.assign(8 << 20, 'x');
  HttpLimits limits;
  limits.max_unsent_bytes = 1 << 20;
  Start(limits);
  RawClient slow(address());
  REQUIRE(slow.Send(kRequest));
  std::string reply;
  for (int i = 0; i < 1000 && reply.find("503") == std::string::npos; ++i) {
    reply = Get(address(), "/healthz");
  }
  CHECK_THAT(reply, Catch::StartsWith("HTTP/1.1 503"));
}

TEST_CASE_METHOD(HttpTest, "however many ask at once, metrics are made seldom", "[http]") {
  HttpLimits limits;
  limits.least_age = std::chrono::hours(1);
  Start(limits);
  for (int i = 0; i < 100; ++i) Get(address(), "/metrics");
  CHECK(made_ == 1);
}

TEST_CASE_METHOD(HttpTest, "it ends with requests under way", "[http]") {
  Start();
  RawClient half(address());
  half.Send("GET ");
  server_.reset();
  CHECK(half.IsClosedWithin(10'000));
}

TEST_CASE_METHOD(HttpTest, "an address in use is an error", "[http]") {
  Start();
  VICINITY_CHECK_CODE(HttpServer::Start(address(), trust_.get(), {}),
                      absl::StatusCode::kUnavailable);
}

// With TLS, tokens, or both.
class SecureHttpTest : public HttpTest {
 protected:
  SecureHttpTest() {
    WriteIssued(authority_.Issue({}), folder_.path(), "server");
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("ca.pem"), authority_.certificate()));
    VICINITY_REQUIRE_OK(WriteFileAtomically(
        folder_.File("access"), absl::StrCat("grants { name: 'scraper' role: READ token_sha256: '",
                                             absl::BytesToHexString(HashToken(token_)), "' }\n")));
  }
  ServerSecurity Tls() const {
    ServerSecurity security;
    security.tls.certificate = folder_.File("server.pem");
    security.tls.key = folder_.File("server.key");
    security.tls.ca = folder_.File("ca.pem");
    return security;
  }

  const testing::TempDir folder_;
  const CertificateAuthority authority_{"ours"};
  const std::string token_ = "vct_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
};

TEST_CASE_METHOD(SecureHttpTest, "a token opens metrics where there are roles", "[http]") {
  ServerSecurity security;
  security.access_file = folder_.File("access");
  Start({}, security);
  CHECK_THAT(Get(address(), "/metrics"), Catch::StartsWith("HTTP/1.1 401"));
  CHECK_THAT(Get(address(), "/metrics", "Authorization: Bearer vct_wrong\r\n"),
             Catch::StartsWith("HTTP/1.1 401"));
  CHECK_THAT(Get(address(), "/metrics", absl::StrCat("Authorization: Bearer ", token_, "\r\n")),
             Catch::StartsWith("HTTP/1.1 200"));
  CHECK_THAT(Get(address(), "/healthz"), Catch::StartsWith("HTTP/1.1 200"));
}

TEST_CASE_METHOD(SecureHttpTest, "with TLS only certificates of its authority come in", "[http]") {
  Start({}, Tls());
  const CertificateAuthority other("theirs");
  const auto ask = [this](const testing::IssuedCertificate& shown) {
    RawClient client(address());
    if (!client.StartTls(shown.certificate, shown.key)) return std::string();
    client.Send(kRequest);
    return client.Read("calls 2\n");
  };
  CHECK_THAT(ask(authority_.Issue({"DNS:prometheus"})), Catch::StartsWith("HTTP/1.1 200"));
  CHECK(ask(other.Issue({"DNS:prometheus"})).empty());
  CHECK(ask({}).empty());
  // Plaintext is no handshake.
  CHECK_THAT(Get(address(), "/metrics"), !Catch::Contains("200"));
}

TEST_CASE_METHOD(SecureHttpTest, "TLS without client certificates wants a token, if there are any",
                 "[http]") {
  ServerSecurity security = Tls();
  security.open = true;
  security.access_file = folder_.File("access");
  Start({}, security);
  const auto ask = [this](const std::string& headers) {
    RawClient client(address());
    if (!client.StartTls()) return std::string();
    client.Send(absl::StrCat("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n",
                             headers, "\r\n"));
    return client.Read();
  };
  CHECK_THAT(ask(""), Catch::StartsWith("HTTP/1.1 401"));
  CHECK_THAT(ask(absl::StrCat("Authorization: Bearer ", token_, "\r\n")),
             Catch::StartsWith("HTTP/1.1 200"));
}

TEST_CASE_METHOD(SecureHttpTest, "handshakes that do not go on keep nobody waiting", "[http]") {
  Start(Hasty(), Tls());
  RawClient silent(address());
  RawClient half(address());
  half.Send("\x16\x03\x01\x02");
  const auto issued = authority_.Issue({"DNS:prometheus"});
  RawClient client(address());
  REQUIRE(client.StartTls(issued.certificate, issued.key));
  client.Send(kRequest);
  CHECK_THAT(client.Read("calls 2\n"), Catch::StartsWith("HTTP/1.1 200"));
  CHECK(silent.IsClosedWithin(10'000));
  CHECK(half.IsClosedWithin(10'000));
}

}  // namespace
}  // namespace vicinity
