#include "server/connections/socket_traffic.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace vicinity {

std::optional<uint64_t> SocketId(int fd) {
  uint64_t cookie = 0;
  socklen_t length = sizeof(cookie);
  if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length) != 0) return std::nullopt;
  return cookie;
}

SocketTraffic TrafficOf(int fd) {
  SocketTraffic traffic;
  tcp_info info{};
  socklen_t length = sizeof(info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return traffic;
  int unread = 0;
  if (ioctl(fd, SIOCINQ, &unread) != 0) unread = 0;
  traffic.consumed = static_cast<int64_t>(info.tcpi_bytes_received) - unread;
  traffic.sent = static_cast<int64_t>(info.tcpi_bytes_acked);
  return traffic;
}

void EndConnection(int fd) {
  const linger at_once{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  shutdown(fd, SHUT_RDWR);
}

}  // namespace vicinity
