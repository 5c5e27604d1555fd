#include "client/metrics/metrics_port.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/cluster/host_port.h"
#include "tests/server/http/raw_client.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RawClient;

std::unique_ptr<MetricsPort> Start(const std::string& host, std::string text) {
  auto port = MetricsPort::Start({host, 0}, [text = std::move(text)] { return text; });
  VICINITY_REQUIRE_OK(port);
  CHECK((*port)->address().port > 0);
  return *std::move(port);
}

std::string Ask(const MetricsPort& port, const std::string& request) {
  RawClient client(port.address());
  client.Send(request);
  return client.Read();
}

TEST_CASE("the text is there for whoever asks by a number", "[metrics]") {
  const auto port = Start("127.0.0.1", "rows 7\n");
  for (const char* host : {"127.0.0.1", "localhost:80", "[::1]:80"}) {
    const std::string reply =
        Ask(*port, absl::StrCat("GET /metrics HTTP/1.1\r\nHost: ", host, "\r\n\r\n"));
    INFO(reply);
    CHECK(absl::StartsWith(reply, "HTTP/1.1 200 OK\r\n"));
    CHECK(absl::StrContains(reply, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    CHECK(absl::EndsWith(reply, "\r\n\r\nrows 7\n"));
  }
  CHECK(absl::StartsWith(Ask(*port, "GET /metrics?x=1 HTTP/1.0\r\n\r\n"), "HTTP/1.1 200"));
  const std::string head = Ask(*port, "HEAD /metrics HTTP/1.0\r\n\r\n");
  CHECK(absl::StrContains(head, "Content-Length: 7\r\n"));
  CHECK(absl::EndsWith(head, "\r\n\r\n"));
}

TEST_CASE("a text larger than a socket's buffer arrives whole", "[metrics]") {
  const std::string text(8 << 20, 'x');
  const auto port = Start("127.0.0.1", text);
  const std::string reply = Ask(*port, "GET /metrics HTTP/1.0\r\n\r\n");
  CHECK(reply.size() > text.size());
  CHECK(absl::EndsWith(reply, text));
}

TEST_CASE("what is no such request is refused, and a name that a site may have chosen",
          "[metrics]") {
  const auto port = Start("127.0.0.1", "secret\n");
  const auto code = [&port](const std::string& request) {
    const std::string reply = Ask(*port, request + "\r\n\r\n");
    CHECK_FALSE(absl::StrContains(reply, "secret"));
    return reply.substr(9, 3);
  };
  CHECK(code("GET / HTTP/1.0") == "404");
  CHECK(code("GET /metricsx HTTP/1.0") == "404");
  CHECK(code("POST /metrics HTTP/1.0") == "405");
  CHECK(code("GET /metrics") == "400");
  CHECK(code("GET /metrics SPDY/3") == "400");
  CHECK(code("GET /metrics HTTP/1.1\r\nHost: evil.example") == "421");
  CHECK(code("GET /metrics HTTP/1.1") == "421");
}

TEST_CASE("a head without an end is no request, and holds up nobody for long", "[metrics]") {
  const auto port = Start("127.0.0.1", "rows 7\n");
  RawClient endless(port->address());
  endless.Send(std::string(20'000, 'x'));
  RawClient silent(port->address());
  const std::string reply = Ask(*port, "GET /metrics HTTP/1.0\r\n\r\n");
  CHECK(absl::EndsWith(reply, "rows 7\n"));
}

TEST_CASE("the port is free when it is gone, whoever is connected", "[metrics]") {
  HostPort address;
  {
    const auto port = Start("127.0.0.1", "");
    address = port->address();
    const RawClient silent(address);
    const auto taken = MetricsPort::Start(address, [] { return std::string(); });
    CHECK(taken.status().code() == absl::StatusCode::kUnavailable);
    CHECK_THAT(std::string(taken.status().message()), Catch::Contains(address.ToString()));
  }
  VICINITY_CHECK_OK(MetricsPort::Start(address, [] { return std::string(); }));
}

}  // namespace
}  // namespace vicinity
