#include "tests/testing/hosts/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <random>
#include <set>

namespace vicinity::testing {

// Of those that the kernel gives to nobody who asks for any: it stays free while its server is
// started again.
int FreePort(const std::string& host) {
  constexpr int kTries = 100;
  // Whoever was given one before may not listen yet.
  static std::mutex mu;
  static std::set<int> given;
  const std::lock_guard<std::mutex> lock(mu);
  std::random_device random;
  std::uniform_int_distribution<int> ports(20'000, 32'000);
  for (int i = 0; i < kTries; ++i) {
    const int port = ports(random);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, host.c_str(), &address.sin_addr);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    close(fd);
    if (bound == 0 && given.insert(port).second) return port;
  }
  return 0;
}

}  // namespace vicinity::testing
