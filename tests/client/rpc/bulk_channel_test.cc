#include "client/rpc/bulk_channel.h"

#include <fcntl.h>
#include <grpcpp/support/slice.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "client/rpc/call_settings.h"
#include "proto/bulk.pb.h"
#include "proto/bulk/byte_stream.h"
#include "proto/bulk/frame.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using bulk::FrameHeader;
using bulk::FrameKind;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A connection whose server is the test: it sends what the test says.
class BulkChannelTest {
 protected:
  ~BulkChannelTest() {
    if (channel_ != nullptr) channel_->Close(absl::CancelledError("the test is over"));
    channel_.reset();
    work_.reset();
    loop_thread_.join();
    close(server_);
  }

  void Connect(milliseconds keepalive = seconds(60)) {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    REQUIRE(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    server_ = ends[1];
    BulkChannel::Options options;
    options.ticket = "ticket";
    options.open_timeout = seconds(120);  // longer than anything is waited for
    options.keepalive_time = keepalive;
    options.keepalive_timeout = keepalive;
    channel_ = std::make_shared<BulkChannel>(
        &loop_, ends[0], std::make_unique<bulk::SocketStream>(ends[0]), options);
  }
  void Make(milliseconds keepalive = seconds(60)) {
    Connect(keepalive);
    channel_->Open([this](const absl::Status& status) { opened_.set_value(status); });
    CHECK(Read().kind == FrameKind::kOpen);
  }
  void MakeOpen(milliseconds keepalive = seconds(60), uint32_t max_request_bytes = 1000) {
    Make(keepalive);
    proto::BulkOpened opened;
    opened.set_max_calls(10);
    opened.set_max_request_bytes(max_request_bytes);
    Write(FrameKind::kOpened, 0, opened.SerializeAsString(), "");
    VICINITY_REQUIRE_OK(Opened());
  }
  absl::Status Opened() { return Within(opened_.get_future()); }

  static absl::Status Within(std::future<absl::Status> future) {
    REQUIRE(future.wait_for(seconds(60)) == std::future_status::ready);
    return future.get();
  }
  std::future<absl::Status> Call(size_t request_bytes = 10) {
    REQUIRE(channel_->Reserve());
    CallSettings settings;
    settings.where = "here";
    settings.method = "FetchRows";
    settings.timeout = seconds(60);
    const grpc::Slice slice(std::string(request_bytes, 'r'));
    auto done = std::make_shared<std::promise<absl::Status>>();
    channel_->Start(
        grpc::ByteBuffer(&slice, 1), settings, [](grpc::ByteBuffer*) { return absl::OkStatus(); },
        [done](const absl::Status& status) { done->set_value(status); });
    return done->get_future();
  }

  // The next frame of the client, without its head and payload.
  FrameHeader Read() const {
    bulk::HeaderBytes bytes{};
    REQUIRE(recv(server_, bytes.data(), bytes.size(), MSG_WAITALL) ==
            static_cast<ssize_t>(bytes.size()));
    VICINITY_ASSERT_OK_AND_ASSIGN(const FrameHeader header,
                                  bulk::DecodeHeader(bytes, bulk::Sender::kClient));
    std::string rest(header.head_bytes + header.payload_bytes, '\0');
    if (rest.empty()) return header;
    REQUIRE(recv(server_, rest.data(), rest.size(), MSG_WAITALL) ==
            static_cast<ssize_t>(rest.size()));
    return header;
  }
  void Write(FrameKind kind, uint64_t call, const std::string& head, const std::string& payload,
             uint8_t flags = 0) const {
    FrameHeader header;
    header.kind = kind;
    header.call = call;
    header.flags = flags;
    header.head_bytes = static_cast<uint16_t>(head.size());
    header.payload_bytes = static_cast<uint32_t>(payload.size());
    const bulk::HeaderBytes bytes = bulk::EncodeHeader(header, head);
    WriteBytes(std::string(bytes.begin(), bytes.end()) + head + payload);
  }
  // Whether the client takes it all or not.
  void WriteBytes(const std::string& bytes) const {
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t count = send(server_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<size_t>(count);
    }
  }

  asio::io_context loop_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{loop_.get_executor()};
  std::thread loop_thread_{[this] { loop_.run(); }};
  int server_ = -1;
  std::promise<absl::Status> opened_;
  std::shared_ptr<BulkChannel> channel_;
};

TEST_CASE_METHOD(BulkChannelTest, "calls end as the server says", "[bulk_channel]") {
  MakeOpen();
  auto first = Call();
  auto second = Call();
  CHECK(Read().call == 1);
  CHECK(Read().call == 2);
  proto::BulkEnd end;
  Write(FrameKind::kMessage, 2, "", "a message");
  Write(FrameKind::kEnd, 2, end.SerializeAsString(), "");
  end.set_code(static_cast<uint32_t>(absl::StatusCode::kResourceExhausted));
  end.set_text("later");
  Write(FrameKind::kEnd, 1, end.SerializeAsString(), "");
  VICINITY_CHECK_OK(Within(std::move(second)));
  const absl::Status refused = Within(std::move(first));
  VICINITY_CHECK_CODE(refused, absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(refused.message()), Catch::Contains("here: later"));
}

TEST_CASE_METHOD(BulkChannelTest, "a server that breaks a rule loses its connection, calls and all",
                 "[bulk_channel]") {
  MakeOpen();
  auto first = Call();
  auto second = Call();
  Read();
  Read();
  SECTION("a call that there never was") { Write(FrameKind::kMessage, 7, "", "m"); }
  SECTION("an end that cannot be read") { Write(FrameKind::kEnd, 1, "\xff\xff\xff", ""); }
  SECTION("it is opened twice") {
    proto::BulkOpened opened;
    opened.set_max_calls(10);
    opened.set_max_request_bytes(1000);
    Write(FrameKind::kOpened, 0, opened.SerializeAsString(), "");
  }
  SECTION("no frame") { WriteBytes(std::string(200, 'x')); }
  SECTION("what a client says") { Write(FrameKind::kCancel, 1, "", ""); }
  SECTION("it is gone") { shutdown(server_, SHUT_RDWR); }
  VICINITY_CHECK_CODE(Within(std::move(first)), absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(Within(std::move(second)), absl::StatusCode::kUnavailable);
  CHECK_FALSE(channel_->is_open());
  CHECK_FALSE(channel_->Reserve());
}

TEST_CASE_METHOD(BulkChannelTest, "a connection is open once the server says so",
                 "[bulk_channel]") {
  Make();
  SECTION("something else comes") { Write(FrameKind::kPing, 1, "", ""); }
  SECTION("without limits") { Write(FrameKind::kOpened, 0, "", ""); }
  SECTION("it is gone") { shutdown(server_, SHUT_RDWR); }
  VICINITY_CHECK_CODE(Opened(), absl::StatusCode::kUnavailable);
  CHECK_FALSE(channel_->Reserve());
}

// Its link may be closed at the moment when the connection comes about.
TEST_CASE_METHOD(BulkChannelTest, "a connection that is closed before it is opened says so at once",
                 "[bulk_channel]") {
  Connect();
  channel_->Close(absl::UnavailableError("the client has ended it"));
  asio::post(loop_, [this] {
    channel_->Open([this](const absl::Status& status) { opened_.set_value(status); });
  });
  const absl::Status status = Opened();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(status.message()), Catch::Contains("the client has ended it"));
}

TEST_CASE_METHOD(BulkChannelTest, "a server that says nothing is given up", "[bulk_channel]") {
  MakeOpen(milliseconds(50));
  auto call = Call();
  CHECK(Read().kind == FrameKind::kRequest);
  CHECK(Read().kind == FrameKind::kPing);
  SECTION("it answers once, and then no more") {
    Write(FrameKind::kPong, 1, "", "");
    CHECK(Read().kind == FrameKind::kPing);
  }
  SECTION("not at all") {}
  const absl::Status status = Within(std::move(call));
  VICINITY_CHECK_CODE(status, absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(status.message()), Catch::Contains("has said nothing"));
}

TEST_CASE_METHOD(BulkChannelTest, "a request that is too large for the server costs its call alone",
                 "[bulk_channel]") {
  MakeOpen();
  auto other = Call();
  CHECK(Read().call == 1);
  const absl::Status status = Within(Call(1001));
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()), Catch::Contains("1001") && Catch::Contains("1000"));
  Write(FrameKind::kEnd, 1, proto::BulkEnd().SerializeAsString(), "");
  VICINITY_CHECK_OK(Within(std::move(other)));
  CHECK(channel_->is_open());
}

}  // namespace
}  // namespace vicinity
