#include "server/http/http_listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/common/status.h"
#include "server/connections/listen_address.h"

namespace vicinity {
namespace {

constexpr int kBacklog = 64;

// A listening socket, or -1 with errno.
int ListenAt(const addrinfo& info) {
  const int fd = socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const auto set = [fd](int level, int option, int value) {
    setsockopt(fd, level, option, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_REUSEADDR, 1);
  set(IPPROTO_TCP, TCP_NODELAY, 1);  // connections inherit it
  if (info.ai_family == AF_INET6) {
    const auto* const ipv6 = reinterpret_cast<const sockaddr_in6*>(info.ai_addr);
    set(IPPROTO_IPV6, IPV6_V6ONLY, IN6_IS_ADDR_UNSPECIFIED(&ipv6->sin6_addr) ? 0 : 1);
  }
  if (bind(fd, info.ai_addr, info.ai_addrlen) == 0 && listen(fd, kBacklog) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

int PortOf(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpListener>> HttpListener::Listen(const HostPort& address) {
  VICINITY_RETURN_IF_ERROR(CheckListenAddress(address));
  std::unique_ptr<HttpListener> listener(new HttpListener(address));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  int error = 0;
  // Once for each of the host's addresses, all at the port that the first has got.
  addrinfo* first = nullptr;
  const int failed = getaddrinfo(address.host.c_str(), nullptr, &hints, &first);
  if (failed != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot listen on ", address.ToString(), ": ", gai_strerror(failed)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(first, &freeaddrinfo);
  for (addrinfo* at = first; at != nullptr; at = at->ai_next) {
    const auto port = htons(static_cast<uint16_t>(listener->address_.port));
    if (at->ai_family == AF_INET6) {
      reinterpret_cast<sockaddr_in6*>(at->ai_addr)->sin6_port = port;
    } else {
      reinterpret_cast<sockaddr_in*>(at->ai_addr)->sin_port = port;
    }
    const int fd = ListenAt(*at);
    if (fd < 0) {
      error = errno;
      continue;
    }
    listener->fds_.push_back(fd);
    listener->address_.port = PortOf(fd);
  }
  if (!listener->fds_.empty()) return listener;
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address.ToString(), ": ", std::strerror(error)));
}

HttpListener::~HttpListener() {
  for (const int fd : fds_) close(fd);
}

int HttpListener::Accept(int fd) {
  return accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

}  // namespace vicinity
