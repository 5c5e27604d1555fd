#include "server/connections/listen_address.h"

#include <dirent.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// "127.0.0.1, 10.0.0.7": what could have been meant.
std::string LocalAddresses() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return "unknown";
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(first, &freeifaddrs);
  std::set<std::string> addresses;
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    const int family = at->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    char text[NI_MAXHOST];
    if (getnameinfo(at->ifa_addr, length, text, sizeof(text), nullptr, 0, NI_NUMERICHOST) == 0) {
      addresses.insert(text);
    }
  }
  return absl::StrJoin(addresses, ", ");
}

// 0, or the errno of what failed.
int TryToBind(const addrinfo& info) {
  const int fd = socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const int one = 1;
  // As gRPC does: a port whose last connections are still winding down is free.
  int failed = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  if (failed == 0) failed = bind(fd, info.ai_addr, info.ai_addrlen);
  if (failed == 0) failed = listen(fd, 1);
  const int error = failed == 0 ? 0 : errno;
  close(fd);
  return error;
}

absl::Status Explain(const HostPort& address, int error) {
  const std::string text =
      absl::StrCat("cannot listen on ", address.ToString(), ": ", std::strerror(error));
  switch (error) {
    case EADDRINUSE: {
      const std::string holders = ListenersOn(address.port);
      return absl::UnavailableError(
          holders.empty() ? text : absl::StrCat(text, "; the port is held by ", holders));
    }
    case EADDRNOTAVAIL:
      return absl::InvalidArgumentError(
          absl::StrCat(text, "; this host's addresses are ", LocalAddresses()));
    case EACCES:
      return absl::PermissionDeniedError(text);
    default:
      return absl::UnavailableError(text);
  }
}

// The sockets that listen on a port, from lines like
// "0: 0100007F:1D4C 00000000:0000 0A ... <inode>" (the tenth field); state 0A is LISTEN.
void AddListeningSockets(const char* table, int port, std::set<std::string>* sockets) {
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);  // the header
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (fields.size() < 10 || fields[3] != "0A") continue;
    const std::vector<std::string> local = absl::StrSplit(fields[1], ':');
    int found = 0;
    std::istringstream(local.back()) >> std::hex >> found;
    if (found == port) sockets->insert(absl::StrCat("socket:[", fields[9], "]"));
  }
}

bool HoldsOneOf(const std::filesystem::path& process, const std::set<std::string>& sockets) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(process / "fd", error)) {
    std::error_code gone;
    const std::filesystem::path target = std::filesystem::read_symlink(entry.path(), gone);
    if (!gone && sockets.count(target.string()) > 0) return true;
  }
  return false;
}

}  // namespace

absl::Status CheckListenAddress(const HostPort& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* first = nullptr;
  const int failed =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &first);
  if (failed != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot listen on ", address.ToString(), ": ", gai_strerror(failed)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(first, &freeaddrinfo);
  // A name may stand for several addresses, one of which is enough; but a port that somebody
  // else holds at any of them would give clients two servers under one name.
  int error = 0;
  bool bound = false;
  for (const addrinfo* at = first; at != nullptr; at = at->ai_next) {
    const int this_error = TryToBind(*at);
    if (this_error == EADDRINUSE) return Explain(address, this_error);
    bound = bound || this_error == 0;
    if (error == 0) error = this_error;
  }
  return bound ? absl::OkStatus() : Explain(address, error);
}

std::string ListenersOn(int port) {
  std::set<std::string> sockets;
  AddListeningSockets("/proc/net/tcp", port, &sockets);
  AddListeningSockets("/proc/net/tcp6", port, &sockets);
  if (sockets.empty()) return "";
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    int pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    if (!HoldsOneOf(entry.path(), sockets)) continue;
    std::ifstream file(entry.path() / "comm");
    std::string name;
    std::getline(file, name);
    found.push_back(absl::StrCat("pid ", pid, " (", name, ")"));
  }
  return absl::StrJoin(found, ", ");
}

}  // namespace vicinity
