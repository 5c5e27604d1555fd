#include "server/connections/socket_traffic.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace vicinity {
namespace {

// Two ends of a TCP connection over loopback.
std::array<int, 2> Connect() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  REQUIRE(bind(listener, reinterpret_cast<sockaddr*>(&address), length) == 0);
  REQUIRE(listen(listener, 1) == 0);
  REQUIRE(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  REQUIRE(connect(client, reinterpret_cast<sockaddr*>(&address), length) == 0);
  const int server = accept(listener, nullptr, nullptr);
  REQUIRE(server >= 0);
  close(listener);
  return {client, server};
}

bool WaitFor(const std::function<bool()>& holds) {
  for (int i = 0; i < 2000 && !holds(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return holds();
}

TEST_CASE("what is consumed is what was read, not what has arrived", "[socket_traffic]") {
  const auto [client, server] = Connect();
  REQUIRE(write(client, "0123456789", 10) == 10);
  REQUIRE(write(server, "abc", 3) == 3);
  std::string got(6, ' ');
  REQUIRE(recv(server, &got[0], 6, MSG_WAITALL) == 6);
  const int fd = server;
  CHECK(WaitFor([&] { return TrafficOf(fd).sent == 3; }));
  CHECK(TrafficOf(server).consumed == 6);
  close(client);
  close(server);
}

TEST_CASE("a socket's number is its own", "[socket_traffic]") {
  const auto [client, server] = Connect();
  const auto id = SocketId(server);
  REQUIRE(id.has_value());
  CHECK(SocketId(server) == id);
  CHECK(SocketId(client) != id);
  close(server);
  close(client);
  CHECK_FALSE(SocketId(server).has_value());
  const auto [next_client, next_server] = Connect();  // most likely with the same descriptors
  CHECK(SocketId(next_client) != id);
  CHECK(SocketId(next_server) != id);
  close(next_client);
  close(next_server);
  CHECK_FALSE(SocketId(STDIN_FILENO).has_value());
}

TEST_CASE("an ended connection is over for both ends", "[socket_traffic]") {
  const auto [client, server] = Connect();
  EndConnection(server);
  char byte = 0;
  CHECK(recv(server, &byte, 1, 0) <= 0);
  CHECK(recv(client, &byte, 1, 0) <= 0);
  close(client);
  close(server);
}

}  // namespace
}  // namespace vicinity
