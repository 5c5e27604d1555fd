#include "server/port_probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr std::chrono::seconds kLong(20);
constexpr std::chrono::milliseconds kShort(100);

// Listens on a port of loopback; the kernel takes connections whether somebody accepts them or not.
class Listener {
 public:
  Listener() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    REQUIRE(bind(fd_, reinterpret_cast<const sockaddr*>(&address), size) == 0);
    REQUIRE(listen(fd_, 8) == 0);
    REQUIRE(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { Close(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int fd() const { return fd_; }
  int port() const { return port_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
  int port_ = 0;
};

PortProbe ProbeOf(const std::string& host, int port) {
  HostPort address;
  address.host = host;
  address.port = port;
  VICINITY_ASSERT_OK_AND_ASSIGN(const PortProbe probe, PortProbe::Create(address));
  return probe;
}

// What the probe says of a server that does `answer` with its connection.
bool Answered(const std::string& host, const std::function<void(int)>& answer) {
  const Listener listener;
  const PortProbe probe = ProbeOf(host, listener.port());
  std::thread server([&listener, &answer] {
    const int fd = accept(listener.fd(), nullptr, nullptr);
    answer(fd);
    close(fd);
  });
  const bool answered = probe.Answers(kLong);
  server.join();
  return answered;
}

std::string Received(int fd, size_t size) {
  std::string bytes(size, '\0');
  const ssize_t got = recv(fd, &bytes[0], size, MSG_WAITALL);
  bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return bytes;
}

TEST_CASE("a server that says something is alive, by any name of this host", "[probe]") {
  const std::string host = GENERATE("127.0.0.1", "0.0.0.0");
  std::string begun;
  CHECK(Answered(host, [&begun](int fd) {
    begun = Received(fd, 33);
    send(fd, "\0\0\0\4\0\0\0\0\0", 9, MSG_NOSIGNAL);
  }));
  CHECK(begun.substr(0, 24) == "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  CHECK(begun.substr(24) == std::string("\0\0\0\4\0\0\0\0\0", 9));
}

TEST_CASE("a server that ends the connection is alive", "[probe]") {
  // As one with TLS does, and one that has too many connections: with and without a reset.
  const bool reads = GENERATE(true, false);
  CHECK(Answered("127.0.0.1", [reads](int fd) {
    if (reads) Received(fd, 33);
  }));
}

TEST_CASE("a silent server is not alive", "[probe]") {
  const Listener listener;
  CHECK_FALSE(ProbeOf("127.0.0.1", listener.port()).Answers(kShort));
}

TEST_CASE("a port that nobody listens on is not alive", "[probe]") {
  Listener listener;
  const PortProbe probe = ProbeOf("127.0.0.1", listener.port());
  listener.Close();
  CHECK_FALSE(probe.Answers(kLong));
}

TEST_CASE("a host without an address is named", "[probe]") {
  HostPort address;
  address.host = "no such host";
  VICINITY_CHECK_CODE(PortProbe::Create(address), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
