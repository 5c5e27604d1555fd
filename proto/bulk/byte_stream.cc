#include "proto/bulk/byte_stream.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace vicinity::bulk {
namespace {

msghdr MessageOf(absl::Span<const iovec> pieces) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  return message;
}

absl::StatusOr<size_t> Failed(const char* what) {
  if (errno == EAGAIN || errno == EWOULDBLOCK) return size_t{0};
  return absl::UnavailableError(
      absl::StrCat("the bulk connection ", what, ": ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<size_t> SocketStream::Read(absl::Span<const iovec> pieces) {
  msghdr message = MessageOf(pieces);
  ssize_t count = 0;
  do {
    count = recvmsg(fd_, &message, MSG_DONTWAIT);
  } while (count < 0 && errno == EINTR);
  if (count > 0) return static_cast<size_t>(count);
  if (count == 0) return absl::UnavailableError("the bulk connection was ended by the other side");
  return Failed("cannot be read");
}

absl::StatusOr<size_t> SocketStream::Write(absl::Span<const iovec> pieces) {
  const msghdr message = MessageOf(pieces);
  ssize_t count = 0;
  do {
    count = sendmsg(fd_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  return count >= 0 ? absl::StatusOr<size_t>(static_cast<size_t>(count))
                    : Failed("cannot be written");
}

}  // namespace vicinity::bulk
