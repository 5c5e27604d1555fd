#include "server/http/http_server.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"
#include "proto/security/tls_sessions.h"
#include "server/http/http_listener.h"
#include "server/http/tls_caller.h"

namespace vicinity {
namespace {

using Clock = HttpConnection::Clock;
using Phase = HttpConnection::Phase;

constexpr int kMostAcceptedAtOnce = 16;

// What `make` makes, kept for a while: however many ask for it, it is made seldom.
std::function<std::string()> Kept(std::function<std::string()> make,
                                  std::chrono::milliseconds least_age) {
  struct Made {
    std::string text;
    Clock::time_point until;
  };
  return [make = std::move(make), least_age, made = std::make_shared<Made>()] {
    if (Clock::now() >= made->until) {
      made->text = make();
      made->until = Clock::now() + least_age;
    }
    return made->text;
  };
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const ServerTrust* trust, PageSources sources, const HttpLimits& limits)
      : trust_(trust), limits_(limits), pages_(Complete(std::move(sources))) {}

  ~Impl() {
    stopping_ = true;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t woken = write(wake_fd_, &one, sizeof(one));
    if (thread_.joinable()) thread_.join();
    connections_.clear();
    if (wake_fd_ >= 0) close(wake_fd_);
  }

  absl::Status Listen(const HostPort& listen) {
    VICINITY_ASSIGN_OR_RETURN(listener_, HttpListener::Listen(listen));
    if (trust_->encrypted()) {
      TlsSessions::Options tls;
      tls.material = [this] { return trust_->Material(); };
      tls.wants_certificates = trust_->certifies();
      tls_ = std::make_unique<TlsSessions>(std::move(tls));
    }
    wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd_ < 0) return absl::UnavailableError(absl::StrCat("eventfd: ", strerror(errno)));
    VICINITY_ASSIGN_OR_RETURN(thread_, StartThread([this] { Run(); }));
    return absl::OkStatus();
  }

  const HostPort& address() const { return listener_->address(); }

  void AddMetrics(MetricRegistry::Group* group) const {
    pages_.AddMetrics(group);
    group->Add(
        {"vicinity_server_http_connections", "Connections at the HTTP port", MetricKind::kGauge},
        {}, [this] { return static_cast<double>(num_connections_.load()); });
    group->Add({"vicinity_server_http_displaced_total",
                "Connections at the HTTP port that gave way to new ones"},
               {}, &displaced_);
  }

 private:
  PageSources Complete(PageSources sources) {
    sources.check_reader = [this](const Caller& caller) { return trust_->CheckReader(caller); };
    sources.metrics = Kept(std::move(sources.metrics), limits_.least_age);
    sources.status = Kept(std::move(sources.status), limits_.least_age);
    return sources;
  }

  void Run() {
    // OpenSSL writes to sockets whose other end may be gone.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    while (!stopping_) {
      Wait();
      const Clock::time_point now = Clock::now();
      for (const std::unique_ptr<HttpConnection>& connection : connections_) {
        if (IsReady(*connection, now)) connection->GoOn(now);
        // Of several requests that have come at once each waits for its turn.
        if (connection->phase() == Phase::kAsking) Answer(connection.get(), now);
      }
      connections_.remove_if([](const std::unique_ptr<HttpConnection>& connection) {
        return connection->phase() == Phase::kOver;
      });
      for (const int fd : listener_->fds()) AcceptSome(fd, now);
      num_connections_ = static_cast<int64_t>(connections_.size());
    }
  }

  // Until something can go on, or somebody's time is over.
  void Wait() {
    polled_.assign(1, {wake_fd_, POLLIN, 0});
    for (const int fd : listener_->fds()) polled_.push_back({fd, POLLIN, 0});
    first_polled_ = polled_.size();
    Clock::time_point first = Clock::time_point::max();
    for (const std::unique_ptr<HttpConnection>& connection : connections_) {
      polled_.push_back({connection->fd(), connection->events(), 0});
      const bool waits = connection->phase() != Phase::kAsking;
      first = std::min(first, waits ? connection->deadline() : Clock::time_point::min());
    }
    int timeout_ms = -1;
    if (first == Clock::time_point::min()) {
      timeout_ms = 0;
    } else if (first != Clock::time_point::max()) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(first - Clock::now()).count();
      timeout_ms = static_cast<int>(std::clamp<int64_t>(left + 1, 0, 60'000));
    }
    poll(polled_.data(), polled_.size(), timeout_ms);
    next_polled_ = first_polled_;
  }

  // Connections are asked in the order in which they were polled; new ones come after them.
  bool IsReady(const HttpConnection& connection, Clock::time_point now) {
    const bool has_events = next_polled_ < polled_.size() && polled_[next_polled_].revents != 0;
    ++next_polled_;
    return has_events || (connection.phase() != Phase::kAsking && now >= connection.deadline());
  }

  void Answer(HttpConnection* connection, Clock::time_point now) {
    const std::string head = connection->TakeHead();
    size_t unsent = 0;
    for (const std::unique_ptr<HttpConnection>& other : connections_) {
      unsent += other->unsent_bytes();
    }
    if (unsent > limits_.max_unsent_bytes) {
      return connection->Reply(HttpPages::PlainReply(503, "Service Unavailable"), false, now);
    }
    Caller shown;
    if (const SSL* const session = connection->session(); session != nullptr) {
      shown = CallerOf(*session);
      if (trust_->IsRevoked(TlsSessions::CertificateOf(*session))) {
        return connection->Reply(HttpPages::PlainReply(403, "the certificate is revoked"), false,
                                 now);
      }
    }
    HttpPages::Reply reply = pages_.Answer(head, shown);
    connection->Reply(std::move(reply.bytes), reply.keep, now);
  }

  void AcceptSome(int listener_fd, Clock::time_point now) {
    for (int i = 0; i < kMostAcceptedAtOnce; ++i) {
      const int fd = HttpListener::Accept(listener_fd);
      if (fd < 0) return RestIfOutOfFiles();
      if (connections_.size() >= limits_.max_connections && !Displace()) {
        close(fd);
        continue;
      }
      TlsSessions::Session session = tls_ != nullptr ? tls_->New() : nullptr;
      if (tls_ != nullptr && (session == nullptr || SSL_set_fd(session.get(), fd) != 1)) {
        close(fd);
        continue;
      }
      connections_.push_back(
          std::make_unique<HttpConnection>(fd, std::move(session), limits_.times, now));
    }
  }

  // The listener stays ready meanwhile, and would keep a core busy.
  static void RestIfOutOfFiles() {
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  // The oldest of those that are idle goes, else of those that are not being answered.
  bool Displace() {
    auto goes = std::find_if(connections_.begin(), connections_.end(),
                             [](const auto& connection) { return connection->is_idle(); });
    if (goes == connections_.end()) {
      goes = std::find_if(connections_.begin(), connections_.end(), [](const auto& connection) {
        return connection->phase() != Phase::kSending;
      });
    }
    if (goes == connections_.end()) return false;
    connections_.erase(goes);
    displaced_.Add();
    return true;
  }

  const ServerTrust* const trust_;
  const HttpLimits limits_;
  std::unique_ptr<HttpListener> listener_;
  std::unique_ptr<TlsSessions> tls_;  // null: plaintext
  int wake_fd_ = -1;
  std::atomic<bool> stopping_{false};
  std::atomic<int64_t> num_connections_{0};
  Counter displaced_;
  // The thread's alone.
  HttpPages pages_;
  std::list<std::unique_ptr<HttpConnection>> connections_;  // the oldest first
  std::vector<pollfd> polled_;                              // the eventfd, listeners, connections
  size_t first_polled_ = 0;                                 // of connections
  size_t next_polled_ = 0;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HostPort& listen,
                                                              const ServerTrust* trust,
                                                              PageSources sources,
                                                              const HttpLimits& limits) {
  sources.loopback_alone = listen.loopback();
  auto impl = std::make_unique<Impl>(trust, std::move(sources), limits);
  VICINITY_RETURN_IF_ERROR(impl->Listen(listen));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

const HostPort& HttpServer::address() const { return impl_->address(); }
void HttpServer::AddMetrics(MetricRegistry::Group* group) const { impl_->AddMetrics(group); }

}  // namespace vicinity
