#include "server/bulk/unix_listener.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

constexpr int kBacklog = 256;

absl::Status Failed(const char* what) {
  return absl::UnavailableError(
      absl::StrCat("no Unix socket for the bulk channel: ", what, ": ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<UnixListener>> UnixListener::Listen() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) return Failed("getrandom");
  std::string name =
      absl::StrCat("vicinity-bulk-", getpid(), "-", absl::Hex(number, absl::kZeroPad16));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Failed("socket");
  std::unique_ptr<UnixListener> listener(new UnixListener(fd, std::move(name)));
  const auto length =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + listener->name().size());
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), length) != 0) return Failed("bind");
  if (listen(fd, kBacklog) != 0) return Failed("listen");
  return listener;
}

UnixListener::UnixListener(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

UnixListener::~UnixListener() { close(fd_); }

int UnixListener::Accept() const {
  return accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

}  // namespace vicinity
