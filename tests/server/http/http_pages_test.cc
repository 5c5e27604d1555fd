#include "server/http/http_pages.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/telemetry/registry.h"

namespace vicinity {
namespace {

class PagesTest {
 protected:
  PagesTest() : pages_(Sources()) {}

  PageSources Sources() {
    PageSources sources;
    sources.check_reader = [this](const Caller& caller) {
      caller_ = caller;
      return may_read_;
    };
    sources.metrics = [] { return std::string("calls 2\n"); };
    sources.status = [] { return std::string("{}"); };
    sources.is_ready = [this] { return ready_; };
    sources.loopback_alone = true;
    return sources;
  }
  HttpPages::Reply Ask(const std::string& line, const std::string& headers = "") {
    return pages_.Answer(absl::StrCat(line, "\r\nHost: localhost:9\r\n", headers, "\r\n"), shown_);
  }
  std::string Get(const std::string& path, const std::string& headers = "") {
    return Ask(absl::StrCat("GET ", path, " HTTP/1.1"), headers).bytes;
  }

  absl::Status may_read_;
  bool ready_ = true;
  Caller shown_;
  Caller caller_;
  HttpPages pages_;
};

TEST_CASE_METHOD(PagesTest, "metrics come as Prometheus wants them", "[http]") {
  const HttpPages::Reply reply = Ask("GET /metrics HTTP/1.1");
  CHECK(reply.keep);
  CHECK_THAT(reply.bytes, Catch::StartsWith("HTTP/1.1 200 OK\r\n"));
  CHECK_THAT(reply.bytes,
             Catch::Contains("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  CHECK_THAT(reply.bytes, Catch::Contains("Content-Length: 8\r\n"));
  CHECK_THAT(reply.bytes, Catch::EndsWith("\r\n\r\ncalls 2\n"));
}

TEST_CASE_METHOD(PagesTest, "the page, its JSON and the probes are there", "[http]") {
  CHECK_THAT(Get("/"), Catch::Contains("Content-Type: text/html; charset=utf-8") &&
                           Catch::Contains("Content-Security-Policy: default-src 'none'") &&
                           Catch::Contains("<!doctype html>"));
  CHECK_THAT(Get("/status.json"),
             Catch::Contains("Content-Type: application/json") && Catch::EndsWith("{}"));
  CHECK_THAT(Get("/healthz"), Catch::StartsWith("HTTP/1.1 200"));
  CHECK_THAT(Get("/readyz"), Catch::StartsWith("HTTP/1.1 200"));
  ready_ = false;
  CHECK_THAT(Get("/readyz"), Catch::StartsWith("HTTP/1.1 503"));
  CHECK_THAT(Get("/healthz"), Catch::StartsWith("HTTP/1.1 200"));
  CHECK_THAT(Get("/metrics/"), Catch::StartsWith("HTTP/1.1 404"));
  CHECK_THAT(Get("/../etc/passwd"), Catch::StartsWith("HTTP/1.1 404"));
}

TEST_CASE_METHOD(PagesTest, "who may not read sees no number, and is told why", "[http]") {
  may_read_ = absl::UnauthenticatedError("a token is needed");
  for (const char* path : {"/metrics", "/status.json"}) {
    const std::string reply = Get(path);
    CHECK_THAT(reply, Catch::StartsWith("HTTP/1.1 401") &&
                          Catch::Contains("WWW-Authenticate: Bearer") &&
                          Catch::EndsWith("a token is needed\n"));
  }
  CHECK_THAT(Get("/"), Catch::StartsWith("HTTP/1.1 200"));
  CHECK_THAT(Get("/healthz"), Catch::StartsWith("HTTP/1.1 200"));
  may_read_ = absl::PermissionDeniedError("the role is too small");
  CHECK_THAT(Get("/metrics"), Catch::StartsWith("HTTP/1.1 403"));
}

TEST_CASE_METHOD(PagesTest, "a caller is who its connection says, with the tokens of its request",
                 "[http]") {
  shown_.certified = true;
  shown_.common_name = "prometheus";
  Get("/metrics", "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n");
  CHECK(caller_.certified);
  CHECK(caller_.common_name == "prometheus");
  CHECK(caller_.authorization == std::vector<std::string>{"Bearer a", "Bearer b"});
  Get("/metrics");
  CHECK(caller_.authorization.empty());
}

TEST_CASE_METHOD(PagesTest, "on loopback a name that some site has made is refused", "[http]") {
  const auto ask = [this](const std::string& host) {
    return pages_.Answer(absl::StrCat("GET /metrics HTTP/1.1\r\nHost: ", host, "\r\n\r\n"), {})
        .bytes;
  };
  for (const char* host : {"127.0.0.1:9", "localhost", "LOCALHOST:80", "[::1]:9", "10.0.0.1"}) {
    CAPTURE(host);
    CHECK_THAT(ask(host), Catch::StartsWith("HTTP/1.1 200"));
  }
  for (const char* host :
       {"evil.example", "localhost.evil.example:9", "127.0.0.1.evil.example", "[", ""}) {
    CAPTURE(host);
    CHECK_THAT(ask(host), Catch::StartsWith("HTTP/1.1 4"));
  }
}

TEST_CASE_METHOD(PagesTest, "nothing but GET and HEAD, and no body", "[http]") {
  CHECK_THAT(Ask("POST /metrics HTTP/1.1").bytes, Catch::StartsWith("HTTP/1.1 405"));
  CHECK_THAT(Ask("DELETE /metrics HTTP/1.1").bytes, Catch::StartsWith("HTTP/1.1 405"));
  CHECK_THAT(Ask("PRI * HTTP/2.0").bytes, Catch::StartsWith("HTTP/1.1 4"));
  const HttpPages::Reply head = Ask("HEAD /metrics HTTP/1.1");
  CHECK_THAT(head.bytes, Catch::StartsWith("HTTP/1.1 200") && Catch::EndsWith("\r\n\r\n"));
  const HttpPages::Reply body = Ask("GET /metrics HTTP/1.1", "Content-Length: 3\r\n");
  CHECK_THAT(body.bytes, Catch::StartsWith("HTTP/1.1 200"));
  CHECK_FALSE(body.keep);
  CHECK_FALSE(Ask("GET /metrics HTTP/1.1", "Connection: close\r\n").keep);
  CHECK_FALSE(Ask("GET /metrics HTTP/1.0").keep);
}

TEST_CASE_METHOD(PagesTest, "replies are neither compressed nor cut into ranges", "[http]") {
  const std::string plain = Get("/metrics");
  CHECK(Get("/metrics", "Accept-Encoding: gzip, br\r\n") == plain);
  CHECK(Get("/metrics", "Range: bytes=0-,0-,0-,0-\r\n") == plain);
}

TEST_CASE_METHOD(PagesTest, "garbage is a bad request and ends its connection", "[http]") {
  for (const std::string& head :
       {std::string("\r\n\r\n"), std::string("GET\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n"),
        std::string("\x16\x03\x01\x02\r\n\r\n"), std::string("GET / HTTP/1.1\nHost: a\r\n\r\n"),
        "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: " + std::string(9000, 'a') + "\r\n\r\n"}) {
    CAPTURE(head.substr(0, 30));
    const HttpPages::Reply reply = pages_.Answer(head, {});
    CHECK_THAT(reply.bytes, Catch::StartsWith("HTTP/1.1 4"));
  }
}

TEST_CASE_METHOD(PagesTest, "requests are counted by page and code, of which there are few",
                 "[http]") {
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  pages_.AddMetrics(&group);
  Get("/metrics");
  Get("/metrics");
  for (int i = 0; i < 50; ++i) Get(absl::StrCat("/", i));
  double metrics = 0;
  double other = 0;
  for (const auto& reading : registry.Read()) {
    if (reading.labels[0].second == "/metrics") metrics += reading.value;
    if (reading.labels[0].second == "other") other += reading.value;
  }
  CHECK(metrics == 2);
  CHECK(other == 50);
  CHECK(registry.Read().size() == 18);
}

}  // namespace
}  // namespace vicinity
