#include "server/connections/connection_acceptor.h"

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
#include "absl/status/statusor.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/mutex.h"
#include "server/connections/connection_guard.h"
#include "server/logging/logging.h"
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
  int front() {
    MutexLock lock(&mu_);
    return fds_.front();
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

ConnectionLimits LimitTo(int64_t connections) {
  ConnectionLimits limits;
  limits.max_connections = connections;
  return limits;
}

class AcceptorTest {
 protected:
  absl::StatusOr<std::unique_ptr<ConnectionAcceptor>> Listen(
      const HostPort& address, const ConnectionLimits& limits = LimitTo(3)) {
    return ConnectionAcceptor::Listen(address, limits, log_.get());
  }

  const std::shared_ptr<spdlog::logger> log_ = MakeSilentLogger();
};

TEST_CASE_METHOD(AcceptorTest, "newcomers come in rounds, so that calls go on beside them",
                 "[connection_acceptor]") {
  ConnectionLimits limits = LimitTo(100);
  limits.new_at_once = 2;
  const auto begun = std::chrono::steady_clock::now();
  Taken taken;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto acceptor, Listen({"127.0.0.1", 0}, limits));
  acceptor->Start([&](int, int fd) { taken.Add(fd); });
  std::vector<int> dialled;
  for (int i = 0; i < 12; ++i) dialled.push_back(Dial(acceptor->port()));
  CHECK(WaitFor([&] { return taken.size() == 12; }));
  // Of six rounds of 20 ms all but the first and the last are whole.
  CHECK(std::chrono::steady_clock::now() - begun >= std::chrono::milliseconds(80));
  for (const int fd : dialled) close(fd);
}

TEST_CASE_METHOD(AcceptorTest, "newcomers that take long to let in come fewer at a time",
                 "[connection_acceptor]") {
  const auto begun = std::chrono::steady_clock::now();
  Taken taken;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto acceptor, Listen({"127.0.0.1", 0}, LimitTo(100)));
  acceptor->Start([&](int, int fd) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    taken.Add(fd);
  });
  std::vector<int> dialled;
  for (int i = 0; i < 12; ++i) dialled.push_back(Dial(acceptor->port()));
  CHECK(WaitFor([&] { return taken.size() == 12; }));
  // Each a round of its own.
  CHECK(std::chrono::steady_clock::now() - begun >= std::chrono::milliseconds(10 * 20));
  for (const int fd : dialled) close(fd);
}

TEST_CASE_METHOD(AcceptorTest,
                 "beyond the limit the oldest that has proven nothing makes room, and closed ones "
                 "count no more",
                 "[connection_acceptor]") {
  Taken taken;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto acceptor, Listen({"127.0.0.1", 0}));
  acceptor->Start([&](int, int fd) { taken.Add(fd); });
  std::vector<int> dialled;
  for (int i = 0; i < 3; ++i) {
    dialled.push_back(Dial(acceptor->port()));
    REQUIRE(WaitFor([&] { return taken.size() == dialled.size(); }));
  }
  CHECK(acceptor->guard()->num_open() == 3);
  dialled.push_back(Dial(acceptor->port()));
  CHECK(WaitFor([&] { return taken.size() == 4; }));
  CHECK(IsOver(dialled[0]));
  CHECK(acceptor->guard()->num_open() == 3);

  taken.CloseAll();
  CHECK(WaitFor([&] { return acceptor->guard()->num_open() == 0; }));
  for (const int fd : dialled) close(fd);
}

TEST_CASE_METHOD(AcceptorTest, "who sends what belongs to no call is cut off, and not let in again",
                 "[connection_acceptor]") {
  ConnectionLimits limits = LimitTo(100);
  limits.first_wait = std::chrono::milliseconds(10'000);
  Taken taken;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto acceptor, Listen({"127.0.0.1", 0}, limits));
  acceptor->Start([&](int, int fd) { taken.Add(fd); });
  const int fd = Dial(acceptor->port());
  REQUIRE(WaitFor([&] { return taken.size() == 1; }));
  // Somebody reads it, as gRPC would.
  std::thread reader([&] {
    std::vector<char> block(1 << 20);
    const int read_from = taken.front();
    pollfd readable{read_from, POLLIN, 0};
    while (poll(&readable, 1, 10'000) > 0 &&
           recv(read_from, block.data(), block.size(), MSG_DONTWAIT) > 0) {
    }
  });
  const std::vector<char> flood(64 << 10, 'x');
  int64_t sent = 0;
  while (sent < int64_t{1} << 30) {
    const ssize_t now = send(fd, flood.data(), flood.size(), MSG_NOSIGNAL);
    if (now <= 0) break;
    sent += now;
  }
  CHECK(sent < int64_t{1} << 30);
  CHECK(acceptor->guard()->num_cut_off() == 1);
  reader.join();
  const int again = Dial(acceptor->port());
  CHECK(IsOver(again));
  CHECK(acceptor->refused() == 1);
  close(again);
  close(fd);
}

TEST_CASE_METHOD(AcceptorTest, "a stopped acceptor refuses, and its port is free",
                 "[connection_acceptor]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto acceptor, Listen({"127.0.0.1", 0}));
  acceptor->Start([](int, int fd) { close(fd); });
  acceptor->Stop();
  acceptor->Stop();
  CHECK(Dial(acceptor->port()) == -1);
  VICINITY_CHECK_OK(Listen({"127.0.0.1", acceptor->port()}));
}

TEST_CASE_METHOD(AcceptorTest, "a name listens on all its addresses with one port",
                 "[connection_acceptor]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto acceptor, Listen({"localhost", 0}));
  CHECK(acceptor->port() > 0);
  Taken taken;
  acceptor->Start([&](int, int fd) { taken.Add(fd); });
  const int fd = Dial(acceptor->port());
  CHECK(WaitFor([&] { return taken.size() == 1; }));
  close(fd);
}

TEST_CASE_METHOD(AcceptorTest, "the kernel looks after connections whose peer has vanished",
                 "[connection_acceptor]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto acceptor, Listen({"127.0.0.1", 0}));
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

TEST_CASE_METHOD(AcceptorTest, "what cannot be listened on is told", "[connection_acceptor]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto first, Listen({"127.0.0.1", 0}));
  VICINITY_CHECK_CODE(Listen({"127.0.0.1", first->port()}), absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(Listen({"no.such.host.invalid", 0}), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
