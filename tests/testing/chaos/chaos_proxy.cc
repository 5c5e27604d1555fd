#include "tests/testing/chaos/chaos_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace vicinity::testing {
namespace {

constexpr int kReadBytes = 64 << 10;
// Nothing depends on it: every change wakes the thread.
constexpr std::chrono::nanoseconds kLongestWait = std::chrono::seconds(1);
constexpr int kMovesInRow = 16;  // reads or writes on one socket before others have their turn

SteadyTime Now() { return std::chrono::steady_clock::now(); }

std::optional<sockaddr_in> AddressOf(const HostPort& server) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(server.port));
  if (inet_pton(AF_INET, server.host.c_str(), &address.sin_addr) != 1) return std::nullopt;
  return address;
}

void NoDelay(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void CloseByReset(int socket) {
  const linger none{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
  close(socket);
}

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

timespec ToTimespec(std::chrono::nanoseconds wait) {
  const std::chrono::nanoseconds positive = std::max(wait, std::chrono::nanoseconds(0));
  return {static_cast<time_t>(positive.count() / 1'000'000'000),
          static_cast<long>(positive.count() % 1'000'000'000)};  // NOLINT: timespec's own type
}

}  // namespace

// Flow d leads from sockets[d] to sockets[1 - d].
struct ChaosProxy::Connection {
  Connection(int client, int server, uint64_t seed)
      : sockets{client, server},
        flows{ChaosFlow(kBufferBytes, 2 * seed), ChaosFlow(kBufferBytes, 2 * seed + 1)} {}

  // Each does what can be done without waiting; false when the connection has broken.
  bool FinishConnecting();
  bool Read(int d, SteadyTime now);
  bool Write(int d, SteadyTime now);

  // FIN to both sides now; what they still say is read, so that no reset follows, and lost.
  void Cut();

  // What the thread has to wait for on sockets[d].
  short Events(int d, SteadyTime now) const;  // NOLINT: poll's own type

  bool over() const {
    return at_end[0] && at_end[1] && (shut[0] || flows[0].holed()) && (shut[1] || flows[1].holed());
  }

  const std::array<int, 2> sockets;
  std::array<ChaosFlow, 2> flows;
  std::array<bool, 2> at_end{};  // sockets[d] has nothing more to say
  std::array<bool, 2> shut{};    // the end of flow d was passed on
  std::array<int64_t, 2> pieces{};
  bool connecting = false;
  bool to_reset = false;  // by the thread, which alone closes sockets
  bool to_cut = false;
};

bool ChaosProxy::Connection::FinishConnecting() {
  if (!connecting) return true;
  pollfd writable{sockets[1], POLLOUT, 0};
  if (poll(&writable, 1, 0) <= 0) return true;
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(sockets[1], SOL_SOCKET, SO_ERROR, &error, &size);
  connecting = error != 0;
  return error == 0;
}

bool ChaosProxy::Connection::Read(int d, SteadyTime now) {
  char buffer[kReadBytes];
  for (int i = 0; i < kMovesInRow && !at_end[d] && flows[d].Room() > 0; ++i) {
    const size_t wanted = std::min(sizeof(buffer), flows[d].Room());
    const ssize_t got = recv(sockets[d], buffer, wanted, MSG_DONTWAIT);
    if (got < 0) return WouldBlock();
    if (got == 0) {
      at_end[d] = true;
      flows[d].PushEnd();
    } else {
      flows[d].Push({buffer, static_cast<size_t>(got)}, now);
    }
  }
  return true;
}

bool ChaosProxy::Connection::Write(int d, SteadyTime now) {
  for (int i = 0; i < kMovesInRow; ++i) {
    const std::string_view ready = flows[d].Ready(now);
    if (ready.empty()) break;
    const ssize_t sent =
        send(sockets[1 - d], ready.data(), ready.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return WouldBlock();
    flows[d].Pop(static_cast<size_t>(sent), now);
    ++pieces[d];
  }
  if (flows[d].drained() && !shut[d]) {
    shutdown(sockets[1 - d], SHUT_WR);
    shut[d] = true;
  }
  return true;
}

void ChaosProxy::Connection::Cut() {
  for (int d = 0; d < 2; ++d) {
    flows[d].Drop();
    if (!shut[d]) shutdown(sockets[1 - d], SHUT_WR);
    shut[d] = true;
  }
}

short ChaosProxy::Connection::Events(int d, SteadyTime now) const {  // NOLINT: poll's own type
  if (connecting && d == 1) return POLLOUT;
  int events = 0;
  if (!at_end[d] && flows[d].Room() > 0) events |= POLLIN;
  if (!connecting && !flows[1 - d].Ready(now).empty()) events |= POLLOUT;
  return static_cast<short>(events);  // NOLINT: likewise
}

absl::StatusOr<std::unique_ptr<ChaosProxy>> ChaosProxy::Start(const HostPort& server,
                                                              uint64_t seed) {
  if (!AddressOf(server).has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(server.ToString(), " is no IPv4 address"));
  }
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  sockaddr_in address = *AddressOf({"127.0.0.1", 0});
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (listener < 0 || wake < 0 || bind(listener, generic, size) != 0 ||
      listen(listener, SOMAXCONN) != 0 || getsockname(listener, generic, &size) != 0) {
    const absl::Status why = absl::UnavailableError(std::strerror(errno));
    close(listener);
    close(wake);
    return why;
  }
  return std::unique_ptr<ChaosProxy>(
      new ChaosProxy(server, seed, listener, wake, ntohs(address.sin_port)));
}

ChaosProxy::ChaosProxy(HostPort server, uint64_t seed, int listener, int wake, int port)
    : seed_(seed),
      listener_(listener),
      wake_(wake),
      address_{"127.0.0.1", port},
      server_(std::move(server)),
      thread_([this] { Run(); }) {}

ChaosProxy::~ChaosProxy() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
  }
  Wake();
  thread_.join();
  close(listener_);
  close(wake_);
  MutexLock lock(&mu_);
  for (const std::unique_ptr<Connection>& connection : connections_) {
    for (const int socket : connection->sockets) CloseByReset(socket);
  }
}

void ChaosProxy::Wake() const {
  const uint64_t one = 1;
  static_cast<void>(!write(wake_, &one, sizeof(one)));  // full: it is awake already
}

void ChaosProxy::SetServer(const HostPort& server) {
  MutexLock lock(&mu_);
  server_ = server;
}

void ChaosProxy::Set(Direction direction, const Toxics& toxics) {
  const auto d = static_cast<int>(direction);
  {
    MutexLock lock(&mu_);
    toxics_[d] = toxics;
    for (const std::unique_ptr<Connection>& connection : connections_) {
      connection->flows[d].Set(toxics, Now());
      if (!toxics.swallow && connection->flows[d].holed()) connection->to_reset = true;
    }
  }
  Wake();
}

void ChaosProxy::SetBoth(const Toxics& toxics) {
  Set(Direction::kToServer, toxics);
  Set(Direction::kToClient, toxics);
}

void ChaosProxy::Heal() {
  SetBoth({});
  SetAccepting(true);
}

void ChaosProxy::SetAccepting(bool on) {
  {
    MutexLock lock(&mu_);
    accepting_ = on;
  }
  Wake();
}

void ChaosProxy::ResetAll() {
  {
    MutexLock lock(&mu_);
    for (const std::unique_ptr<Connection>& connection : connections_) connection->to_reset = true;
  }
  Wake();
}

void ChaosProxy::CutAll() {
  {
    MutexLock lock(&mu_);
    for (const std::unique_ptr<Connection>& connection : connections_) connection->to_cut = true;
  }
  Wake();
}

void ChaosProxy::HalfCloseAll(Direction direction) {
  {
    MutexLock lock(&mu_);
    for (const std::unique_ptr<Connection>& connection : connections_) {
      connection->flows[static_cast<int>(direction)].PushEnd();
    }
  }
  Wake();
}

ChaosCounters ChaosProxy::counters() const {
  MutexLock lock(&mu_);
  ChaosCounters sum = counters_;
  sum.open = static_cast<int64_t>(connections_.size());
  for (const std::unique_ptr<Connection>& connection : connections_) {
    for (int d = 0; d < 2; ++d) {
      sum.bytes[d] += connection->flows[d].passed();
      sum.corrupted[d] += connection->flows[d].corrupted();
      sum.pieces[d] += connection->pieces[d];
    }
  }
  return sum;
}

void ChaosProxy::Count(const Connection& connection) {
  for (int d = 0; d < 2; ++d) {
    counters_.bytes[d] += connection.flows[d].passed();
    counters_.corrupted[d] += connection.flows[d].corrupted();
    counters_.pieces[d] += connection.pieces[d];
  }
}

void ChaosProxy::Run() {
  std::vector<pollfd> waiting;
  for (;;) {
    std::chrono::nanoseconds wait = kLongestWait;
    waiting.assign(1, {wake_, POLLIN, 0});
    {
      MutexLock lock(&mu_);
      if (stopping_) return;
      const SteadyTime now = Now();
      if (accepting_ && connections_.size() < kMaxConnections) {
        waiting.push_back({listener_, POLLIN, 0});
      }
      for (const std::unique_ptr<Connection>& connection : connections_) {
        for (int d = 0; d < 2; ++d) {
          // Without an event to wait for, poll would report a hang-up again and again.
          const auto events = connection->Events(d, now);
          if (events != 0) waiting.push_back({connection->sockets[d], events, 0});
          const std::optional<SteadyTime> next = connection->flows[d].NextReady(now);
          if (next.has_value()) wait = std::min(wait, *next - now);
        }
      }
    }
    const timespec limit = ToTimespec(wait);
    ppoll(waiting.data(), waiting.size(), &limit, nullptr);
    uint64_t wakes;
    static_cast<void>(!read(wake_, &wakes, sizeof(wakes)));
    MutexLock lock(&mu_);
    AcceptSome();
    MoveAll(Now());
  }
}

void ChaosProxy::AcceptSome() {
  while (accepting_ && connections_.size() < kMaxConnections) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) return;
    ++counters_.accepted;
    Connect(client);
  }
}

void ChaosProxy::Connect(int client) {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const sockaddr_in address = AddressOf(server_).value_or(sockaddr_in{});
  const int connected =
      connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  if (connected != 0 && errno != EINPROGRESS) {
    ++counters_.unreachable;
    CloseByReset(client);
    close(server);
    return;
  }
  NoDelay(client);
  NoDelay(server);
  connections_.push_back(std::make_unique<Connection>(
      client, server, seed_ + static_cast<uint64_t>(counters_.accepted)));
  Connection* const connection = connections_.back().get();
  connection->connecting = connected != 0;
  for (int d = 0; d < 2; ++d) connection->flows[d].Set(toxics_[d], Now());
}

void ChaosProxy::MoveAll(SteadyTime now) {
  for (auto it = connections_.begin(); it != connections_.end();) {
    if (Move(it->get(), now)) {
      ++it;
    } else {
      Count(**it);
      it = connections_.erase(it);
    }
  }
}

bool ChaosProxy::Move(Connection* connection, SteadyTime now) {
  if (!connection->FinishConnecting()) {
    ++counters_.unreachable;
    for (const int socket : connection->sockets) CloseByReset(socket);
    return false;
  }
  bool broken = !connection->Read(0, now);
  if (!connection->connecting) {
    broken = broken || !connection->Read(1, now) || !connection->Write(0, now) ||
             !connection->Write(1, now);
  }
  for (const ChaosFlow& flow : connection->flows) {
    if (!flow.cut()) continue;
    (flow.toxics().cut_by_reset ? connection->to_reset : connection->to_cut) = true;
  }
  if (connection->to_cut) connection->Cut();
  if (broken || connection->to_reset) {
    counters_.resets += connection->to_reset;
    for (const int socket : connection->sockets) CloseByReset(socket);
    return false;
  }
  if (!connection->over()) return true;
  for (const int socket : connection->sockets) close(socket);
  return false;
}

}  // namespace vicinity::testing
