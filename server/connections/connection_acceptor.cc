#include "server/connections/connection_acceptor.h"

#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/common/status.h"
#include "server/connections/peer_address.h"
#include "server/connections/socket_traffic.h"

namespace vicinity {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBacklog = 4096;  // the kernel cuts it to what it allows
constexpr int kMostAtOnce = 64;
// A peer that has vanished without a word (power, cable) is noticed by the kernel, which gRPC's own
// pings leave to it while there are no calls: a connection that is idle for so long is asked, and
// given up when for so long nothing is acknowledged, an answer or what was sent. That counts a
// living peer too that reads nothing once its buffers are full: its connection ends, with all
// calls.
constexpr int kIdleSeconds = 60;
constexpr int kVanishedSeconds = 20;
// When the process or the host is out of files: until some are closed.
constexpr int kOutOfFilesMs = 100;
// Between looks at connections, and how many of them each time: some system calls for each.
constexpr int kLookEveryMs = 20;
constexpr size_t kLooksAtOnce = 256;
// Between looks at suspects, and how many of them: in a millisecond gRPC reads hundreds of calls
// that are given up at once, at 20 KiB each.
constexpr int kSuspectEveryMs = 4;
constexpr size_t kSuspectsAtOnce = 64;
// What letting newcomers in may take of that time, so that calls have the rest: more than one core
// can do in it where others need the cores, or handshakes are dear.
constexpr std::chrono::milliseconds kMostForNewcomers(4);
// After a connection's end its memory is given back when gRPC has freed it, which takes time.
constexpr std::chrono::milliseconds kGiveBackAfter(1000);
constexpr int kGiveBackTimes = 3;

void SetPort(sockaddr_storage* address, int port) {
  const auto wire_port = htons(static_cast<uint16_t>(port));
  if (address->ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address)->sin6_port = wire_port;
  } else {
    reinterpret_cast<sockaddr_in*>(address)->sin_port = wire_port;
  }
}

int PortOf(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

// Connections inherit it all.
void SetOptions(int listener_fd) {
  const auto set = [listener_fd](int level, int option, int value) {
    setsockopt(listener_fd, level, option, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_REUSEADDR, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kVanishedSeconds);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kVanishedSeconds * 1000);
}

// A listening socket, or -1 with errno.
int ListenAt(const addrinfo& info, int port) {
  const int fd = socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  sockaddr_storage address{};
  std::memcpy(&address, info.ai_addr, info.ai_addrlen);
  SetPort(&address, port);
  SetOptions(fd);
  if (info.ai_family == AF_INET6) {
    // The unspecified address stands for IPv4's as well, as with gRPC's own listener.
    const auto* const ipv6 = reinterpret_cast<const sockaddr_in6*>(info.ai_addr);
    const int only = IN6_IS_ADDR_UNSPECIFIED(&ipv6->sin6_addr) ? 0 : 1;
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only));
  }
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), info.ai_addrlen) == 0 &&
      listen(fd, kBacklog) == 0) {
    return fd;
  }
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

void Reset(int fd) {
  const linger at_once{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(fd);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ConnectionAcceptor>> ConnectionAcceptor::Listen(
    const HostPort& address, const ConnectionLimits& limits, spdlog::logger* log) {
  const int wake_fd = eventfd(0, EFD_CLOEXEC);
  if (wake_fd < 0) return absl::UnavailableError(absl::StrCat("eventfd: ", std::strerror(errno)));
  auto acceptor = std::unique_ptr<ConnectionAcceptor>(new ConnectionAcceptor(limits, log, wake_fd));
  VICINITY_RETURN_IF_ERROR(acceptor->Bind(address));
  return acceptor;
}

ConnectionAcceptor::ConnectionAcceptor(const ConnectionLimits& limits, spdlog::logger* log,
                                       int wake_fd)
    : guard_(limits),
      log_(log),
      wake_fd_(wake_fd),
      newcomers_(static_cast<size_t>(limits.max_connections)) {}

absl::Status ConnectionAcceptor::Bind(const HostPort& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* first = nullptr;
  const int failed = getaddrinfo(address.host.c_str(), nullptr, &hints, &first);
  if (failed != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot listen on ", address.ToString(), ": ", gai_strerror(failed)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(first, &freeaddrinfo);
  port_ = address.port;
  int error = 0;
  for (const addrinfo* at = first; at != nullptr; at = at->ai_next) {
    const int fd = ListenAt(*at, port_);
    if (fd < 0) {
      error = errno;
      continue;
    }
    listeners_.push_back(fd);
    port_ = PortOf(fd);
  }
  if (!listeners_.empty()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address.ToString(), ": ", std::strerror(error)));
}

ConnectionAcceptor::~ConnectionAcceptor() {
  Stop();
  close(wake_fd_);
}

void ConnectionAcceptor::Start(Take take) {
  take_ = std::move(take);
  thread_ = std::thread([this] { Run(); });
}

void ConnectionAcceptor::Stop() {
  stopping_ = true;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t woken = write(wake_fd_, &one, sizeof(one));
  if (thread_.joinable()) thread_.join();
  for (const int fd : listeners_) close(fd);
  listeners_.clear();
}

void ConnectionAcceptor::Run() {
  std::vector<pollfd> polled;
  for (const int fd : listeners_) polled.push_back({fd, POLLIN, 0});
  polled.push_back({wake_fd_, POLLIN, 0});
  while (!stopping_) {
    const bool is_idle =
        open_.empty() && newcomers_.empty() && gives_back_at_ == ConnectionGuard::Time();
    const int look_ms = suspects_.empty() ? kLookEveryMs : kSuspectEveryMs;
    const int ready = poll(polled.data(), polled.size(), is_idle ? -1 : look_ms);
    for (size_t i = 0; ready > 0 && i < listeners_.size(); ++i) {
      if (polled[i].revents != 0) AcceptFrom(listeners_[i]);
    }
    if (BeginRound(Clock::now())) LookAtConnections();
    LookAtSuspects();
    LetInSome();
    GiveMemoryBack(Clock::now());
  }
  while (const auto newcomer = newcomers_.Next()) Refuse(newcomer->fd);
}

bool ConnectionAcceptor::BeginRound(ConnectionGuard::Time now) {
  if (now - round_began_ < std::chrono::milliseconds(kLookEveryMs)) return false;
  round_began_ = now;
  let_in_ = 0;
  letting_in_ = {};
  return true;
}

bool ConnectionAcceptor::MayLetIn() const {
  return let_in_ < guard_.limits().new_at_once && letting_in_ < kMostForNewcomers;
}

void ConnectionAcceptor::AcceptFrom(int listener_fd) {
  for (int i = 0; i < kMostAtOnce && !stopping_; ++i) {
    sockaddr_storage address{};
    socklen_t length = sizeof(address);
    const int fd = accept4(listener_fd, reinterpret_cast<sockaddr*>(&address), &length,
                           SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      Queue(listener_fd, fd, address);
      continue;
    }
    if (errno == ECONNABORTED || errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    pollfd wake{wake_fd_, POLLIN, 0};
    poll(&wake, 1, kOutOfFilesMs);
    return;
  }
}

void ConnectionAcceptor::Queue(int listener_fd, int fd, const sockaddr_storage& address) {
  const std::optional<ConnectionGuard::Id> id = SocketId(fd);
  std::optional<PeerAddress> peer = PeerOfSocket(address);
  if (!id.has_value() || !peer.has_value()) return Refuse(fd);
  const auto too_many = newcomers_.Add({listener_fd, fd, *id, *std::move(peer)});
  if (too_many.has_value()) Refuse(too_many->fd);
}

void ConnectionAcceptor::Refuse(int fd) {
  refused_.fetch_add(1, std::memory_order_relaxed);
  Reset(fd);
}

void ConnectionAcceptor::LetInSome() {
  while (!newcomers_.empty() && MayLetIn()) {
    const ConnectionGuard::Time began = Clock::now();
    const Newcomer newcomer = *newcomers_.Next();
    if (LetIn(newcomer)) {
      take_(newcomer.listener_fd, newcomer.fd);
    } else {
      Refuse(newcomer.fd);
    }
    letting_in_ += Clock::now() - began;
  }
}

bool ConnectionAcceptor::LetIn(const Newcomer& newcomer) {
  std::optional<ConnectionGuard::Id> gives_way;
  ConnectionGuard::Entry entry = guard_.Admit(newcomer.id, newcomer.peer, Clock::now(), &gives_way);
  if (entry == ConnectionGuard::Entry::kFull) {
    // Of connections that are over, it may be, which nobody has looked at yet.
    ForgetClosed();
    entry = guard_.Admit(newcomer.id, newcomer.peer, Clock::now(), &gives_way);
  }
  if (gives_way.has_value()) EndOther(*gives_way);
  if (entry != ConnectionGuard::Entry::kLetIn) return false;
  open_[newcomer.id] = newcomer.fd;
  suspects_.insert(newcomer.id);
  ++let_in_;
  return true;
}

// No connection is accepted meanwhile, so that a number that is still the socket's stays it, but
// for an instant: gRPC may close it, and the process open another file, between the two calls. What
// EndConnection would do to that is nothing, unless it is a connection that this process has made.
bool ConnectionAcceptor::Look(ConnectionGuard::Id id, int fd, ConnectionGuard::Time now) {
  if (SocketId(fd) != id) {
    const std::string reason = guard_.Closed(id, now);
    if (!reason.empty()) log_->warn("{}", reason);
    GiveMemoryBackSoon(now);
    return true;
  }
  const ConnectionGuard::Judgement judgement = guard_.Look(
      id, [fd] { return TrafficOf(fd); }, now);
  if (judgement.verdict == ConnectionGuard::Verdict::kMayStay) {
    if (judgement.owes) suspects_.insert(id);
    return false;
  }
  EndConnection(fd);
  for (const ConnectionGuard::Id other : judgement.with_it) EndOther(other);
  if (!judgement.reason.empty()) log_->warn("{}", judgement.reason);
  GiveMemoryBackSoon(now);
  return true;
}

// One that the guard knows no more. It stays in the list until its turn to be looked at.
void ConnectionAcceptor::EndOther(ConnectionGuard::Id id) {
  const auto found = open_.find(id);
  if (found != open_.end() && SocketId(found->second) == id) EndConnection(found->second);
}

// In turn: as many as there are, or a part of them.
void ConnectionAcceptor::LookAtConnections() {
  const ConnectionGuard::Time now = Clock::now();
  const size_t looks = std::min(open_.size(), kLooksAtOnce);
  for (size_t i = 0; i < looks && !open_.empty(); ++i) {
    auto next = open_.upper_bound(last_looked_at_);
    if (next == open_.end()) next = open_.begin();
    last_looked_at_ = next->first;
    suspects_.erase(next->first);
    if (Look(next->first, next->second, now)) open_.erase(next);
  }
}

// The newest, if there are too many.
void ConnectionAcceptor::LookAtSuspects() {
  const ConnectionGuard::Time now = Clock::now();
  if (now - suspects_looked_at_ < std::chrono::milliseconds(kSuspectEveryMs)) return;
  suspects_looked_at_ = now;
  const size_t looks = std::min(suspects_.size(), kSuspectsAtOnce);
  const std::vector<ConnectionGuard::Id> newest(
      suspects_.rbegin(), std::next(suspects_.rbegin(), static_cast<int64_t>(looks)));
  for (const ConnectionGuard::Id id : newest) {
    const auto found = open_.find(id);
    if (found == open_.end() || Look(id, found->second, now)) {
      suspects_.erase(id);
      if (found != open_.end()) open_.erase(found);
    }
  }
}

void ConnectionAcceptor::ForgetClosed() {
  const ConnectionGuard::Time now = Clock::now();
  for (auto it = open_.begin(); it != open_.end();) {
    const bool is_closed = SocketId(it->second) != it->first;
    if (is_closed) guard_.Closed(it->first, now);
    it = is_closed ? open_.erase(it) : std::next(it);
  }
}

void ConnectionAcceptor::GiveMemoryBackSoon(ConnectionGuard::Time now) {
  if (gives_back_at_ == ConnectionGuard::Time()) gives_back_at_ = now + kGiveBackAfter;
  gives_back_again_ = kGiveBackTimes;
}

void ConnectionAcceptor::GiveMemoryBack(ConnectionGuard::Time now) {
  if (gives_back_at_ == ConnectionGuard::Time() || now < gives_back_at_) return;
  malloc_trim(0);
  gives_back_at_ = --gives_back_again_ > 0 ? now + 2 * kGiveBackAfter : ConnectionGuard::Time();
}

}  // namespace vicinity
