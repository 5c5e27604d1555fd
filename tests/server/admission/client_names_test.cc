#include "server/admission/client_names.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

TEST_CASE("connections that name the same client at the same host are one client",
          "[client_names]") {
  ClientNames names;
  names.Learn("ipv4:10.0.0.1:100", "trainer 7");
  names.Learn("ipv4:10.0.0.1:200", "trainer 7");
  names.Learn("ipv4:10.0.0.2:100", "trainer 7");
  names.Learn("ipv6:%5B::1%5D:100", "trainer 7");
  CHECK(names.Of("ipv4:10.0.0.1:100", "") == "trainer 7 at 10.0.0.1");
  CHECK(names.Of("ipv4:10.0.0.1:200", "") == "trainer 7 at 10.0.0.1");
  CHECK(names.Of("ipv4:10.0.0.2:100", "") == "trainer 7 at 10.0.0.2");
  CHECK(names.Of("ipv6:%5B::1%5D:100", "") == "trainer 7 at %5B::1%5D");
  names.Learn("ipv4:10.0.0.1:100", "another");
  CHECK(names.Of("ipv4:10.0.0.1:100", "") == "another at 10.0.0.1");
}

TEST_CASE("a connection without a name is a client of its own", "[client_names]") {
  ClientNames names;
  names.Learn("ipv4:10.0.0.1:100", "");
  CHECK(names.Of("ipv4:10.0.0.1:100", "") == "ipv4:10.0.0.1:100");
  CHECK(names.Of("unix:", "") == "unix:");
}

TEST_CASE("who has proven to be somebody is that, whatever it says", "[client_names]") {
  ClientNames names;
  names.Learn("ipv4:10.0.0.1:100", "another");
  CHECK(names.Of("ipv4:10.0.0.1:100", "trainer") == "trainer at 10.0.0.1");
  CHECK(names.Of("ipv4:10.0.0.1:200", "trainer") == "trainer at 10.0.0.1");
  CHECK(names.Of("ipv4:10.0.0.1:200", "other") == "other at 10.0.0.1");
  CHECK(names.Of("ipv4:10.0.0.2:100", "trainer") == "trainer at 10.0.0.2");
}

TEST_CASE("who has many addresses has the limits of one", "[client_names]") {
  ClientNames names;
  const std::string there = names.Of("ipv6:%5B2001:db8:1:2::7%5D:100", "trainer");
  CHECK(there == "trainer at 2001:db8:1:2::/64");
  CHECK(names.Of("ipv6:%5B2001:db8:1:2:9:8:7:6%5D:200", "trainer") == there);
  CHECK(names.Of("ipv6:%5B2001:db8:1:3::7%5D:100", "trainer") != there);
  CHECK(names.Of("ipv6:%5Bfe80::1%25eth0%5D:100", "trainer") == "trainer at fe80::/64");
  CHECK(names.Of("ipv6:%5B::1%5D:100", "trainer") == "trainer at ::1");
  CHECK(names.Of("ipv4:127.3.2.1:100", "trainer") == "trainer at 127.0.0.1");
  CHECK(names.Of("unix:", "trainer") == "trainer at ");
}

TEST_CASE("proven names that begin alike stay apart", "[client_names]") {
  ClientNames names;
  const std::string path = "spiffe://" + std::string(200, 'x');
  CHECK(names.Of("ipv4:10.0.0.1:1", path + "/a") != names.Of("ipv4:10.0.0.1:1", path + "/b"));
}

TEST_CASE("names are cut and escaped", "[client_names]") {
  ClientNames names;
  names.Learn("unix:", std::string(10'000, '\n'));
  CHECK(names.Of("unix:", "").size() < 500);
  CHECK(names.Of("unix:", "").find('\n') == std::string::npos);
}

TEST_CASE("connections that have not spoken for long are forgotten", "[client_names]") {
  ClientNames names;
  names.Learn("ipv4:1.1.1.1:1", "busy");
  names.Learn("ipv4:1.1.1.1:2", "idle");
  for (size_t i = 0; i < ClientNames::kMaxPeers; ++i) {
    names.Learn(absl::StrCat("ipv4:2.2.2.2:", i), "many");
    names.Of("ipv4:1.1.1.1:1", "");
  }
  CHECK(names.Of("ipv4:1.1.1.1:1", "") == "busy at 1.1.1.1");
  CHECK(names.Of("ipv4:1.1.1.1:2", "") == "ipv4:1.1.1.1:2");
}

}  // namespace
}  // namespace vicinity
