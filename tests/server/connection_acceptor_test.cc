#include "server/connection_acceptor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "proto/common/mutex.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// What was taken; closes it all.
class Taken {
 public:
  ~Taken() { CloseAll(); }
  void Add(int fd) {
    MutexLock lock(&mu_);
    fds_.push_back(fd);
  }
  size_t size() {
    MutexLock lock(&mu_);
    return fds_.size();
  }
  void CloseAll() {
    MutexLock lock(&mu_);
    for (const int fd : fds_) close(fd);
    fds_.clear();
  }

 private:
  Mutex mu_;
  std::vector<int> fds_ ABSL_GUARDED_BY(mu_);
};

int Dial(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) return fd;
  close(fd);
  return -1;
}

// True if the other end has hung up.
bool IsOver(int fd) {
  pollfd readable{fd, POLLIN, 0};
  if (poll(&readable, 1, 10'000) <= 0) return false;
  char byte = 0;
  return recv(fd, &byte, 1, 0) <= 0;
}

bool WaitFor(const std::function<bool()>& holds) {
  for (int i = 0; i < 2000 && !holds(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return holds();
}

TEST_CASE("connections are taken up to the limit, and again when some are closed",
          "[connection_acceptor]") {
  Taken taken;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto acceptor,
                                ConnectionAcceptor::Listen({"127.0.0.1", 0}, 3));
  acceptor->Start([&](int, int fd) { taken.Add(fd); });
  std::vector<int> dialled;
  for (int i = 0; i < 3; ++i) dialled.push_back(Dial(acceptor->port()));
  REQUIRE(WaitFor([&] { return taken.size() == 3; }));
  CHECK(acceptor->CountOpen() == 3);
  const int fourth = Dial(acceptor->port());
  CHECK(IsOver(fourth));
  close(fourth);
  CHECK(acceptor->refused() == 1);
  CHECK(taken.size() == 3);

  taken.CloseAll();
  CHECK(acceptor->CountOpen() == 0);
  const int fifth = Dial(acceptor->port());
  CHECK(WaitFor([&] { return taken.size() == 1; }));
  CHECK(acceptor->CountOpen() == 1);
  close(fifth);
  for (const int fd : dialled) close(fd);
}

TEST_CASE("a stopped acceptor refuses, and its port is free", "[connection_acceptor]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto acceptor,
                                ConnectionAcceptor::Listen({"127.0.0.1", 0}, 3));
  acceptor->Start([](int, int fd) { close(fd); });
  acceptor->Stop();
  acceptor->Stop();
  CHECK(Dial(acceptor->port()) == -1);
  VICINITY_CHECK_OK(ConnectionAcceptor::Listen({"127.0.0.1", acceptor->port()}, 3));
}

TEST_CASE("a name listens on all its addresses with one port", "[connection_acceptor]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto acceptor,
                                ConnectionAcceptor::Listen({"localhost", 0}, 3));
  CHECK(acceptor->port() > 0);
  Taken taken;
  acceptor->Start([&](int, int fd) { taken.Add(fd); });
  const int fd = Dial(acceptor->port());
  CHECK(WaitFor([&] { return taken.size() == 1; }));
  close(fd);
}

TEST_CASE("the kernel looks after connections whose peer has vanished", "[connection_acceptor]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto acceptor,
                                ConnectionAcceptor::Listen({"127.0.0.1", 0}, 3));
  std::atomic<int> taken{-1};
  acceptor->Start([&](int, int fd) { taken = fd; });
  const int fd = Dial(acceptor->port());
  REQUIRE(WaitFor([&] { return taken >= 0; }));
  const auto option = [&](int level, int name) {
    int value = -1;
    socklen_t size = sizeof(value);
    getsockopt(taken, level, name, &value, &size);
    return value;
  };
  CHECK(option(SOL_SOCKET, SO_KEEPALIVE) == 1);
  CHECK(option(IPPROTO_TCP, TCP_KEEPIDLE) == 60);
  CHECK(option(IPPROTO_TCP, TCP_KEEPINTVL) == 20);
  CHECK(option(IPPROTO_TCP, TCP_USER_TIMEOUT) == 20'000);
  CHECK(option(IPPROTO_TCP, TCP_NODELAY) == 1);
  close(taken);
  close(fd);
}

TEST_CASE("what cannot be listened on is told", "[connection_acceptor]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto first, ConnectionAcceptor::Listen({"127.0.0.1", 0}, 3));
  VICINITY_CHECK_CODE(ConnectionAcceptor::Listen({"127.0.0.1", first->port()}, 3),
                      absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(ConnectionAcceptor::Listen({"no.such.host.invalid", 0}, 3),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
