#include "server/bulk/unix_listener.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <string>

#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// A socket that is connected to the name, or -1.
int Connect(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0) return fd;
  close(fd);
  return -1;
}

TEST_CASE("connections are taken by the name, until it is closed", "[unix_listener]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(auto listener, UnixListener::Listen());
  const std::string name = listener->name();
  CHECK(listener->Accept() == -1);
  const int here = Connect(name);
  REQUIRE(here >= 0);
  const int there = listener->Accept();
  REQUIRE(there >= 0);
  CHECK(send(here, "x", 1, 0) == 1);
  char byte = 0;
  CHECK(recv(there, &byte, 1, 0) == 1);
  CHECK(byte == 'x');
  close(here);
  close(there);
  listener.reset();
  CHECK(Connect(name) == -1);
}

TEST_CASE("no two listeners have the same name", "[unix_listener]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto one, UnixListener::Listen());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto other, UnixListener::Listen());
  CHECK(one->name() != other->name());
}

}  // namespace
}  // namespace vicinity
