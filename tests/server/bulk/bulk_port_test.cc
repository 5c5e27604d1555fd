// The bulk channel of a server: who is let in, what breaks its rules, and how calls end on it. That
// its answers are right, tests/contract/shard_access_test.cc says.
#include "server/bulk/bulk_port.h"

#include <malloc.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/time/time.h"
#include "client/rpc/credentials.h"
#include "client/rpc/remote_shard.h"
#include "client/rpc/server_connection.h"
#include "client/shards/cancellation.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_access.h"
#include "client/shards/traffic.h"
#include "client/types/credential_options.h"
#include "client/types/graph_values.h"
#include "partition/dataset/dataset.h"
#include "proto/bulk.pb.h"
#include "proto/bulk/frame.h"
#include "proto/cluster/host_port.h"
#include "proto/common/mutex.h"
#include "proto/security/tls_sessions.h"
#include "proto/security/token.h"
#include "proto/service.pb.h"
#include "proto/wire_checksum.h"
#include "server/security/server_security.h"
#include "server/server.h"
#include "server/server_options.h"
#include "tests/server/bulk/raw_bulk.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using bulk::FrameHeader;
using bulk::FrameKind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AskForTickets;
using testing::RawBulk;

constexpr int64_t kNumNodes = 20'000;
constexpr int64_t kWidth = 64;  // of float32: 5 MiB in all

class BulkTest {
 protected:
  BulkTest() {
    testing::RandomGraphOptions shape;
    shape.num_nodes = kNumNodes;
    shape.feature_width = kWidth;
    graph_ = testing::RandomGraph(shape);
    VICINITY_REQUIRE_OK(
        testing::WriteGraph(graph_, testing::InUserOrder(graph_), folder_.File("graph")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("graph")));
  }

  void Serve(int port = 0) {
    ServerOptions options;
    options.data = folder_.File("graph");
    options.listen.port = port;
    options.bulk.local = true;
    options.bulk.tcp = HostPort{"127.0.0.1", 0};
    options.bulk.max_calls = 4;
    options.security = security_;
    options.announce = absl::Milliseconds(1);
    VICINITY_ASSERT_OK_AND_ASSIGN(server_, Server::Start(options));
  }
  std::string address() const { return server_->address().ToString(); }

  proto::OpenBulkReply Tickets(uint32_t count, proto::BulkSocket over) const {
    auto reply = AskForTickets(address(), count, over);
    VICINITY_REQUIRE_OK(reply);
    return *std::move(reply);
  }
  std::unique_ptr<RawBulk> Connect(proto::BulkSocket over = proto::BULK_SOCKET_ANY) const {
    const proto::OpenBulkReply place = Tickets(1, over);
    return std::make_unique<RawBulk>(place, place.tickets(0));
  }

  // The features of nodes [0, count).
  std::string RowsRequest(int64_t count) const {
    proto::RowsRequest request;
    request.set_fingerprint(dataset_->fingerprint());
    request.set_count(count);
    request.set_checksum(RequestChecksum("FetchRows", request));
    return request.SerializeAsString();
  }
  // A server that has fallen out of step, or gone, does not answer this.
  void CheckAnswers(RawBulk* connection, uint64_t call) const {
    connection->Request(call, "FetchRows", RowsRequest(3));
    const std::optional<RawBulk::Frame> end = connection->Next();
    REQUIRE(end.has_value());
    CHECK(end->header.kind == FrameKind::kEnd);
    CHECK(end->header.call == call);
    proto::RowsChunk chunk;
    REQUIRE(chunk.ParseFromString(end->payload));
    CHECK(chunk.rows() == graph_.nodes[0].columns[0].substr(0, 3 * kWidth * sizeof(float)));
  }
  static proto::BulkEnd EndOf(const std::optional<RawBulk::Frame>& frame) {
    REQUIRE(frame.has_value());
    REQUIRE(frame->header.kind == FrameKind::kEnd);
    proto::BulkEnd end;
    REQUIRE(end.ParseFromString(frame->head));
    return end;
  }

  const testing::TempDir folder_;
  ServerSecurity security_;
  testing::MemoryGraph graph_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<Server> server_;
};

TEST_CASE_METHOD(BulkTest, "a ticket opens one connection of its kind", "[bulk]") {
  Serve();
  const auto over = GENERATE(proto::BULK_SOCKET_TCP, proto::BULK_SOCKET_UNIX);
  const proto::OpenBulkReply place = Tickets(2, over);
  REQUIRE(place.tickets_size() == 2);
  CHECK(place.unix_name().empty() == (over == proto::BULK_SOCKET_TCP));
  RawBulk first(place, place.tickets(0));
  CheckAnswers(&first, 1);
  SECTION("used twice") {
    RawBulk again(place);
    again.Open(place.tickets(0));
    CHECK(again.Ends());
  }
  SECTION("on the other kind of socket") {
    const proto::OpenBulkReply other = Tickets(
        1, over == proto::BULK_SOCKET_TCP ? proto::BULK_SOCKET_UNIX : proto::BULK_SOCKET_TCP);
    RawBulk wrong(place);
    wrong.Open(other.tickets(0));
    CHECK(wrong.Ends());
  }
  SECTION("guessed") {
    std::string wrong = place.tickets(1);
    wrong.back() = static_cast<char>(wrong.back() ^ 1);
    for (const std::string& guess :
         {wrong, std::string(), std::string(32, '\0'), std::string(500, 'x')}) {
      RawBulk guesser(place);
      guesser.Open(guess);
      CHECK(guesser.Ends());
    }
  }
  SECTION("none at all") {
    RawBulk silent(place);
    silent.Request(1, "FetchRows", RowsRequest(3));
    CHECK(silent.Ends());
  }
  RawBulk second(place, place.tickets(1));
  CheckAnswers(&second, 1);
  CheckAnswers(&first, 2);
}

TEST_CASE_METHOD(BulkTest, "a server without the channel says so", "[bulk]") {
  ServerOptions options;
  options.data = folder_.File("graph");
  VICINITY_ASSERT_OK_AND_ASSIGN(server_, Server::Start(options));
  VICINITY_CHECK_CODE(AskForTickets(address(), 1, proto::BULK_SOCKET_ANY),
                      absl::StatusCode::kUnimplemented);
}

TEST_CASE_METHOD(BulkTest, "too many tickets at once are refused", "[bulk]") {
  Serve();
  VICINITY_CHECK_CODE(AskForTickets(address(), 17, proto::BULK_SOCKET_ANY),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE_METHOD(BulkTest, "who breaks a rule loses the connection, and others do not", "[bulk]") {
  Serve();
  const auto honest = Connect();
  const auto other = Connect(GENERATE(proto::BULK_SOCKET_TCP, proto::BULK_SOCKET_UNIX));
  FrameHeader header;
  SECTION("bytes that are no frame") { other->SendBytes(std::string(100, 'x')); }
  SECTION("gRPC") { other->SendBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n                  "); }
  SECTION("a frame of a server's") { other->SendAbout(FrameKind::kGoodbye, 0); }
  SECTION("a second opening") { other->Open("ticket"); }
  SECTION("a request that is too large") {
    header.kind = FrameKind::kRequest;
    header.call = 1;
    header.timeout_ms = 1000;
    header.credit = 1;
    header.payload_bytes = static_cast<uint32_t>(bulk::kMaxPayloadOfRequest + 1);
    const bulk::HeaderBytes bytes = bulk::EncodeHeader(header, "");
    other->SendBytes({bytes.data(), bytes.size()});
  }
  SECTION("a header that was damaged") {
    header.kind = FrameKind::kPing;
    bulk::HeaderBytes bytes = bulk::EncodeHeader(header, "");
    bytes[10] ^= 1;
    other->SendBytes({bytes.data(), bytes.size()});
  }
  SECTION("a head that is no message") {
    header.kind = FrameKind::kRequest;
    header.call = 1;
    header.timeout_ms = 1000;
    header.credit = 1;
    other->Send(header, std::string(10, '\xff'), "x");
  }
  SECTION("pings without end") {
    for (int i = 0; i < 200; ++i) other->SendAbout(FrameKind::kPing, 1);
    while (other->Next().has_value()) continue;
  }
  SECTION("two calls of one number") {
    other->Request(7, "FetchRows", RowsRequest(kNumNodes), 1);
    other->Request(7, "FetchRows", RowsRequest(1));
    while (other->Next().has_value()) continue;
  }
  SECTION("calls without end, of which no answer is read") {
    for (int i = 0; i < 1000 && !other->HasEnded(); ++i) {
      for (uint64_t call = 1; call < 100; ++call) {
        other->Request(100 * i + call, "FetchRows", RowsRequest(kNumNodes), 1 << 30);
      }
    }
    while (other->Next().has_value()) continue;
  }
  SECTION("credit without end") {
    other->Request(7, "FetchRows", RowsRequest(kNumNodes), 1);
    for (int i = 0; i < 3; ++i) other->SendAbout(FrameKind::kCredit, 7, bulk::kMaxCredit);
    while (other->Next().has_value()) continue;
  }
  CHECK(other->Ends());
  CheckAnswers(honest.get(), 1);
}

TEST_CASE_METHOD(BulkTest, "what cannot be answered ends with a status, and the connection stays",
                 "[bulk]") {
  Serve();
  const auto connection = Connect();
  const auto code_of = [&](const std::string& method, const std::string& payload) {
    static uint64_t call = 100;
    connection->Request(++call, method, payload);
    return static_cast<absl::StatusCode>(EndOf(connection->Next()).code());
  };
  CHECK(code_of("NoSuchMethod", "") == absl::StatusCode::kUnimplemented);
  CHECK(code_of("FetchRows", "\xff\xff\xff") == absl::StatusCode::kAborted);
  CHECK(code_of("FetchRows", RowsRequest(kNumNodes + 1)) == absl::StatusCode::kInvalidArgument);
  CHECK(code_of("Hello", "") == absl::StatusCode::kFailedPrecondition);
  CheckAnswers(connection.get(), 1);
}

TEST_CASE_METHOD(BulkTest, "more calls than a connection may have are refused", "[bulk]") {
  Serve();
  const auto connection = Connect();
  for (uint64_t call = 1; call <= 4; ++call) {
    connection->Request(call, "FetchRows", RowsRequest(kNumNodes), 1);
  }
  connection->Request(5, "FetchRows", RowsRequest(1));
  std::optional<RawBulk::Frame> frame = connection->Next();
  while (frame.has_value() && frame->header.call != 5) frame = connection->Next();
  CHECK(static_cast<absl::StatusCode>(EndOf(frame).code()) == absl::StatusCode::kResourceExhausted);
}

TEST_CASE_METHOD(BulkTest, "a call sends what it has credit for, and others go on", "[bulk]") {
  Serve();
  const auto connection = Connect(GENERATE(proto::BULK_SOCKET_TCP, proto::BULK_SOCKET_UNIX));
  connection->Request(1, "FetchRows", RowsRequest(kNumNodes), 1);
  const std::optional<RawBulk::Frame> first = connection->Next();
  REQUIRE(first.has_value());
  CHECK(first->header.kind == FrameKind::kMessage);
  std::string rows;
  const auto add = [&](const RawBulk::Frame& frame) {
    proto::RowsChunk chunk;
    REQUIRE(chunk.ParseFromString(frame.payload));
    rows += chunk.rows();
  };
  add(*first);
  // It has none left: others are answered, and nothing comes of it.
  for (uint64_t call = 2; call < 20; ++call) CheckAnswers(connection.get(), call);
  int num_messages = 1;
  auto last_bytes = static_cast<uint32_t>(first->payload.size());
  for (bool more = true; more;) {
    connection->SendAbout(FrameKind::kCredit, 1, last_bytes);
    const std::optional<RawBulk::Frame> next = connection->Next();
    REQUIRE(next.has_value());
    REQUIRE(next->header.call == 1);
    ++num_messages;
    last_bytes = static_cast<uint32_t>(next->payload.size());
    add(*next);
    more = next->header.kind == FrameKind::kMessage;
    if (!more) CHECK(EndOf(next).ShortDebugString() == "");
  }
  CHECK(num_messages > 15);
  CHECK((rows == graph_.nodes[0].columns[0]));
}

TEST_CASE_METHOD(BulkTest, "a call that is cancelled ends, wherever it is", "[bulk]") {
  Serve();
  const auto connection = Connect();
  for (uint64_t call = 1; call <= 200; ++call) {
    connection->Request(call, "FetchRows", RowsRequest(kNumNodes), call % 2 == 0 ? 1 : 1 << 30);
    if (call % 3 == 0) REQUIRE(connection->Next().has_value());
    connection->SendAbout(FrameKind::kCancel, call);
    std::optional<RawBulk::Frame> frame = connection->Next();
    while (frame.has_value() && frame->header.kind == FrameKind::kMessage) {
      frame = connection->Next();
    }
    REQUIRE(frame.has_value());
    CHECK(frame->header.call == call);
    CHECK(frame->header.kind == FrameKind::kEnd);
  }
  CheckAnswers(connection.get(), 1000);
}

TEST_CASE_METHOD(BulkTest, "a call without time left is not answered", "[bulk]") {
  Serve();
  const auto connection = Connect();
  // No credit for the second message: its time passes meanwhile.
  connection->Request(1, "FetchRows", RowsRequest(kNumNodes), 1, 50);
  std::this_thread::sleep_for(milliseconds(100));
  connection->SendAbout(FrameKind::kCredit, 1, 1 << 30);
  std::optional<RawBulk::Frame> frame = connection->Next();
  while (frame.has_value() && frame->header.kind == FrameKind::kMessage) frame = connection->Next();
  CHECK(static_cast<absl::StatusCode>(EndOf(frame).code()) == absl::StatusCode::kCancelled);
}

TEST_CASE_METHOD(BulkTest, "a server that stops says goodbye and ends what is under way",
                 "[bulk]") {
  Serve();
  const auto busy = Connect(GENERATE(proto::BULK_SOCKET_TCP, proto::BULK_SOCKET_UNIX));
  const auto idle = Connect();
  busy->Request(1, "FetchRows", RowsRequest(kNumNodes), 1);
  REQUIRE(busy->Next().has_value());
  std::future<void> stopped =
      std::async(std::launch::async, [&] { server_->Stop(absl::Seconds(60)); });
  std::optional<RawBulk::Frame> frame = busy->Next();
  REQUIRE(frame.has_value());
  CHECK(frame->header.kind == FrameKind::kGoodbye);
  busy->Request(2, "FetchRows", RowsRequest(1));
  frame = busy->Next();
  REQUIRE(frame.has_value());
  CHECK(frame->header.call == 2);
  CHECK(EndOf(frame).code() == static_cast<int>(grpc::StatusCode::UNAVAILABLE));
  busy->SendAbout(FrameKind::kCredit, 1, 1 << 30);
  int num_messages = 0;
  while ((frame = busy->Next()).has_value()) {
    CHECK(frame->header.call == 1);
    ++num_messages;
    if (frame->header.kind == FrameKind::kEnd) {
      const proto::BulkEnd end = EndOf(frame);
      CHECK(end.code() == 0);
      CHECK(end.stopping());
    }
  }
  CHECK(num_messages > 10);
  CHECK(busy->is_ended());
  frame = idle->Next();
  REQUIRE(frame.has_value());
  CHECK(frame->header.kind == FrameKind::kGoodbye);
  CHECK(idle->Ends());
  CHECK(stopped.wait_for(seconds(50)) == std::future_status::ready);
}

TEST_CASE_METHOD(BulkTest, "a server that stops waits no longer than it may", "[bulk]") {
  Serve();
  const auto connection = Connect();
  connection->Request(1, "FetchRows", RowsRequest(kNumNodes), 1);
  REQUIRE(connection->Next().has_value());
  server_->Stop(absl::Milliseconds(50));
  while (connection->Next().has_value()) continue;
  CHECK(connection->is_ended());
}

TEST_CASE_METHOD(BulkTest, "a client that goes in the middle of a reply leaves nothing", "[bulk]") {
  Serve();
  for (int i = 0; i < 20; ++i) {
    const auto connection = Connect(i % 2 == 0 ? proto::BULK_SOCKET_TCP : proto::BULK_SOCKET_UNIX);
    for (uint64_t call = 1; call <= 4; ++call) {
      connection->Request(call, "FetchRows", RowsRequest(kNumNodes), call % 2 == 0 ? 1 : 1 << 30);
    }
    REQUIRE(connection->Next().has_value());
  }
  // All that is still there would be waited for.
  server_->Stop(absl::Seconds(60));
}

TEST_CASE_METHOD(BulkTest, "connections that are idle take little memory", "[bulk]") {
  Serve();
  constexpr int kTimes = 25;
  constexpr int kAtOnce = 16;
  std::vector<std::unique_ptr<RawBulk>> connections;
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < kTimes; ++i) {
    const proto::OpenBulkReply place =
        Tickets(kAtOnce, i % 2 == 0 ? proto::BULK_SOCKET_TCP : proto::BULK_SOCKET_UNIX);
    for (const std::string& ticket : place.tickets()) {
      connections.push_back(std::make_unique<RawBulk>(place, ticket));
      CheckAnswers(connections.back().get(), 1);
    }
  }
  // With what this end takes.
  CHECK((mallinfo2().uordblks - before) / (kTimes * kAtOnce) < 32 << 10);
}

// The library's side.
class BulkClientTest : public BulkTest {
 protected:
  std::unique_ptr<ServerConnection> To(const std::string& address, Transport transport,
                                       proto::BulkSocket over = proto::BULK_SOCKET_ANY) {
    ConnectionOptions options;
    options.connect_timeout = seconds(60);
    options.call_timeout = call_timeout_;
    options.transport = transport;
    options.credentials = credentials_;
    options.tls_sessions = tls_sessions_;
    options.bulk_over = over;
    return std::make_unique<ServerConnection>(ServerEndpoint{"c", address, {ShardId{0}}}, options,
                                              &traffic_);
  }
  static absl::Status Connect(ServerConnection* connection) {
    FanOut calls;
    connection->Connect(nullptr, calls.Add());
    return calls.Wait();
  }
  // Connections of the bulk channel that a client has by default.
  static constexpr int kOfDefault = 4;
  // All of its connections, soon.
  static bool Opens(const ServerConnection& connection) {
    for (int i = 0; i < 6000 && connection.num_bulk() < kOfDefault; ++i) {
      std::this_thread::sleep_for(milliseconds(10));
    }
    return connection.num_bulk() == kOfDefault;
  }
  std::unique_ptr<ShardAccess> ShardOf(ServerConnection* connection) const {
    return MakeRemoteShard(ShardId{0}, dataset_->fingerprint(), connection, dataset_->schema(),
                           dataset_->book());
  }
  absl::Status FetchAll(ShardAccess* shard, std::string* rows, Cancellation* cancel = nullptr) {
    rows->assign(kNumNodes * kWidth * sizeof(float), '\0');
    ShardRows request;
    request.type = NodeTypeId{0};
    request.column = 0;
    request.row_bytes = kWidth * sizeof(float);
    request.count = kNumNodes;
    request.out = rows->data();
    FanOut calls;
    shard->Ask(request, cancel, calls.Add());
    return calls.Wait();
  }

  milliseconds call_timeout_{60'000};
  std::shared_ptr<grpc::ChannelCredentials> credentials_;
  std::shared_ptr<TlsSessions> tls_sessions_;
  TrafficCounters traffic_;
};

// A server with TLS that asks for no certificates, and clients with its CA.
class BulkTlsTest : public BulkClientTest {
 protected:
  BulkTlsTest() {
    const testing::CertificateAuthority authority("ours");
    WriteIssued(authority.Issue({}), folder_.File("tls"), "server");
    security_.tls.certificate = folder_.File("tls/server.pem");
    security_.tls.key = folder_.File("tls/server.key");
    security_.open = true;
    Serve();
    Trust(authority, &credentials_);
  }
  // Of the bulk channel alone, unless gRPC's are wanted, too.
  void Trust(const testing::CertificateAuthority& authority,
             std::shared_ptr<grpc::ChannelCredentials>* for_grpc = nullptr) {
    CredentialOptions options;
    options.ca = folder_.File(absl::StrCat("ca-", ++num_authorities_, ".pem"));
    testing::WriteSecret(options.ca, authority.certificate());
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto loaded, ClientCredentials::Load(options, nullptr));
    tls_sessions_ = loaded->tls_sessions();
    if (for_grpc == nullptr) return;
    VICINITY_ASSERT_OK_AND_ASSIGN(*for_grpc, loaded->For(address()));
  }

 private:
  int num_authorities_ = 0;
};

TEST_CASE_METHOD(BulkTlsTest, "over TCP rows come by TLS where the server has it", "[bulk]") {
  const proto::BulkSocket over =
      GENERATE(proto::BULK_SOCKET_TCP, proto::BULK_SOCKET_UNIX, proto::BULK_SOCKET_ANY);
  const auto connection = To(address(), Transport::kBulk, over);
  VICINITY_REQUIRE_OK(Connect(connection.get()));
  const auto shard = ShardOf(connection.get());
  std::vector<std::thread> threads;
  std::atomic<int> num_right{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        std::string rows;
        if (FetchAll(shard.get(), &rows).ok() && rows == graph_.nodes[0].columns[0]) ++num_right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(num_right == 40);
}

TEST_CASE_METHOD(BulkTlsTest, "a client goes on by gRPC when it does not believe the channel",
                 "[bulk]") {
  const testing::CertificateAuthority other("theirs");
  Trust(other);
  const auto connection = To(address(), Transport::kBulk, proto::BULK_SOCKET_TCP);
  const absl::Status refused = Connect(connection.get());
  VICINITY_CHECK_CODE(refused, absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(refused.message()), Catch::Contains("certificate"));
  const auto by_default = To(address(), Transport::kAuto, proto::BULK_SOCKET_TCP);
  VICINITY_REQUIRE_OK(Connect(by_default.get()));
  std::string rows;
  VICINITY_CHECK_OK(FetchAll(ShardOf(by_default.get()).get(), &rows));
  CHECK((rows == graph_.nodes[0].columns[0]));
  CHECK(by_default->num_bulk() == 0);
}

TEST_CASE_METHOD(BulkTlsTest, "who does not speak TLS loses the connection", "[bulk]") {
  const std::string described = server_->Describe();
  const std::string before = "bulk on port ";
  proto::OpenBulkReply place;
  place.set_port(std::stoi(described.substr(described.find(before) + before.size())));
  RawBulk plain(place);
  SECTION("sends frames") {
    plain.Open(std::string(32, 't'));
    CHECK(plain.Ends());
  }
  SECTION("says nothing and goes") {}
  const auto connection = To(address(), Transport::kBulk, proto::BULK_SOCKET_TCP);
  VICINITY_CHECK_OK(Connect(connection.get()));
}

TEST_CASE_METHOD(BulkClientTest, "the channel is taken where it is there, or asked for", "[bulk]") {
  SECTION("it is there") {
    Serve();
    const auto by_default = To(address(), Transport::kAuto);
    VICINITY_REQUIRE_OK(Connect(by_default.get()));
    CHECK(Opens(*by_default));
    const auto by_grpc = To(address(), Transport::kGrpc);
    VICINITY_REQUIRE_OK(Connect(by_grpc.get()));
    CHECK(by_grpc->num_bulk() == 0);
  }
  SECTION("it is not") {
    ServerOptions options;
    options.data = folder_.File("graph");
    VICINITY_ASSERT_OK_AND_ASSIGN(server_, Server::Start(options));
    const auto by_default = To(address(), Transport::kAuto);
    VICINITY_REQUIRE_OK(Connect(by_default.get()));
    CHECK(by_default->num_bulk() == 0);
    std::string rows;
    VICINITY_CHECK_OK(FetchAll(ShardOf(by_default.get()).get(), &rows));
    CHECK((rows == graph_.nodes[0].columns[0]));
    VICINITY_CHECK_CODE(Connect(To(address(), Transport::kBulk).get()),
                        absl::StatusCode::kFailedPrecondition);
  }
}

TEST_CASE_METHOD(BulkClientTest, "which way calls went is counted", "[bulk]") {
  Serve();
  const bool by_tcp = GENERATE(true, false);
  const auto connection =
      To(address(), Transport::kBulk, by_tcp ? proto::BULK_SOCKET_TCP : proto::BULK_SOCKET_UNIX);
  VICINITY_REQUIRE_OK(Connect(connection.get()));
  std::string rows;
  VICINITY_REQUIRE_OK(FetchAll(ShardOf(connection.get()).get(), &rows));
  const auto num_bytes = static_cast<int64_t>(rows.size());
  const TrafficStats first = traffic_.Read();
  CHECK(first.bulk_tcp_calls == (by_tcp ? 1 : 0));
  CHECK(first.bulk_unix_calls == (by_tcp ? 0 : 1));
  CHECK(first.bulk_tcp_bytes_received == (by_tcp ? num_bytes : 0));
  CHECK(first.bulk_unix_bytes_received == (by_tcp ? 0 : num_bytes));
  const auto by_grpc = To(address(), Transport::kGrpc);
  VICINITY_REQUIRE_OK(Connect(by_grpc.get()));
  VICINITY_REQUIRE_OK(FetchAll(ShardOf(by_grpc.get()).get(), &rows));
  const TrafficStats both = traffic_.Read();
  CHECK(both.bytes_received == 2 * num_bytes);
  CHECK(both.bulk_tcp_calls + both.bulk_unix_calls == 1);
  CHECK(both.bulk_tcp_bytes_received + both.bulk_unix_bytes_received == num_bytes);
}

TEST_CASE_METHOD(BulkClientTest, "what a connection may is asked for each call, as it is then",
                 "[bulk]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string token, MakeToken());
  testing::WriteSecret(folder_.File("token"), token);
  const auto grant = [&](const std::string& hashed) {
    testing::WriteSecret(folder_.File("access"),
                         absl::StrCat("grants { name: \"r\" role: READ token_sha256: \"",
                                      absl::BytesToHexString(HashToken(hashed)), "\" }"));
  };
  grant(token);
  security_.access_file = folder_.File("access");
  Serve();
  VICINITY_CHECK_CODE(AskForTickets(address(), 1, proto::BULK_SOCKET_ANY),
                      absl::StatusCode::kUnauthenticated);
  CredentialOptions shown;
  shown.token_file = folder_.File("token");
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto loaded, ClientCredentials::Load(shown, nullptr));
  VICINITY_ASSERT_OK_AND_ASSIGN(credentials_, loaded->For(address()));
  const auto connection = To(address(), Transport::kBulk);
  VICINITY_REQUIRE_OK(Connect(connection.get()));
  const auto shard = ShardOf(connection.get());
  std::string rows;
  VICINITY_CHECK_OK(FetchAll(shard.get(), &rows));
  grant("another");
  VICINITY_REQUIRE_OK(server_->ReloadCredentials());
  // Once by the connection that it was opened with, which may be asked again, then as it is.
  VICINITY_CHECK_CODE(FetchAll(shard.get(), &rows), absl::StatusCode::kUnavailable);
  CHECK(connection->num_bulk() == 0);
  VICINITY_CHECK_CODE(FetchAll(shard.get(), &rows), absl::StatusCode::kUnauthenticated);
  grant(token);
  VICINITY_REQUIRE_OK(server_->ReloadCredentials());
  for (int i = 0; i < 6000 && connection->num_bulk() < kOfDefault; ++i) {
    VICINITY_REQUIRE_OK(FetchAll(shard.get(), &rows));
    std::this_thread::sleep_for(milliseconds(10));
  }
  CHECK(connection->num_bulk() == kOfDefault);  // with new tickets
}

TEST_CASE_METHOD(BulkClientTest, "a client may go while the channel is still being opened",
                 "[bulk]") {
  Serve();
  for (int i = 0; i < 200; ++i) {
    const auto connection = To(address(), Transport::kAuto);
    VICINITY_REQUIRE_OK(Connect(connection.get()));
    std::this_thread::sleep_for(std::chrono::microseconds(i % 20 * 50));
  }
}

TEST_CASE_METHOD(BulkClientTest, "calls go on by gRPC, and by the channel again, when it was gone",
                 "[bulk]") {
  Serve();
  const int port = server_->address().port;
  const auto connection =
      To(address(), Transport::kAuto, GENERATE(proto::BULK_SOCKET_TCP, proto::BULK_SOCKET_UNIX));
  VICINITY_REQUIRE_OK(Connect(connection.get()));
  REQUIRE(Opens(*connection));
  const auto shard = ShardOf(connection.get());
  std::string rows;
  VICINITY_REQUIRE_OK(FetchAll(shard.get(), &rows));
  server_.reset();
  Serve(port);
  // What fails meanwhile, others try again.
  bool is_bulk = false;
  for (int i = 0; i < 3000 && !is_bulk; ++i) {
    const absl::Status status = FetchAll(shard.get(), &rows);
    if (!status.ok()) VICINITY_CHECK_CODE(status, absl::StatusCode::kUnavailable);
    is_bulk = status.ok() && connection->num_bulk() == kOfDefault;
    std::this_thread::sleep_for(milliseconds(20));
  }
  CHECK(is_bulk);
  CHECK((rows == graph_.nodes[0].columns[0]));
}

TEST_CASE_METHOD(BulkClientTest, "calls that are cancelled or late end so, and others are answered",
                 "[bulk]") {
  Serve();
  call_timeout_ = milliseconds(GENERATE(1, 60'000));
  const auto connection = To(address(), Transport::kBulk);
  VICINITY_REQUIRE_OK(Connect(connection.get()));
  const auto shard = ShardOf(connection.get());
  std::vector<std::thread> threads;
  Mutex mu;
  std::vector<std::string> wrong;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        Cancellation cancel;
        std::string rows;
        std::thread canceller([&] {
          std::this_thread::sleep_for(std::chrono::microseconds(100 * (i % 40) * (t + 1)));
          if (call_timeout_ > seconds(1)) cancel.Cancel();
        });
        const absl::Status status = FetchAll(shard.get(), &rows, &cancel);
        canceller.join();
        const bool fine = status.ok()
                              ? rows == graph_.nodes[0].columns[0]
                              : absl::IsCancelled(status) || absl::IsDeadlineExceeded(status) ||
                                    absl::IsUnavailable(status);
        MutexLock lock(&mu);
        if (!fine) wrong.push_back(status.ToString());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<std::string>());
}

}  // namespace
}  // namespace vicinity
