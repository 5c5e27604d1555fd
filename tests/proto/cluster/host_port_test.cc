#include "proto/cluster/host_port.h"

#include <catch2/catch.hpp>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("addresses are a host and a port", "[host_port]") {
  for (const char* good : {"localhost:0", "127.0.0.1:65535", "[fe80::1%eth0]:80", "a-b.c_d:1"}) {
    CAPTURE(good);
    VICINITY_ASSERT_OK_AND_ASSIGN(const HostPort address, ParseHostPort(good));
    CHECK(address.ToString() == good);
  }
  for (const char* bad :
       {"", ":", ":1", "h", "h:", "h:-1", "h:+1", "h: 1", "h:65536", "h:1x", "::1", "::1:80",
        "[]:1", "[h]:1", "h h:1", "http://h:1", "h:99999999999"}) {
    CAPTURE(bad);
    VICINITY_CHECK_CODE(ParseHostPort(bad), absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("only addresses of this machine alone count as loopback", "[host_port]") {
  for (const char* yes : {"127.0.0.1:1", "127.9.9.9:1", "localhost:1", "[::1]:1"}) {
    CAPTURE(yes);
    CHECK(ParseHostPort(yes)->loopback());
  }
  for (const char* no : {"127.example.org:1", "10.0.0.1:1", "0.0.0.0:1", "[::]:1", "host:1"}) {
    CAPTURE(no);
    CHECK_FALSE(ParseHostPort(no)->loopback());
  }
}

TEST_CASE("every address of a host is a wildcard in either family", "[host_port]") {
  CHECK(ParseHostPort("0.0.0.0:1")->wildcard());
  CHECK(ParseHostPort("[::]:1")->wildcard());
  CHECK_FALSE(ParseHostPort("0.0.0.1:1")->wildcard());
}

}  // namespace
}  // namespace vicinity
