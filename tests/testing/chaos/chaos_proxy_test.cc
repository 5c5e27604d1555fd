#include "tests/testing/chaos/chaos_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/testing/chaos/chaos_flow.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// No wait in these tests is longer; only a failing test gets there.
constexpr int kLimitSeconds = 20;

std::string Numbered(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 131 >> 3);
  return bytes;
}

// One end of a connection, with blocking calls.
class Peer {
 public:
  explicit Peer(int socket) : socket_(socket) {
    const timeval limit{kLimitSeconds, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  }
  Peer(Peer&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  ~Peer() { Close(); }

  void Close() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }
  void End() { shutdown(socket_, SHUT_WR); }

  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(sent);
    }
    return true;
  }
  // As much as goes without waiting for longer than `limit` for room.
  size_t SendWhatFits(milliseconds limit) {
    const std::string bytes = Numbered(64 << 10);
    size_t total = 0;
    pollfd writable{socket_, POLLOUT, 0};
    while (poll(&writable, 1, static_cast<int>(limit.count())) > 0) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0) break;
      total += sent;
    }
    return total;
  }
  // Fewer at the end of the stream, or when it breaks: errno is 0 or tells.
  std::string Receive(size_t size) {
    std::string bytes(size, '\0');
    size_t got = 0;
    errno = 0;
    while (got < size) {
      const ssize_t now = recv(socket_, bytes.data() + got, size - got, 0);
      if (now <= 0) break;
      got += now;
    }
    bytes.resize(got);
    return bytes;
  }
  // 0: the stream ended in order.
  int ReceiveEnd() {
    CHECK(Receive(1).empty());
    return errno;
  }
  bool HearsNothing(milliseconds limit) {
    pollfd readable{socket_, POLLIN, 0};
    return poll(&readable, 1, static_cast<int>(limit.count())) == 0;
  }

 private:
  int socket_;
};

// A listening socket, a proxy in front of it, and connections through it.
class ProxyTest {
 public:
  ProxyTest() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    REQUIRE(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(listener_, 64) == 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    VICINITY_ASSERT_OK_AND_ASSIGN(proxy_, ChaosProxy::Start({"127.0.0.1", port_}, 7));
  }
  ~ProxyTest() { close(listener_); }

 protected:
  Peer Dial() const {
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(proxy_->address().port));
    REQUIRE(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    return Peer(client);
  }
  Peer Accept() const {
    pollfd readable{listener_, POLLIN, 0};
    REQUIRE(poll(&readable, 1, kLimitSeconds * 1000) == 1);
    return Peer(accept(listener_, nullptr, nullptr));
  }

  const int listener_;
  int port_ = 0;
  std::unique_ptr<ChaosProxy> proxy_;
};

TEST_CASE_METHOD(ProxyTest, "bytes pass in both directions, and so does the end", "[chaos]") {
  Peer client = Dial();
  Peer server = Accept();
  const std::string bytes = Numbered(3'000'000);
  bool sent = false;
  std::thread sender([&] {
    sent = client.Send(bytes);
    client.End();
  });
  CHECK(server.Receive(bytes.size()) == bytes);
  CHECK(server.ReceiveEnd() == 0);
  sender.join();
  CHECK(sent);
  CHECK(server.Send("answer after the end"));
  server.End();
  CHECK(client.Receive(100) == "answer after the end");
  CHECK(client.ReceiveEnd() == 0);
  const ChaosCounters counters = proxy_->counters();
  CHECK(counters.accepted == 1);
  CHECK(counters.bytes[0] == 3'000'000);
  CHECK(counters.bytes[1] == 20);
  CHECK(counters.resets == 0);
}

TEST_CASE_METHOD(ProxyTest, "latency holds each direction up by itself", "[chaos]") {
  Toxics toxics;
  toxics.latency = absl::Milliseconds(60);
  toxics.jitter = absl::Milliseconds(20);
  proxy_->Set(Direction::kToServer, toxics);
  Peer client = Dial();
  Peer server = Accept();
  const auto begun = Clock::now();
  for (int i = 0; i < 3; ++i) {
    client.Send("x");
    CHECK(server.Receive(1) == "x");
    server.Send("y");
    CHECK(client.Receive(1) == "y");
  }
  CHECK(Clock::now() - begun >= milliseconds(180));
  CHECK(Clock::now() - begun < std::chrono::seconds(5));
}

TEST_CASE_METHOD(ProxyTest, "a limited bandwidth takes its time", "[chaos]") {
  Toxics toxics;
  toxics.bytes_per_second = 1'000'000;
  proxy_->Set(Direction::kToClient, toxics);
  Peer client = Dial();
  Peer server = Accept();
  const std::string bytes = Numbered(300'000);
  const auto begun = Clock::now();
  std::thread sender([&] { server.Send(bytes); });
  CHECK(client.Receive(bytes.size()) == bytes);
  sender.join();
  CHECK(Clock::now() - begun >= milliseconds(270));
  CHECK(Clock::now() - begun < std::chrono::seconds(10));
}

TEST_CASE_METHOD(ProxyTest, "a sliced stream is written in small pieces", "[chaos]") {
  Toxics toxics;
  toxics.slice_bytes = 100;
  proxy_->SetBoth(toxics);
  Peer client = Dial();
  Peer server = Accept();
  const std::string bytes = Numbered(20'000);
  client.Send(bytes);
  CHECK(server.Receive(bytes.size()) == bytes);
  CHECK(proxy_->counters().pieces[0] >= 200);
}

TEST_CASE_METHOD(ProxyTest, "corrupted bytes are counted and few", "[chaos]") {
  Toxics toxics;
  toxics.corrupt_every = 1000;
  proxy_->Set(Direction::kToServer, toxics);
  Peer client = Dial();
  Peer server = Accept();
  const std::string bytes = Numbered(20'500);
  client.Send(bytes);
  const std::string received = server.Receive(bytes.size());
  REQUIRE(received.size() == bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    REQUIRE((received[i] != bytes[i]) == (i % 1000 == 999));
  }
  CHECK(proxy_->counters().corrupted[0] == 20);
}

TEST_CASE_METHOD(ProxyTest, "a connection ends after so many bytes, by FIN or by RST", "[chaos]") {
  Toxics toxics;
  toxics.cut_after = 1000;
  toxics.cut_by_reset = GENERATE(false, true);
  proxy_->Set(Direction::kToClient, toxics);
  Peer client = Dial();
  Peer server = Accept();
  server.Send(Numbered(5000));
  const std::string received = client.Receive(5000);
  const int error = errno;
  CHECK(received == Numbered(1000));
  CHECK(error == (toxics.cut_by_reset ? ECONNRESET : 0));
  CHECK(server.ReceiveEnd() == (toxics.cut_by_reset ? ECONNRESET : 0));
  CHECK(proxy_->counters().resets == (toxics.cut_by_reset ? 1 : 0));
}

TEST_CASE_METHOD(ProxyTest, "all connections can be reset, or cut, at once", "[chaos]") {
  std::vector<Peer> peers;
  for (size_t i = 0; i < 3; ++i) {
    peers.push_back(Dial());
    peers.push_back(Accept());
    peers[2 * i].Send("x");
    REQUIRE(peers[2 * i + 1].Receive(1) == "x");
  }
  const bool reset = GENERATE(false, true);
  reset ? proxy_->ResetAll() : proxy_->CutAll();
  for (Peer& peer : peers) CHECK(peer.ReceiveEnd() == (reset ? ECONNRESET : 0));
  // Later ones are none of it.
  Peer client = Dial();
  Peer server = Accept();
  client.Send("x");
  CHECK(server.Receive(1) == "x");
}

TEST_CASE_METHOD(ProxyTest, "one half can be closed while the other goes on", "[chaos]") {
  Peer client = Dial();
  Peer server = Accept();
  client.Send("request");
  REQUIRE(server.Receive(7) == "request");
  proxy_->HalfCloseAll(Direction::kToServer);
  CHECK(server.ReceiveEnd() == 0);
  CHECK(client.Send("lost"));
  server.Send("answer");
  CHECK(client.Receive(6) == "answer");
}

TEST_CASE_METHOD(ProxyTest, "a black hole swallows, and is no network again once lifted",
                 "[chaos]") {
  Peer client = Dial();
  Peer server = Accept();
  Toxics toxics;
  toxics.swallow = true;
  proxy_->SetBoth(toxics);
  CHECK(client.Send(Numbered(2'000'000)));
  Peer late = Dial();  // accepted all the same
  CHECK(late.Send("anybody there?"));
  Peer late_server = Accept();
  CHECK(server.HearsNothing(milliseconds(50)));
  CHECK(late_server.HearsNothing(milliseconds(0)));
  proxy_->Heal();
  CHECK(client.ReceiveEnd() == ECONNRESET);
  CHECK(server.ReceiveEnd() == ECONNRESET);
  Peer after = Dial();
  Peer after_server = Accept();
  after.Send("x");
  CHECK(after_server.Receive(1) == "x");
}

TEST_CASE_METHOD(ProxyTest, "a stalled network loses nothing and holds little", "[chaos]") {
  Peer client = Dial();
  Peer server = Accept();
  Toxics toxics;
  toxics.stall = true;
  proxy_->SetBoth(toxics);
  // Beyond the proxy's own buffer only the kernel's are filled.
  const size_t sent = client.SendWhatFits(milliseconds(100));
  CHECK(sent >= ChaosProxy::kBufferBytes);
  CHECK(sent < 32 << 20);
  CHECK(server.HearsNothing(milliseconds(0)));
  client.End();
  proxy_->Heal();
  CHECK(server.Receive(sent).size() == sent);
  CHECK(server.ReceiveEnd() == 0);
}

TEST_CASE_METHOD(ProxyTest, "while it does not accept, connections are made and not answered",
                 "[chaos]") {
  proxy_->SetAccepting(false);
  Peer client = Dial();
  CHECK(client.Send("x"));
  CHECK(client.HearsNothing(milliseconds(50)));
  CHECK(proxy_->counters().accepted == 0);
  proxy_->Heal();
  Peer server = Accept();
  CHECK(server.Receive(1) == "x");
}

TEST_CASE_METHOD(ProxyTest, "where no server is, the client is told by a reset", "[chaos]") {
  // A port that was free a moment ago.
  const int other = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  REQUIRE(bind(other, reinterpret_cast<sockaddr*>(&address), size) == 0);
  getsockname(other, reinterpret_cast<sockaddr*>(&address), &size);
  proxy_->SetServer({"127.0.0.1", ntohs(address.sin_port)});
  Peer client = Dial();
  CHECK(client.ReceiveEnd() == ECONNRESET);
  CHECK(proxy_->counters().unreachable == 1);
  CHECK(proxy_->counters().open == 0);
  close(other);
  // And finds the server when it is back.
  proxy_->SetServer({"127.0.0.1", port_});
  Peer again = Dial();
  Peer server = Accept();
  again.Send("x");
  CHECK(server.Receive(1) == "x");
}

TEST_CASE_METHOD(ProxyTest, "a reset of one side reaches the other", "[chaos]") {
  Peer client = Dial();
  Peer server = Accept();
  client.Send("unread when the server goes");
  REQUIRE(server.Receive(1) == "u");
  server.Close();
  CHECK(client.ReceiveEnd() == ECONNRESET);
}

TEST_CASE("a proxy leads to IPv4 addresses only", "[chaos]") {
  VICINITY_CHECK_CODE(ChaosProxy::Start({"localhost", 1}, 1), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity::testing
