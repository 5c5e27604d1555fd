#include "server/bulk/bulk_port.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <cerrno>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/bulk/byte_stream.h"
#include "proto/bulk/tls_stream.h"
#include "proto/common/machine.h"
#include "proto/common/mutex.h"
#include "proto/common/status.h"
#include "server/bulk/bulk_connection.h"
#include "server/bulk/unix_listener.h"
#include "server/connections/connection_acceptor.h"
#include "server/connections/listen_address.h"
#include "server/connections/peer_address.h"

namespace vicinity {
namespace {

using Socket = BulkTickets::Socket;

constexpr int kMostThreads = 4;
constexpr int kUnixBufferBytes = 2 << 20;  // the kernel cuts it to what it allows
constexpr int kCoresForOne = 8;
// How often it is looked whether all calls are over.
constexpr std::chrono::milliseconds kLookEvery(5);
// Before another try where a connection could not be taken.
constexpr std::chrono::milliseconds kPause(100);

// A thread and what it waits for.
struct Loop {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::thread thread;
};

std::string PeerOf(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return "";
  const std::optional<PeerAddress> peer = PeerOfSocket(address);
  if (!peer.has_value()) return "";
  return absl::StrCat(peer->text.front() == '[' ? "ipv6:" : "ipv4:", peer->text);
}

}  // namespace

int BulkPort::num_threads() { return std::clamp(NumCores() / kCoresForOne, 1, kMostThreads); }

class BulkPort::Impl {
 public:
  Impl(const BulkOptions& options, const ConnectionLimits& limits, const ServiceContext* service,
       std::unique_ptr<TlsSessions> tls)
      : limits_(limits), service_(service), tls_(std::move(tls)) {
    terms_.service = service;
    terms_.max_calls = options.max_calls;
  }

  ~Impl() { Stop(std::chrono::system_clock::now()); }

  absl::Status Listen(const BulkOptions& options) {
    BulkTickets::Places places;
    if (options.local) {
      VICINITY_ASSIGN_OR_RETURN(unix_, UnixListener::Listen());
      places.unix_name = unix_->name();
    }
    if (options.tcp.has_value()) {
      VICINITY_RETURN_IF_ERROR(CheckListenAddress(*options.tcp));
      VICINITY_ASSIGN_OR_RETURN(tcp_,
                                ConnectionAcceptor::Listen(*options.tcp, limits_, service_->log));
      places.port = tcp_->port();
    }
    tickets_ = std::make_unique<BulkTickets>(std::move(places));
    terms_.tickets = tickets_.get();
    return absl::OkStatus();
  }

  void Start() {
    for (int i = 0; i < num_threads(); ++i) {
      loops_.push_back(std::make_unique<Loop>());
      Loop* const loop = loops_.back().get();
      loop->thread = std::thread([loop] { loop->context.run(); });
    }
    if (tcp_ != nullptr) {
      tcp_->Start([this](int, int fd) { Take(fd, Socket::kTcp, tcp_->guard()->Find(PeerOf(fd))); });
    }
    if (unix_ != nullptr) {
      asio::io_context& loop = loops_.front()->context;
      accepts_ = std::make_unique<asio::posix::stream_descriptor>(loop, unix_->fd());
      pause_ = std::make_unique<asio::steady_timer>(loop);
      AwaitConnection();
    }
  }

  void StopListening() {
    if (loops_.empty() || stopped_listening_.exchange(true)) return;
    if (tcp_ != nullptr) tcp_->Stop();
    if (accepts_ != nullptr) {
      asio::post(loops_.front()->context, [this] {
        pause_->cancel();
        accepts_->release();  // which ends what waits for it
        unix_.reset();        // who connects from now on is refused
      });
    }
    ForEach([](BulkConnection* connection) { connection->Drain(); });
  }

  void Stop(std::chrono::system_clock::time_point deadline) {
    StopListening();
    while (num_connections() > 0 && std::chrono::system_clock::now() < deadline) {
      std::this_thread::sleep_for(kLookEvery);
    }
    ForEach([](BulkConnection* connection) {
      connection->End(absl::UnavailableError("the server has stopped"));
    });
    // Their calls may still be in workers' hands, which learn that nobody waits for them.
    while (num_alive_ > 0) std::this_thread::sleep_for(kLookEvery);
    for (const auto& loop : loops_) {
      loop->work.reset();
      loop->context.stop();
      loop->thread.join();
    }
    if (accepts_ != nullptr && accepts_->is_open()) accepts_->release();
    accepts_.reset();
    pause_.reset();
    loops_.clear();
  }

  BulkTickets* tickets() const { return tickets_.get(); }
  int64_t num_connections() const { return num_tcp_ + num_unix_; }
  int64_t num_connections(Socket socket) const {
    return socket == Socket::kTcp ? num_tcp_ : num_unix_;
  }

 private:
  void AwaitConnection() {
    if (unix_ == nullptr) return;
    accepts_->async_wait(asio::posix::stream_descriptor::wait_read,
                         [this](const asio::error_code& error) {
                           if (error || unix_ == nullptr) return;
                           if (AcceptSome()) return AwaitConnection();
                           pause_->expires_after(kPause);
                           pause_->async_wait([this](const asio::error_code& ended) {
                             if (!ended) AwaitConnection();
                           });
                         });
  }

  // False: the system gives none now, as when files have run out.
  bool AcceptSome() {
    constexpr int kAtOnce = 16;
    for (int i = 0; i < kAtOnce; ++i) {
      const int fd = unix_->Accept();
      if (fd < 0) return errno == EAGAIN || errno == ECONNABORTED || errno == EINTR;
      if (num_unix_ >= limits_.max_of_machine) {
        close(fd);
      } else {
        // What is on its way lies there; a chunk alone would have both ends wait for each other.
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kUnixBufferBytes, sizeof(kUnixBufferBytes));
        // The guard knows addresses of the Internet alone.
        Take(fd, Socket::kUnix, std::make_shared<ConnectionAccount>());
      }
    }
    return true;
  }

  // Null: there is no memory, or no certificate.
  std::unique_ptr<bulk::ByteStream> StreamOf(int fd, Socket socket) {
    if (socket == Socket::kUnix || tls_ == nullptr) return std::make_unique<bulk::SocketStream>(fd);
    TlsSessions::Session session = tls_->New();
    if (session == nullptr) return nullptr;
    return std::make_unique<bulk::TlsStream>(fd, std::move(session));
  }

  void Take(int fd, Socket socket, std::shared_ptr<ConnectionAccount> account) {
    std::unique_ptr<bulk::ByteStream> stream = StreamOf(fd, socket);
    if (stream == nullptr) {
      close(fd);
      return;
    }
    Loop* const loop = loops_[next_loop_.fetch_add(1) % loops_.size()].get();
    Count(socket) += 1;
    num_alive_ += 1;
    asio::post(loop->context, [this, loop, fd, stream = std::move(stream), socket,
                               account = std::move(account)]() mutable {
      std::shared_ptr<BulkConnection> connection(
          new BulkConnection(&loop->context, fd, std::move(stream), socket, account, terms_,
                             [this, socket](BulkConnection* ended) { Remove(ended, socket); }),
          [this](BulkConnection* gone) {
            delete gone;
            num_alive_ -= 1;
          });
      {
        MutexLock lock(&mu_);
        connections_.emplace(connection.get(), Entry{connection, loop});
      }
      connection->Start();
      if (stopped_listening_) connection->Drain();
    });
  }

  // It lives on until its calls are over, too.
  void Remove(BulkConnection* ended, Socket socket) {
    {
      MutexLock lock(&mu_);
      connections_.erase(ended);
    }
    Count(socket) -= 1;
  }

  void ForEach(void (*what)(BulkConnection*)) {
    MutexLock lock(&mu_);
    for (const auto& each : connections_) {
      asio::post(each.second.loop->context,
                 [connection = each.second.connection, what] { what(connection.get()); });
    }
  }

  std::atomic<int64_t>& Count(Socket socket) {
    return socket == Socket::kTcp ? num_tcp_ : num_unix_;
  }

  struct Entry {
    std::shared_ptr<BulkConnection> connection;
    Loop* loop;
  };

  const ConnectionLimits limits_;
  const ServiceContext* const service_;
  const std::unique_ptr<TlsSessions> tls_;  // null: plaintext
  BulkTerms terms_;
  std::unique_ptr<BulkTickets> tickets_;
  std::unique_ptr<UnixListener> unix_;
  std::unique_ptr<ConnectionAcceptor> tcp_;
  std::atomic<bool> stopped_listening_{false};
  std::atomic<size_t> next_loop_{0};
  std::atomic<int64_t> num_tcp_{0};
  std::atomic<int64_t> num_unix_{0};
  std::atomic<int64_t> num_alive_{0};  // with those that have ended and have calls
  std::vector<std::unique_ptr<Loop>> loops_;
  std::unique_ptr<asio::posix::stream_descriptor> accepts_;  // of the first loop; of unix_'s socket
  std::unique_ptr<asio::steady_timer> pause_;                // likewise
  Mutex mu_;
  std::unordered_map<BulkConnection*, Entry> connections_ ABSL_GUARDED_BY(mu_);
};

absl::StatusOr<std::unique_ptr<BulkPort>> BulkPort::Listen(const BulkOptions& options,
                                                           const ConnectionLimits& limits,
                                                           const ServiceContext* service,
                                                           std::unique_ptr<TlsSessions> tls) {
  auto impl = std::make_unique<Impl>(options, limits, service, std::move(tls));
  VICINITY_RETURN_IF_ERROR(impl->Listen(options));
  return std::unique_ptr<BulkPort>(new BulkPort(std::move(impl)));
}

BulkPort::BulkPort(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BulkPort::~BulkPort() = default;

BulkTickets* BulkPort::tickets() { return impl_->tickets(); }
void BulkPort::Start() { impl_->Start(); }
void BulkPort::StopListening() { impl_->StopListening(); }
void BulkPort::Stop(std::chrono::system_clock::time_point deadline) { impl_->Stop(deadline); }
int64_t BulkPort::num_connections() const { return impl_->num_connections(); }

std::string BulkPort::Describe() const {
  const BulkTickets::Places& places = impl_->tickets()->places();
  if (places.port == 0) return "bulk on a Unix socket";
  return absl::StrCat("bulk on port ", places.port,
                      places.unix_name.empty() ? "" : " and a Unix socket");
}

void BulkPort::AddMetrics(MetricRegistry::Group* group) const {
  const Impl* const impl = impl_.get();
  const auto add = [&](const char* name, Socket socket) {
    group->Add({"vicinity_server_bulk_connections", "Connections of the bulk channel that are open",
                MetricKind::kGauge},
               {{"socket", name}},
               [impl, socket] { return static_cast<double>(impl->num_connections(socket)); });
  };
  add("tcp", Socket::kTcp);
  add("unix", Socket::kUnix);
  group->Add({"vicinity_server_bulk_refused_tickets_total",
              "Connections of the bulk channel whose ticket was not good"},
             {}, [tickets = impl_->tickets()] { return static_cast<double>(tickets->refused()); });
  const BulkTickets::Places& places = impl_->tickets()->places();
  group->Add({"vicinity_server_bulk_port", "Where the bulk channel is over TCP; 0: it is not",
              MetricKind::kGauge},
             {}, [port = places.port] { return static_cast<double>(port); });
  group->Add({"vicinity_server_bulk_unix_sockets", "Unix sockets of the bulk channel, one or none",
              MetricKind::kGauge},
             {}, [num = places.unix_name.empty() ? 0.0 : 1.0] { return num; });
}

}  // namespace vicinity
