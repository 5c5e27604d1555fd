#include "tests/integration/recorded_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "absl/time/clock.h"

namespace vicinity::testing {
namespace {

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

int Dial(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return -1;
}

bool SendAll(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

}  // namespace

RecordingRelay::RecordingRelay(int server_port)
    : server_port_(server_port),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      wake_(eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || wake_ < 0 || bind(listener_, generic, size) != 0 ||
      listen(listener_, 16) != 0 || getsockname(listener_, generic, &size) != 0) {
    std::perror("recording relay");
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Run(); });
}

RecordingRelay::~RecordingRelay() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t woken = write(wake_, &one, sizeof(one));
  thread_.join();
  close(listener_);
  close(wake_);
}

std::string RecordingRelay::sent() const {
  MutexLock lock(&mu_);
  return sent_;
}

void RecordingRelay::Run() {
  pollfd polled[] = {{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
  while (poll(polled, 2, -1) > 0 && polled[0].revents == 0) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    Relay(client);
    close(client);
  }
}

void RecordingRelay::Relay(int client) {
  const int server = Dial(server_port_);
  pollfd polled[] = {{wake_, POLLIN, 0}, {client, POLLIN, 0}, {server, POLLIN, 0}};
  char bytes[16384];
  while (server >= 0 && poll(polled, 3, -1) > 0 && polled[0].revents == 0) {
    const bool to_server = polled[1].revents != 0;
    const ssize_t got = read(to_server ? client : server, bytes, sizeof(bytes));
    if (got <= 0) break;
    if (to_server) {
      MutexLock lock(&mu_);
      sent_.append(bytes, static_cast<size_t>(got));
    }
    if (!SendAll(to_server ? server : client, bytes, static_cast<size_t>(got))) break;
  }
  if (server >= 0) close(server);
}

Replayed Replay(int server_port, const std::string& recorded, absl::Duration limit) {
  Replayed replayed;
  const int server = Dial(server_port);
  if (server < 0) return replayed;
  SendAll(server, recorded.data(), recorded.size());
  const absl::Time end = absl::Now() + limit;
  char bytes[16384];
  while (!replayed.closed) {
    pollfd polled{server, POLLIN, 0};
    const int64_t left = absl::ToInt64Milliseconds(end - absl::Now());
    if (left <= 0 || poll(&polled, 1, static_cast<int>(left)) <= 0) break;
    const ssize_t got = read(server, bytes, sizeof(bytes));
    if (got > 0) replayed.received.append(bytes, static_cast<size_t>(got));
    replayed.closed = got <= 0;
  }
  close(server);
  return replayed;
}

}  // namespace vicinity::testing
