#include "server/connections/peer_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

namespace vicinity {
namespace {

sockaddr_storage Socket4(const std::string& host, uint16_t port) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  REQUIRE(inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1);
  sockaddr_storage address{};
  std::memcpy(&address, &v4, sizeof(v4));
  return address;
}

sockaddr_storage Socket6(const std::string& host, uint16_t port) {
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  REQUIRE(inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1);
  sockaddr_storage address{};
  std::memcpy(&address, &v6, sizeof(v6));
  return address;
}

TEST_CASE("a socket's address and gRPC's text of it are one", "[peer_address]") {
  const auto v4 = PeerOfText("ipv4:10.0.0.7:4711");
  REQUIRE(v4.has_value());
  CHECK(v4->endpoint == PeerOfSocket(Socket4("10.0.0.7", 4711))->endpoint);
  CHECK(v4->endpoint == PeerOfSocket(Socket6("::ffff:10.0.0.7", 4711))->endpoint);
  CHECK(v4->endpoint != PeerOfSocket(Socket4("10.0.0.7", 4712))->endpoint);
  CHECK(v4->machine == "10.0.0.7");
  CHECK(v4->text == "10.0.0.7:4711");

  const auto v6 = PeerOfText("ipv6:%5B2001:db8:1:2::7%5D:4711");
  REQUIRE(v6.has_value());
  CHECK(v6->endpoint == PeerOfSocket(Socket6("2001:db8:1:2::7", 4711))->endpoint);
  CHECK(v6->machine == "2001:db8:1:2::/64");
  CHECK(v6->text == "[2001:db8:1:2::7]:4711");
}

TEST_CASE("a machine has all addresses that one of its users may choose", "[peer_address]") {
  CHECK(PeerOfText("ipv4:127.3.2.1:1")->machine == "127.0.0.1");
  CHECK(PeerOfText("ipv6:%5B::1%5D:1")->machine == "::1");
  CHECK(PeerOfText("ipv6:%5Bfe80::1%25eth0%5D:1")->machine == "fe80::/64");
  CHECK(PeerOfText("ipv6:[2001:db8::9]:1")->machine == "2001:db8::/64");
}

TEST_CASE("what is no address of the Internet is none", "[peer_address]") {
  for (const char* text : {"", "unix:/tmp/x", "ipv4:", "ipv4:10.0.0.7", "ipv4:10.0.0.7:port",
                           "ipv4:nobody:1", "ipv6:nobody:1", "ipv4:%5B::1%5D:1"}) {
    CAPTURE(text);
    CHECK_FALSE(PeerOfText(text).has_value());
  }
  sockaddr_storage unix_socket{};
  unix_socket.ss_family = AF_UNIX;
  CHECK_FALSE(PeerOfSocket(unix_socket).has_value());
}

}  // namespace
}  // namespace vicinity
