#include "server/connection_acceptor.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int kBacklog = 4096;  // the kernel cuts it to what it allows
constexpr int kMostAtOnce = 64;
// A peer that has vanished without a word (power, cable) is noticed by the kernel, which gRPC's own
// pings leave to it while there are no calls: a connection that is idle for so long is asked, and
// given up when for so long nothing is acknowledged, an answer or what was sent. That counts a
// living peer too that reads nothing once its buffers are full: its connection ends, with all
// calls.
constexpr int kIdleSeconds = 60;
constexpr int kVanishedSeconds = 20;
// When the process or the host is out of files: until some are closed.
constexpr int kOutOfFilesMs = 100;

ino_t InodeOf(int fd) {
  struct stat about {};
  return fstat(fd, &about) == 0 ? about.st_ino : 0;
}

void SetPort(sockaddr_storage* address, int port) {
  const auto wire_port = htons(static_cast<uint16_t>(port));
  if (address->ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address)->sin6_port = wire_port;
  } else {
    reinterpret_cast<sockaddr_in*>(address)->sin_port = wire_port;
  }
}

int PortOf(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

// Connections inherit it all.
void SetOptions(int listener_fd) {
  const auto set = [listener_fd](int level, int option, int value) {
    setsockopt(listener_fd, level, option, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_REUSEADDR, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kVanishedSeconds);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kVanishedSeconds * 1000);
}

// A listening socket, or -1 with errno.
int ListenAt(const addrinfo& info, int port) {
  const int fd = socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  sockaddr_storage address{};
  std::memcpy(&address, info.ai_addr, info.ai_addrlen);
  SetPort(&address, port);
  SetOptions(fd);
  if (info.ai_family == AF_INET6) {
    // The unspecified address stands for IPv4's as well, as with gRPC's own listener.
    const auto* const ipv6 = reinterpret_cast<const sockaddr_in6*>(info.ai_addr);
    const int only = IN6_IS_ADDR_UNSPECIFIED(&ipv6->sin6_addr) ? 0 : 1;
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only));
  }
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), info.ai_addrlen) == 0 &&
      listen(fd, kBacklog) == 0) {
    return fd;
  }
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

void Reset(int fd) {
  const linger at_once{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(fd);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ConnectionAcceptor>> ConnectionAcceptor::Listen(
    const HostPort& address, int64_t max_connections) {
  const int wake_fd = eventfd(0, EFD_CLOEXEC);
  if (wake_fd < 0) return absl::UnavailableError(absl::StrCat("eventfd: ", std::strerror(errno)));
  auto acceptor =
      std::unique_ptr<ConnectionAcceptor>(new ConnectionAcceptor(max_connections, wake_fd));
  VICINITY_RETURN_IF_ERROR(acceptor->Bind(address));
  return acceptor;
}

ConnectionAcceptor::ConnectionAcceptor(int64_t max_connections, int wake_fd)
    : max_connections_(max_connections), wake_fd_(wake_fd) {}

absl::Status ConnectionAcceptor::Bind(const HostPort& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* first = nullptr;
  const int failed = getaddrinfo(address.host.c_str(), nullptr, &hints, &first);
  if (failed != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot listen on ", address.ToString(), ": ", gai_strerror(failed)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(first, &freeaddrinfo);
  port_ = address.port;
  int error = 0;
  for (const addrinfo* at = first; at != nullptr; at = at->ai_next) {
    const int fd = ListenAt(*at, port_);
    if (fd < 0) {
      error = errno;
      continue;
    }
    listeners_.push_back(fd);
    port_ = PortOf(fd);
  }
  if (!listeners_.empty()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address.ToString(), ": ", std::strerror(error)));
}

ConnectionAcceptor::~ConnectionAcceptor() {
  Stop();
  close(wake_fd_);
}

void ConnectionAcceptor::Start(Take take) {
  take_ = std::move(take);
  thread_ = std::thread([this] { Run(); });
}

void ConnectionAcceptor::Stop() {
  stopping_ = true;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t woken = write(wake_fd_, &one, sizeof(one));
  if (thread_.joinable()) thread_.join();
  for (const int fd : listeners_) close(fd);
  listeners_.clear();
}

void ConnectionAcceptor::Run() {
  std::vector<pollfd> polled;
  for (const int fd : listeners_) polled.push_back({fd, POLLIN, 0});
  polled.push_back({wake_fd_, POLLIN, 0});
  while (!stopping_) {
    if (poll(polled.data(), polled.size(), -1) <= 0) continue;
    for (size_t i = 0; i < listeners_.size(); ++i) {
      if (polled[i].revents != 0) AcceptFrom(listeners_[i]);
    }
  }
}

void ConnectionAcceptor::AcceptFrom(int listener_fd) {
  for (int i = 0; i < kMostAtOnce && !stopping_; ++i) {
    const int fd = accept4(listener_fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      Admit(listener_fd, fd);
      continue;
    }
    if (errno == ECONNABORTED || errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    pollfd wake{wake_fd_, POLLIN, 0};
    poll(&wake, 1, kOutOfFilesMs);
    return;
  }
}

void ConnectionAcceptor::Admit(int listener_fd, int fd) {
  {
    MutexLock lock(&mu_);
    if (static_cast<int64_t>(open_.size()) >= max_connections_) ForgetClosed();
    if (static_cast<int64_t>(open_.size()) >= max_connections_) {
      refused_.fetch_add(1, std::memory_order_relaxed);
      Reset(fd);
      return;
    }
    open_[fd] = InodeOf(fd);
  }
  take_(listener_fd, fd);
}

void ConnectionAcceptor::ForgetClosed() {
  for (auto it = open_.begin(); it != open_.end();) {
    it = InodeOf(it->first) == it->second ? std::next(it) : open_.erase(it);
  }
}

int64_t ConnectionAcceptor::CountOpen() {
  MutexLock lock(&mu_);
  ForgetClosed();
  return static_cast<int64_t>(open_.size());
}

}  // namespace vicinity
