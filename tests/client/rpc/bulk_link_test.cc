#include "client/rpc/bulk_link.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/rpc/bulk_channel.h"
#include "client/rpc/call_settings.h"
#include "client/shards/fan_out.h"
#include "proto/bulk.pb.h"
#include "proto/bulk/frame.h"
#include "proto/common/mutex.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using bulk::FrameHeader;
using bulk::FrameKind;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

// One end of a connection, which does what the test says.
class Peer {
 public:
  explicit Peer(int fd) : fd_(fd) {}
  Peer(Peer&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Peer& operator=(Peer&&) = delete;
  ~Peer() { close(fd_); }

  FrameHeader Read() const {
    bulk::HeaderBytes bytes{};
    REQUIRE(recv(fd_, bytes.data(), bytes.size(), MSG_WAITALL) ==
            static_cast<ssize_t>(bytes.size()));
    VICINITY_ASSERT_OK_AND_ASSIGN(const FrameHeader header,
                                  bulk::DecodeHeader(bytes, bulk::Sender::kClient));
    std::string rest(header.head_bytes + header.payload_bytes, '\0');
    if (rest.empty()) return header;
    REQUIRE(recv(fd_, rest.data(), rest.size(), MSG_WAITALL) == static_cast<ssize_t>(rest.size()));
    return header;
  }
  void Write(FrameKind kind, uint64_t call, const std::string& head) const {
    FrameHeader header;
    header.kind = kind;
    header.call = call;
    header.head_bytes = static_cast<uint16_t>(head.size());
    const bulk::HeaderBytes bytes = bulk::EncodeHeader(header, head);
    const std::string all = std::string(bytes.begin(), bytes.end()) + head;
    REQUIRE(send(fd_, all.data(), all.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(all.size()));
  }
  void LetIn() const {
    CHECK(Read().kind == FrameKind::kOpen);
    proto::BulkOpened opened;
    opened.set_max_calls(10);
    opened.set_max_request_bytes(1000);
    Write(FrameKind::kOpened, 0, opened.SerializeAsString());
  }
  bool HasSomething() const {
    pollfd polled{fd_, POLLIN, 0};
    return poll(&polled, 1, 0) > 0;
  }
  // Waits for the client to end it; false: it has said something, or nothing at all.
  bool Ends() const {
    pollfd polled{fd_, POLLIN, 0};
    char byte = 0;
    return poll(&polled, 1, 60'000) > 0 && recv(fd_, &byte, 1, 0) <= 0;
  }

 private:
  int fd_;
};

// A socket that clients can connect to.
class Listener {
 public:
  static Listener Tcp(int backlog = 16) {
    Listener listener(AF_INET);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener.Bind(reinterpret_cast<sockaddr*>(&address), sizeof(address), backlog);
    socklen_t size = sizeof(address);
    REQUIRE(getsockname(listener.fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    listener.port_ = ntohs(address.sin_port);
    return listener;
  }
  static Listener Unix(const std::string& name) {
    Listener listener(AF_UNIX);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    listener.Bind(reinterpret_cast<sockaddr*>(&address),
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size()), 16);
    return listener;
  }
  Listener(Listener&& other) noexcept : fd_(std::exchange(other.fd_, -1)), port_(other.port_) {}
  Listener& operator=(Listener&&) = delete;
  ~Listener() { close(fd_); }

  int port() const { return port_; }
  Peer Accept() const {
    pollfd polled{fd_, POLLIN, 0};
    REQUIRE(poll(&polled, 1, 60'000) > 0);
    return Peer(accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC));
  }
  bool HasNone() const {
    pollfd polled{fd_, POLLIN, 0};
    return poll(&polled, 1, 0) == 0;
  }

 private:
  explicit Listener(int family) : fd_(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  void Bind(const sockaddr* address, socklen_t size, int backlog) const {
    REQUIRE(bind(fd_, address, size) == 0);
    REQUIRE(listen(fd_, backlog) == 0);
  }

  int fd_;
  int port_ = 0;
};

// A server's answers to the question for tickets.
class BulkLinkTest {
 protected:
  using Answer = std::function<absl::Status(const proto::OpenBulkRequest&, proto::OpenBulkReply*)>;

  std::unique_ptr<BulkLink> Make(Answer answer, proto::BulkSocket over = proto::BULK_SOCKET_ANY,
                                 milliseconds connect_timeout = seconds(60)) {
    BulkLink::Options options;
    options.host = "127.0.0.1";
    options.connections = 2;
    options.over = over;
    options.connect_timeout = connect_timeout;
    return std::make_unique<BulkLink>(
        options, [this, answer = std::move(answer)](const proto::OpenBulkRequest& request,
                                                    const BulkLink::OnTickets& on_tickets) {
          {
            MutexLock lock(&mu_);
            asked_.emplace_back(request, Clock::now());
          }
          proto::OpenBulkReply reply;
          const absl::Status status = answer(request, &reply);
          for (uint32_t i = 0; i < request.connections(); ++i) reply.add_tickets("ticket");
          on_tickets(status, reply);
        });
  }
  static Answer AtPort(int port) {
    return [port](const proto::OpenBulkRequest&, proto::OpenBulkReply* reply) {
      reply->set_port(static_cast<uint32_t>(port));
      return absl::OkStatus();
    };
  }
  // By the Unix socket, unless TCP is asked for.
  Answer AtNameOrPort(int port) const {
    return
        [name = name_, port](const proto::OpenBulkRequest& request, proto::OpenBulkReply* reply) {
          if (request.over() != proto::BULK_SOCKET_TCP) {
            reply->set_unix_name(name);
          } else {
            reply->set_port(static_cast<uint32_t>(port));
          }
          return absl::OkStatus();
        };
  }

  static std::future<absl::Status> Open(BulkLink* link) {
    auto done = std::make_shared<std::promise<absl::Status>>();
    link->Open([done](const absl::Status& status) { done->set_value(status); });
    return done->get_future();
  }
  static absl::Status Within(std::future<absl::Status> future) {
    REQUIRE(future.wait_for(seconds(60)) == std::future_status::ready);
    return future.get();
  }
  using OnMessage = std::function<absl::Status(grpc::ByteBuffer*)>;
  static std::future<absl::Status> Call(
      BulkChannel* channel,
      OnMessage on_message = [](grpc::ByteBuffer*) { return absl::OkStatus(); }) {
    CallSettings settings;
    settings.where = "here";
    settings.method = "FetchRows";
    settings.timeout = seconds(60);
    const grpc::Slice slice(std::string("request"));
    auto done = std::make_shared<std::promise<absl::Status>>();
    channel->Start(grpc::ByteBuffer(&slice, 1), settings, std::move(on_message),
                   [done](const absl::Status& status) { done->set_value(status); });
    return done->get_future();
  }
  // Two connections, open.
  static std::vector<Peer> LetTwoIn(const Listener& listener) {
    std::vector<Peer> peers;
    for (int i = 0; i < 2; ++i) {
      peers.push_back(listener.Accept());
      peers.back().LetIn();
    }
    return peers;
  }
  // Which of them a request has come to, read; connections may be made in any order.
  static const Peer& WithRequest(const std::vector<Peer>& peers) {
    const auto end = Clock::now() + seconds(60);
    while (Clock::now() < end) {
      for (const Peer& peer : peers) {
        if (!peer.HasSomething()) continue;
        CHECK(peer.Read().kind == FrameKind::kRequest);
        return peer;
      }
      std::this_thread::sleep_for(milliseconds(1));
    }
    FAIL("no request has come");
    return peers[0];
  }
  static bool BothOpen(const BulkLink& link) {
    const auto end = Clock::now() + seconds(60);
    while (link.num_open() < 2 && Clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    return link.num_open() == 2;
  }
  // Calls, which have it opened again, until tickets were asked for so many times.
  void CallUntilAsked(BulkLink* link, size_t times) {
    const auto end = Clock::now() + seconds(60);
    while (num_asked() < times && Clock::now() < end) {
      link->Next(CallLane::kAny, 0);
      std::this_thread::sleep_for(milliseconds(1));
    }
    REQUIRE(num_asked() == times);
  }

  size_t num_asked() {
    MutexLock lock(&mu_);
    return asked_.size();
  }
  proto::OpenBulkRequest asked(size_t position) {
    MutexLock lock(&mu_);
    return asked_.at(position).first;
  }
  Clock::time_point asked_at(size_t position) {
    MutexLock lock(&mu_);
    return asked_.at(position).second;
  }

  const std::string name_ = absl::StrCat("vicinity-bulk-link-test-", getpid());
  Mutex mu_;
  std::vector<std::pair<proto::OpenBulkRequest, Clock::time_point>> asked_ ABSL_GUARDED_BY(mu_);
};

TEST_CASE_METHOD(BulkLinkTest, "where the Unix socket leads nowhere, TCP is asked for",
                 "[bulk_link]") {
  const Listener tcp = Listener::Tcp();
  // A proxy hides that the server is on another host: there is nobody of this name here.
  const auto link = Make(AtNameOrPort(tcp.port()));
  auto opened = Open(link.get());
  const std::vector<Peer> peers = LetTwoIn(tcp);
  VICINITY_CHECK_OK(Within(std::move(opened)));
  CHECK(link->num_open() == 2);
  REQUIRE(num_asked() == 2);
  CHECK(asked(0).over() == proto::BULK_SOCKET_ANY);
  CHECK(asked(1).over() == proto::BULK_SOCKET_TCP);
  CHECK(asked(1).connections() == 2);
  const std::shared_ptr<BulkChannel> channel = link->Next(CallLane::kAny, 0);
  REQUIRE(channel != nullptr);
  CHECK_FALSE(channel->over_unix());
  auto call = Call(channel.get());
  WithRequest(peers).Write(FrameKind::kEnd, 1, proto::BulkEnd().SerializeAsString());
  VICINITY_CHECK_OK(Within(std::move(call)));
}

TEST_CASE_METHOD(BulkLinkTest, "of connections by the Unix socket those that fail go by TCP",
                 "[bulk_link]") {
  const Listener tcp = Listener::Tcp();
  const Listener local = Listener::Unix(name_);
  const auto link = Make(AtNameOrPort(tcp.port()));
  auto opened = Open(link.get());
  const Peer there = local.Accept();
  there.LetIn();
  { const Peer gone = local.Accept(); }
  const Peer other = tcp.Accept();
  other.LetIn();
  VICINITY_CHECK_OK(Within(std::move(opened)));
  REQUIRE(num_asked() == 2);
  CHECK(asked(1).over() == proto::BULK_SOCKET_TCP);
  CHECK(asked(1).connections() == 1);
  CHECK(link->num_open() == 2);
  const auto first = link->Next(CallLane::kAny, 0);
  const auto second = link->Next(CallLane::kAny, 1);
  REQUIRE((first != nullptr && second != nullptr));
  CHECK(first->over_unix() != second->over_unix());
}

TEST_CASE_METHOD(BulkLinkTest, "a short answer does not wait while a long one is put in its place",
                 "[bulk_link]") {
  const Listener tcp = Listener::Tcp();
  const auto link = Make(AtPort(tcp.port()));
  auto opened = Open(link.get());
  const std::vector<Peer> peers = LetTwoIn(tcp);
  VICINITY_CHECK_OK(Within(std::move(opened)));
  const std::shared_ptr<BulkChannel> wide = link->Next(CallLane::kLong, 0);
  const std::shared_ptr<BulkChannel> narrow = link->Next(CallLane::kShort, 0);
  REQUIRE((wide != nullptr && narrow != nullptr && wide != narrow));
  CHECK(link->Next(CallLane::kLong, 1) == wide);
  CHECK(link->Next(CallLane::kShort, 1) == narrow);
  std::promise<void> begun;
  std::promise<void> may_go_on;
  auto large = Call(wide.get(), [&](grpc::ByteBuffer*) {
    begun.set_value();
    const bool goes_on = may_go_on.get_future().wait_for(seconds(60)) == std::future_status::ready;
    return goes_on ? absl::OkStatus() : absl::DeadlineExceededError("the short answer waited");
  });
  const Peer& other = WithRequest(peers);
  other.Write(FrameKind::kMessage, 1, "");
  REQUIRE(begun.get_future().wait_for(seconds(60)) == std::future_status::ready);
  auto small = Call(narrow.get());
  WithRequest(peers).Write(FrameKind::kEnd, 1, proto::BulkEnd().SerializeAsString());
  VICINITY_CHECK_OK(Within(std::move(small)));
  may_go_on.set_value();
  other.Write(FrameKind::kEnd, 1, proto::BulkEnd().SerializeAsString());
  VICINITY_CHECK_OK(Within(std::move(large)));
}

TEST_CASE_METHOD(BulkLinkTest, "who asks for the Unix socket gets it or nothing", "[bulk_link]") {
  const Listener tcp = Listener::Tcp();
  const auto link = Make(AtNameOrPort(tcp.port()), proto::BULK_SOCKET_UNIX);
  const absl::Status status = Within(Open(link.get()));
  VICINITY_CHECK_CODE(status, absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(status.message()), Catch::Contains(name_));
  CHECK(num_asked() == 1);
  CHECK(tcp.HasNone());
}

TEST_CASE_METHOD(BulkLinkTest, "what the server says of tickets is what opening says",
                 "[bulk_link]") {
  const auto code = GENERATE(absl::StatusCode::kUnimplemented, absl::StatusCode::kUnauthenticated);
  const auto link = Make([code](const proto::OpenBulkRequest&, proto::OpenBulkReply*) {
    return absl::Status(code, "no");
  });
  VICINITY_CHECK_CODE(Within(Open(link.get())), code);
  CHECK(link->num_open() == 0);
  CHECK(link->Next(CallLane::kAny, 0) == nullptr);
}

TEST_CASE_METHOD(BulkLinkTest, "a channel that cannot be had is asked for less and less often",
                 "[bulk_link]") {
  const auto link = Make([](const proto::OpenBulkRequest&, proto::OpenBulkReply*) {
    return absl::UnavailableError("not now");
  });
  CHECK(link->Next(CallLane::kAny, 0) == nullptr);
  CHECK(num_asked() == 0);  // nobody wants it yet
  VICINITY_CHECK_CODE(Within(Open(link.get())), absl::StatusCode::kUnavailable);
  constexpr size_t kTimes = 4;
  CallUntilAsked(link.get(), 1 + kTimes);
  milliseconds pause(200);
  for (size_t i = 0; i < kTimes; ++i, pause *= 2) {
    CAPTURE(i);
    CHECK(asked_at(i + 1) - asked_at(i) >= pause);
  }
}

TEST_CASE_METHOD(BulkLinkTest, "one opening at a time, and none where nothing is missing",
                 "[bulk_link]") {
  const Listener tcp = Listener::Tcp();
  const auto link = Make(AtPort(tcp.port()));
  auto opened = Open(link.get());
  VICINITY_CHECK_CODE(Within(Open(link.get())), absl::StatusCode::kUnavailable);
  const std::vector<Peer> peers = LetTwoIn(tcp);
  VICINITY_CHECK_OK(Within(std::move(opened)));
  VICINITY_CHECK_OK(Within(Open(link.get())));
  CHECK(num_asked() == 1);
}

TEST_CASE_METHOD(BulkLinkTest, "long calls leave a connection to short ones", "[bulk_link]") {
  const Listener tcp = Listener::Tcp();
  const auto link = Make(AtPort(tcp.port()));
  auto opened = Open(link.get());
  const std::vector<Peer> peers = LetTwoIn(tcp);
  VICINITY_REQUIRE_OK(Within(std::move(opened)));
  const auto of_short = link->Next(CallLane::kShort, 0);
  const auto of_long = link->Next(CallLane::kLong, 0);
  REQUIRE((of_short != nullptr && of_long != nullptr));
  CHECK(of_short != of_long);
  CHECK(link->Next(CallLane::kShort, 1) == of_short);
  CHECK(link->Next(CallLane::kLong, 1) == of_long);
}

TEST_CASE_METHOD(BulkLinkTest, "what is renewed ends with its last call, and others are opened",
                 "[bulk_link]") {
  const Listener tcp = Listener::Tcp();
  const auto link = Make(AtPort(tcp.port()));
  auto opened = Open(link.get());
  const std::vector<Peer> before = LetTwoIn(tcp);
  VICINITY_REQUIRE_OK(Within(std::move(opened)));
  auto call = [&] {
    const std::shared_ptr<BulkChannel> channel = link->Next(CallLane::kShort, 0);
    REQUIRE(channel != nullptr);
    return Call(channel.get());
  }();
  const Peer& busy = WithRequest(before);
  link->Renew();
  CHECK(link->num_open() == 0);
  CallUntilAsked(link.get(), 2);
  CHECK(asked(1).connections() == 2);
  const std::vector<Peer> after = LetTwoIn(tcp);
  CHECK(BothOpen(*link));
  CHECK(call.wait_for(seconds(0)) == std::future_status::timeout);
  busy.Write(FrameKind::kEnd, 1, proto::BulkEnd().SerializeAsString());
  VICINITY_CHECK_OK(Within(std::move(call)));
  CHECK(before[0].Ends());
  CHECK(before[1].Ends());
  CHECK(link->num_open() == 2);
}

// Connects until a listener takes no more, so that the next one hears nothing.
std::vector<Peer> Fill(int port) {
  std::vector<Peer> fillers;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  bool is_full = false;
  while (!is_full && fillers.size() < 100) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    fillers.emplace_back(fd);
    connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    pollfd polled{fd, POLLOUT, 0};
    is_full = poll(&polled, 1, 200) == 0;
  }
  REQUIRE(is_full);
  return fillers;
}

TEST_CASE_METHOD(BulkLinkTest, "a host that does not answer is given up in time", "[bulk_link]") {
  const Listener tcp = Listener::Tcp(0);
  const std::vector<Peer> fillers = Fill(tcp.port());
  const auto link = Make(AtPort(tcp.port()), proto::BULK_SOCKET_TCP, milliseconds(50));
  const absl::Status status = Within(Open(link.get()));
  VICINITY_CHECK_CODE(status, absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(status.message()), Catch::Contains(absl::StrCat(tcp.port())));
}

TEST_CASE_METHOD(BulkLinkTest, "what is being opened ends when the link is closed", "[bulk_link]") {
  std::future<absl::Status> opened;
  SECTION("nobody answers the connection") {
    const Listener tcp = Listener::Tcp(0);
    const std::vector<Peer> fillers = Fill(tcp.port());
    // Whoever waits for that does not come to an end here.
    const auto link = Make(AtPort(tcp.port()), proto::BULK_SOCKET_TCP, std::chrono::hours(1));
    opened = Open(link.get());
    link->Close();
    CHECK(opened.wait_for(seconds(0)) == std::future_status::ready);
  }
  SECTION("the connection comes about at that moment") {
    for (int i = 0; i < 300; ++i) {
      const Listener local = Listener::Unix(name_);
      const auto link = Make(AtNameOrPort(0), proto::BULK_SOCKET_UNIX);
      opened = Open(link.get());
      if (i % 2 == 0) std::this_thread::yield();
      link->Close();
      REQUIRE(opened.wait_for(seconds(0)) == std::future_status::ready);
    }
  }
  SECTION("nobody lets it in") {
    const Listener tcp = Listener::Tcp();
    const auto link = Make(AtPort(tcp.port()));
    opened = Open(link.get());
    const Peer first = tcp.Accept();
    const Peer second = tcp.Accept();
    CHECK(first.Read().kind == FrameKind::kOpen);
    CHECK(second.Read().kind == FrameKind::kOpen);
    link->Close();
    CHECK(first.Ends());
    CHECK(second.Ends());
  }
  SECTION("tickets come when it is closed already") {
    const Listener tcp = Listener::Tcp();
    BulkLink* closing = nullptr;
    const auto link = Make([&](const proto::OpenBulkRequest&, proto::OpenBulkReply* reply) {
      closing->Close();
      reply->set_port(static_cast<uint32_t>(tcp.port()));
      return absl::OkStatus();
    });
    closing = link.get();
    opened = Open(link.get());
    CHECK(tcp.HasNone());
  }
  CHECK_FALSE(Within(std::move(opened)).ok());
}

}  // namespace
}  // namespace vicinity
