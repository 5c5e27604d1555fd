#include "server/port_probe.h"

#include <netdb.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace vicinity {
namespace {

// RFC 9113, 3.4: the preface, and a SETTINGS frame that sets nothing.
constexpr absl::string_view kPreface("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);

using Clock = std::chrono::steady_clock;

// Whether one of `events`, an error or the end of the connection comes before `end`.
bool Await(int fd, short events, Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd wanted = {fd, events, 0};
    const int ready = poll(&wanted, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

bool Connects(int fd, const sockaddr* address, socklen_t size, Clock::time_point end) {
  if (connect(fd, address, size) == 0) return true;
  if (errno != EINPROGRESS || !Await(fd, POLLOUT, end)) return false;
  int error = 0;
  socklen_t error_size = sizeof(error);
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_size) == 0 && error == 0;
}

}  // namespace

absl::StatusOr<PortProbe> PortProbe::Create(const HostPort& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  const int failed =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &first);
  if (failed != 0) {
    return absl::InvalidArgumentError(absl::StrCat(address.ToString(), ": ", gai_strerror(failed)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(first, &freeaddrinfo);
  PortProbe probe;
  // Linux takes the address of all interfaces for that of loopback.
  std::memcpy(&probe.address_, first->ai_addr, first->ai_addrlen);
  probe.size_ = first->ai_addrlen;
  return probe;
}

bool PortProbe::Answers(std::chrono::nanoseconds limit) const {
  const Clock::time_point end = Clock::now() + limit;
  const int fd = socket(address_.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno == EMFILE || errno == ENFILE;  // too many are open: no death either
  bool answers = Connects(fd, reinterpret_cast<const sockaddr*>(&address_), size_, end);
  if (answers && send(fd, kPreface.data(), kPreface.size(), MSG_NOSIGNAL) >= 0) {
    answers = Await(fd, POLLIN, end);
  }
  close(fd);
  return answers;
}

}  // namespace vicinity
