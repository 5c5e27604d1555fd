#include "client/rpc/bulk_link.h"

#include <unistd.h>

#include <algorithm>
#include <asio/connect.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/shards/piece_run.h"
#include "proto/bulk/byte_stream.h"
#include "proto/bulk/tls_stream.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

using Clock = std::chrono::steady_clock;
using Connected = std::function<void(absl::Status, int fd)>;

constexpr std::chrono::milliseconds kFirstPause(100);
constexpr std::chrono::milliseconds kLongestPause(30'000);

absl::Status Unreachable(const std::string& where, const asio::error_code& error) {
  return absl::UnavailableError(
      absl::StrCat("the bulk channel at ", where, " cannot be reached: ", error.message()));
}

// Connects one socket, in a loop's thread, or fails in time.
class Connector : public std::enable_shared_from_this<Connector> {
 public:
  Connector(asio::io_context* loop, Connected done)
      : unix_(*loop), tcp_(*loop), resolver_(*loop), timer_(*loop), done_(std::move(done)) {}

  void Begin(const std::string& host, const proto::OpenBulkReply& place,
             std::chrono::milliseconds timeout) {
    timer_.expires_after(timeout);
    timer_.async_wait([self = shared_from_this()](const asio::error_code& error) {
      if (!error) self->End(asio::error::timed_out, -1);
    });
    if (!done_) return;
    if (!place.unix_name().empty()) return ConnectUnix(place.unix_name());
    ConnectTcp(host, absl::StrCat(place.port()));
  }

  void Abort() { End(asio::error::operation_aborted, -1); }

 private:
  void ConnectUnix(const std::string& name) {
    where_ = absl::StrCat("the Unix socket @", name);
    if (name.size() > 100) return End(asio::error::name_too_long, -1);
    unix_.async_connect(asio::local::stream_protocol::endpoint(std::string(1, '\0') + name),
                        [self = shared_from_this()](const asio::error_code& error) {
                          self->OnConnected(error, &self->unix_);
                        });
  }

  void ConnectTcp(const std::string& host, const std::string& port) {
    where_ = absl::StrCat(host, ":", port);
    resolver_.async_resolve(
        host, port,
        [self = shared_from_this()](const asio::error_code& error,
                                    const asio::ip::tcp::resolver::results_type& found) {
          if (error || !self->done_) return self->End(error, -1);
          asio::async_connect(
              self->tcp_, found,
              [self](const asio::error_code& failed, const asio::ip::tcp::endpoint&) {
                asio::error_code ignored;
                if (!failed) self->tcp_.set_option(asio::ip::tcp::no_delay(true), ignored);
                self->OnConnected(failed, &self->tcp_);
              });
        });
  }

  template <typename Socket>
  void OnConnected(const asio::error_code& error, Socket* socket) {
    // It may have been given up, and closed, while this was on its way.
    if (!done_) return;
    asio::error_code failed = error;
    const int fd = error ? -1 : socket->release(failed);
    End(failed, failed ? -1 : fd);
  }

  void End(const asio::error_code& error, int fd) {
    if (!done_) {
      if (fd >= 0) close(fd);
      return;
    }
    timer_.cancel();
    resolver_.cancel();
    asio::error_code ignored;
    if (unix_.is_open()) unix_.close(ignored);
    if (tcp_.is_open()) tcp_.close(ignored);
    std::exchange(done_, nullptr)(error ? Unreachable(where_, error) : absl::OkStatus(), fd);
  }

  asio::local::stream_protocol::socket unix_;
  asio::ip::tcp::socket tcp_;
  asio::ip::tcp::resolver resolver_;
  asio::steady_timer timer_;
  std::string where_;
  Connected done_;
};

// A thread and the connections that it reads.
class Loop {
 public:
  ~Loop() { Join(); }

  asio::io_context* context() { return &context_; }
  bool runs() const { return thread_.joinable(); }
  void Start() {
    if (!runs()) thread_ = std::thread([this] { context_.run(); });
  }
  // Its connections are gone.
  void Join() {
    work_.reset();
    if (runs()) thread_.join();
  }

 private:
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  std::thread thread_;
};

}  // namespace

class BulkLink::Impl {
 public:
  Impl(Options options, AskTickets ask) : options_(std::move(options)), ask_(std::move(ask)) {}

  ~Impl() { Close(); }

  void Close() {
    std::vector<Member> channels;
    {
      MutexLock lock(&mu_);
      if (std::exchange(is_closing_, true)) return;
      channels.swap(channels_);
    }
    asio::post(*short_.context(), [this] {
      for (const std::weak_ptr<Connector>& each : connectors_) {
        if (const std::shared_ptr<Connector> there = each.lock()) there->Abort();
      }
    });
    for (const Member& each : channels) {
      each.channel->Close(absl::UnavailableError("the client has ended it"));
    }
    channels.clear();
    // Who has just started a call may still have its connection.
    while (num_alive_ > 0 && short_.runs()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    short_.Join();
    long_.Join();
  }

  void Renew() {
    MutexLock lock(&mu_);
    for (const Member& each : channels_) each.channel->Retire();
  }

  void Open(Done done) {
    int missing = 0;
    {
      MutexLock lock(&mu_);
      is_wanted_ = true;
      missing = is_opening_ ? -1 : std::max(CountMissing(), 0);
      is_opening_ = is_opening_ || missing > 0;
    }
    if (missing == 0) return done(absl::OkStatus());
    if (missing < 0) return done(absl::UnavailableError("the bulk channel is being opened"));
    OpenSome(missing, options_.over, std::move(done));
  }

  std::shared_ptr<BulkChannel> Next(CallLane lane, uint32_t turn) {
    std::shared_ptr<BulkChannel> found;
    bool reopens = false;
    {
      MutexLock lock(&mu_);
      found = Reserve(
          [lane](const Member& each) {
            return lane == CallLane::kAny || each.is_short == (lane == CallLane::kShort);
          },
          turn);
      if (found == nullptr) found = Reserve([](const Member&) { return true; }, turn);
      // To be asked for each call it is cheap enough.
      reopens = is_wanted_ && !is_opening_ && CountMissing() > 0 && Clock::now() >= next_try_;
    }
    if (reopens) {
      Open([](const absl::Status&) {});
    }
    return found;
  }

  int num_open() const {
    MutexLock lock(&mu_);
    return static_cast<int>(std::count_if(channels_.begin(), channels_.end(), [](const auto& each) {
      return each.channel->is_open();
    }));
  }

 private:
  struct Member {
    std::shared_ptr<BulkChannel> channel;
    bool is_short = false;  // for the short lane
  };

  // A place on one of those that will do, the next in turn; null: there is none.
  template <typename WillDo>
  std::shared_ptr<BulkChannel> Reserve(const WillDo& will_do, uint32_t turn)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const auto count =
        static_cast<uint32_t>(std::count_if(channels_.begin(), channels_.end(), will_do));
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t ahead = (turn + i) % count;
      const auto at = std::find_if(channels_.begin(), channels_.end(), [&](const Member& each) {
        return will_do(each) && ahead-- == 0;
      });
      if (at->channel->Reserve()) return at->channel;
    }
    return nullptr;
  }

  int CountMissing() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    channels_.erase(std::remove_if(channels_.begin(), channels_.end(),
                                   [](const auto& each) { return !each.channel->IsUsed(); }),
                    channels_.end());
    return options_.connections - static_cast<int>(channels_.size());
  }

  void OpenSome(int count, proto::BulkSocket over, Done done) {
    proto::OpenBulkRequest request;
    request.set_connections(static_cast<uint32_t>(count));
    request.set_over(over);
    ask_(request, [this, over, count, done = std::move(done)](const absl::Status& status,
                                                              const proto::OpenBulkReply& reply) {
      if (!status.ok()) return EndOpening(status, done);
      if (!EnsureLoops()) return EndOpening(absl::CancelledError("the client has ended it"), done);
      asio::post(*short_.context(),
                 [this, reply, over, count, done] { OpenWith(reply, over, count, done); });
    });
  }

  // In the short lane's thread.
  void OpenWith(const proto::OpenBulkReply& reply, proto::BulkSocket over, int count,
                const Done& done) {
    connectors_.clear();
    if (StillMissing() == 0)
      return EndOpening(absl::CancelledError("the client has ended it"), done);
    const bool by_unix = !reply.unix_name().empty();
    const int64_t num = std::min(count, reply.tickets_size());
    RunPieces(
        num, num,
        [this, reply](int64_t i, Done opened) {
          OpenOne(reply, reply.tickets(static_cast<int>(i)), std::move(opened));
        },
        [this, by_unix, over, done](const absl::Status& status) {
          // It may lead nowhere, where a proxy hides that the server is on another host.
          const int missing = StillMissing();
          if (!status.ok() && by_unix && over == proto::BULK_SOCKET_ANY && missing > 0) {
            return OpenSome(missing, proto::BULK_SOCKET_TCP, done);
          }
          EndOpening(status, done);
        });
  }

  // Null: OpenSSL takes no part.
  std::unique_ptr<bulk::ByteStream> StreamOf(int fd, bool over_unix) const {
    if (over_unix || options_.tls == nullptr) return std::make_unique<bulk::SocketStream>(fd);
    TlsSessions::Session session = options_.tls->New(options_.host);
    if (session == nullptr) return nullptr;
    return std::make_unique<bulk::TlsStream>(
        fd, std::move(session), [tls = options_.tls](const SSL& each) { return tls->Check(each); });
  }

  void OpenOne(const proto::OpenBulkReply& place, const std::string& ticket, Done done) {
    const bool over_unix = !place.unix_name().empty();
    const auto connector = std::make_shared<Connector>(
        short_.context(),
        [this, ticket, over_unix, done = std::move(done)](const absl::Status& status, int fd) {
          if (!status.ok()) return done(status);
          std::unique_ptr<bulk::ByteStream> stream = StreamOf(fd, over_unix);
          if (stream == nullptr) {
            close(fd);
            return done(absl::UnavailableError("no TLS for the bulk channel"));
          }
          BulkChannel::Options options;
          options.ticket = ticket;
          options.over_unix = over_unix;
          options.open_timeout = options_.connect_timeout;
          options.keepalive_time = options_.keepalive_time;
          options.keepalive_timeout = options_.keepalive_timeout;
          Add(fd, std::move(stream), std::move(options), done);
        });
    connectors_.push_back(connector);
    connector->Begin(options_.host, place, options_.connect_timeout);
  }

  // As one of the link's connections, read in the thread of its lane: the short one has one, which
  // is opened before all others.
  void Add(int fd, std::unique_ptr<bulk::ByteStream> stream, BulkChannel::Options options,
           const Done& done) {
    bool is_late = false;
    {
      MutexLock lock(&mu_);
      const bool is_short = std::none_of(channels_.begin(), channels_.end(),
                                         [](const Member& each) { return each.is_short; });
      asio::io_context* const loop = (is_short ? short_ : long_).context();
      num_alive_ += 1;
      const std::shared_ptr<BulkChannel> channel(
          new BulkChannel(loop, fd, std::move(stream), std::move(options)),
          [this](BulkChannel* gone) {
            delete gone;
            num_alive_ -= 1;
          });
      is_late = is_closing_;
      if (!is_late) {
        channels_.push_back({channel, is_short});
        asio::post(*loop, [channel, done] { channel->Open(done); });
      }
    }
    if (is_late) done(absl::CancelledError("the client has ended it"));
  }

  void EndOpening(const absl::Status& status, const Done& done) {
    {
      MutexLock lock(&mu_);
      is_opening_ = false;
      pause_ = status.ok() ? kFirstPause : std::min(2 * pause_, kLongestPause);
      next_try_ = Clock::now() + pause_;
    }
    done(status);
  }

  // 0: it is closing.
  int StillMissing() {
    MutexLock lock(&mu_);
    return is_closing_ ? 0 : CountMissing();
  }

  // False: it is closing.
  bool EnsureLoops() {
    MutexLock lock(&mu_);
    if (is_closing_) return false;
    short_.Start();
    if (options_.connections > 1) long_.Start();
    return true;
  }

  const Options options_;
  const AskTickets ask_;
  Loop short_;
  Loop long_;
  mutable Mutex mu_;
  std::vector<Member> channels_ ABSL_GUARDED_BY(mu_);
  bool is_opening_ ABSL_GUARDED_BY(mu_) = false;
  bool is_closing_ ABSL_GUARDED_BY(mu_) = false;
  bool is_wanted_ ABSL_GUARDED_BY(mu_) = false;  // Open was called
  std::chrono::milliseconds pause_ ABSL_GUARDED_BY(mu_) = kFirstPause;
  Clock::time_point next_try_ ABSL_GUARDED_BY(mu_);
  std::atomic<int> num_alive_{0};  // connections that somebody has
  // The short lane's thread's: of the last opening.
  std::vector<std::weak_ptr<Connector>> connectors_;
};

BulkLink::BulkLink(Options options, AskTickets ask)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(ask))) {}
BulkLink::~BulkLink() = default;

void BulkLink::Open(Done done) { impl_->Open(std::move(done)); }
std::shared_ptr<BulkChannel> BulkLink::Next(CallLane lane, uint32_t turn) {
  return impl_->Next(lane, turn);
}
void BulkLink::Renew() { impl_->Renew(); }
void BulkLink::Close() { impl_->Close(); }
int BulkLink::num_open() const { return impl_->num_open(); }

}  // namespace vicinity
