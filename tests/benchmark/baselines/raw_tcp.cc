#include "tests/benchmark/baselines/raw_tcp.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <thread>

namespace vicinity::benchmark {

std::unique_ptr<OtherProcess> StartTcp(int64_t chunk_bytes) {
  return OtherProcess::Start([&](const std::function<void(int port)>& serve_at) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener, 1) != 0) {
      std::exit(1);
    }
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    std::thread([&] {
      const std::string buffer(chunk_bytes, 'x');
      while (true) {
        const int connection = accept(listener, nullptr, nullptr);
        while (send(connection, buffer.data(), buffer.size(), MSG_NOSIGNAL) > 0) {
        }
        close(connection);
      }
    }).detach();
    serve_at(ntohs(address.sin_port));
  });
}

TransferCost MeasureTcp(const OtherProcess& server, double seconds, int64_t chunk_bytes) {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(server.port());
  if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    std::cerr << "cannot connect\n";
    std::exit(1);
  }
  std::string buffer(chunk_bytes, '\0');
  const TransferCost cost = MeasureTransfer(server, seconds, [&] {
    double bytes = 0;
    while (bytes < 64e6) {
      const ssize_t got = read(connection, &buffer[0], buffer.size());
      if (got <= 0) std::exit(1);
      bytes += static_cast<double>(got);
    }
    return bytes;
  });
  close(connection);
  return cost;
}

}  // namespace vicinity::benchmark
