// A real server in this process, called over the loopback device.
#include "server/server.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>
#include <spdlog/sinks/ostream_sink.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/grpc_status.h"
#include "proto/common/ids.h"
#include "proto/common/random.h"
#include "proto/health.grpc.pb.h"
#include "proto/service.grpc.pb.h"
#include "proto/telemetry/trace_context.h"
#include "proto/version.h"
#include "proto/wire_checksum.h"
#include "sampler/one_hop.h"
#include "server/logging/logging.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::MemoryGraph;

// Servers of a graph cut into three, in a folder of the test's own.
class ServerTest {
 public:
  ServerTest() { Write(testing::TypedGraph(200, 100, 50, 3)); }

 protected:
  void Write(const MemoryGraph& graph) {
    directory_ = folder_.File(absl::StrCat("graph", ++num_written_));
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 3, 17), directory_));
    auto dataset = Dataset::Open(directory_);
    VICINITY_REQUIRE_OK(dataset);
    oracle_ = *std::move(dataset);
  }

  ServerOptions Options(std::vector<ShardId> shards = {}) const {
    ServerOptions options;
    options.data = directory_;
    options.shards = std::move(shards);
    options.limits.max_chunk_bytes = 256;
    return options;
  }
  static std::unique_ptr<Server> Start(const ServerOptions& options) {
    auto server = Server::Start(options);
    VICINITY_REQUIRE_OK(server);
    return *std::move(server);
  }
  static std::shared_ptr<grpc::Channel> Connect(const Server& server) {
    return grpc::CreateChannel(server.address().ToString(), grpc::InsecureChannelCredentials());
  }
  static void SetDeadline(grpc::ClientContext* context) {
    context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  }

  // All chunks of a streamed reply.
  template <typename Chunk, typename Reader>
  static absl::Status ReadAll(Reader reader, std::vector<Chunk>* chunks) {
    Chunk chunk;
    while (reader->Read(&chunk)) chunks->push_back(chunk);
    return FromGrpc(reader->Finish());
  }
  absl::Status Fetch(proto::Graph::Stub* stub, const proto::RowsRequest& request,
                     std::vector<proto::RowsChunk>* chunks) const {
    grpc::ClientContext context;
    SetDeadline(&context);
    return ReadAll(stub->FetchRows(&context, request), chunks);
  }

  // The first column of users, all rows of a shard.
  proto::RowsRequest AllUsers(int32_t shard) const {
    proto::RowsRequest request;
    request.set_fingerprint(oracle_->fingerprint());
    request.set_shard(shard);
    request.set_count(oracle_->shard(ShardId{shard})->nodes(NodeTypeId{0}).num_nodes());
    return request;
  }

  const testing::TempDir folder_;
  int num_written_ = 0;
  std::string directory_;
  std::unique_ptr<Dataset> oracle_;
};

TEST_CASE_METHOD(ServerTest, "hello, describe and status answer", "[server]") {
  const auto server = Start(Options({ShardId{1}}));
  const auto stub = proto::Graph::NewStub(Connect(*server));
  CHECK_THAT(server->Describe(), Catch::Contains("shards 1 of"));

  grpc::ClientContext hello_context;
  SetDeadline(&hello_context);
  proto::HelloRequest hello;
  hello.set_protocol_version(kProtocolVersion);
  proto::HelloReply greeting;
  VICINITY_REQUIRE_OK(FromGrpc(stub->Hello(&hello_context, hello, &greeting)));
  CHECK(greeting.fingerprint() == oracle_->fingerprint());
  CHECK(greeting.limits().max_chunk_bytes() == 256);

  grpc::ClientContext describe_context;
  SetDeadline(&describe_context);
  proto::DescribeReply description;
  VICINITY_REQUIRE_OK(FromGrpc(stub->Describe(&describe_context, {}, &description)));
  CHECK(description.schema().node_types_size() == 3);

  grpc::ClientContext status_context;
  SetDeadline(&status_context);
  proto::StatusReply status;
  VICINITY_REQUIRE_OK(FromGrpc(stub->Status(&status_context, {}, &status)));
  REQUIRE(status.methods_size() > 0);
  CHECK(status.methods(0).method() == "Hello");
  CHECK(status.methods(0).started() == 1);
  CHECK(status.methods(0).failed() == 0);
  // Calls count as over when gRPC says so, a moment after their answers came.
  for (int i = 0; i < 1000 && status.calls_in_flight() > 1; ++i) {
    grpc::ClientContext asking_again;
    SetDeadline(&asking_again);
    VICINITY_REQUIRE_OK(FromGrpc(stub->Status(&asking_again, {}, &status)));
  }
  CHECK(status.calls_in_flight() == 1);
}

TEST_CASE_METHOD(ServerTest, "a request that changed on the way is refused, whatever it asks now",
                 "[server]") {
  const auto server = Start(Options());
  const auto stub = proto::Graph::NewStub(Connect(*server));
  proto::RowsRequest request = AllUsers(0);
  request.set_checksum(RequestChecksum("FetchRows", request));
  std::vector<proto::RowsChunk> chunks;
  VICINITY_CHECK_OK(Fetch(stub.get(), request, &chunks));
  for (const proto::RowsChunk& chunk : chunks) {
    CHECK(chunk.checksum() == ReplyChecksum(request.checksum(), chunk));
  }
  chunks.clear();
  request.set_column(99);
  VICINITY_CHECK_CODE(Fetch(stub.get(), request, &chunks), absl::StatusCode::kAborted);
  CHECK(chunks.empty());
}

TEST_CASE_METHOD(ServerTest, "rows over the wire are the mapped rows, chunk by chunk", "[server]") {
  const auto server = Start(Options());
  const auto stub = proto::Graph::NewStub(Connect(*server));
  size_t num_chunks = 0;
  for (int32_t shard = 0; shard < 3; ++shard) {
    const proto::RowsRequest request = AllUsers(shard);
    std::vector<proto::RowsChunk> chunks;
    VICINITY_REQUIRE_OK(Fetch(stub.get(), request, &chunks));
    num_chunks += chunks.size();
    std::string rows;
    for (const proto::RowsChunk& chunk : chunks) rows += chunk.rows();
    const ColumnView& mapped = oracle_->shard(ShardId{shard})->nodes(NodeTypeId{0}).columns[0];
    CHECK(rows == std::string(mapped.data, mapped.num_rows * mapped.row_bytes));
  }
  CHECK(num_chunks > 6);
}

TEST_CASE_METHOD(ServerTest, "a hop over the wire is what the sampler draws, byte for byte",
                 "[server]") {
  const auto server = Start(Options());
  const auto stub = proto::Graph::NewStub(Connect(*server));
  const EdgeTypeId edge_type{oracle_->schema().FindEdgeType("user:knows:user")};
  const Shard& shard = *oracle_->shard(ShardId{2});
  std::vector<uint64_t> targets(shard.nodes(NodeTypeId{0}).num_nodes());
  std::iota(targets.begin(), targets.end(), 0);

  proto::SampleRequest request;
  request.set_fingerprint(oracle_->fingerprint());
  request.set_shard(2);
  request.mutable_draw()->set_run_seed(1);
  request.mutable_draw()->set_epoch(2);
  request.mutable_draw()->set_batch(3);
  request.mutable_draw()->set_hop(4);
  request.set_want_edge_ids(true);
  request.add_relations()->set_edge_type(edge_type.value);
  request.mutable_relations(0)->mutable_spec()->set_fanout(2);
  request.mutable_relations(0)->set_num_targets(targets.size());
  request.set_targets(targets.data(), targets.size() * sizeof(uint64_t));
  grpc::ClientContext context;
  SetDeadline(&context);
  std::vector<proto::SampleChunk> chunks;
  VICINITY_REQUIRE_OK(ReadAll(stub->SampleNeighbors(&context, request), &chunks));

  OneHopOptions options;
  options.fanout = 2;
  options.want_edge_ids = true;
  options.stream = StreamKey({1, 2, 3, 4, edge_type.value});
  Neighbors expected;
  VICINITY_REQUIRE_OK(SampleOneHop(shard.edges(edge_type), shard.nodes(NodeTypeId{0}).keys, targets,
                                   options, &expected));
  std::string counts;
  std::string sources;
  std::string edge_ids;
  for (const proto::SampleChunk& chunk : chunks) {
    counts += chunk.counts();
    sources += chunk.sources();
    edge_ids += chunk.edge_ids();
  }
  const auto bytes = [](const auto& values) {
    return std::string(reinterpret_cast<const char*>(values.data()),
                       values.size() * sizeof(values[0]));
  };
  CHECK(chunks.size() > 1);
  CHECK(counts == bytes(expected.counts));
  CHECK(sources == bytes(expected.sources));
  CHECK(edge_ids == bytes(expected.edge_ids));
}

TEST_CASE_METHOD(ServerTest, "unknown keys get an answer each over the wire", "[server]") {
  const auto server = Start(Options());
  const auto stub = proto::Graph::NewStub(Connect(*server));
  std::vector<uint64_t> keys;
  for (uint64_t key = 1'000'000; keys.size() < 20; ++key) {
    if (oracle_->book().DirectoryShard(key).value == 1) keys.push_back(key);
  }
  proto::ResolveRequest request;
  request.set_fingerprint(oracle_->fingerprint());
  request.set_shard(1);
  request.set_node_type(2);
  request.set_keys(keys.data(), keys.size() * sizeof(uint64_t));
  grpc::ClientContext context;
  SetDeadline(&context);
  proto::ResolveReply reply;
  VICINITY_REQUIRE_OK(FromGrpc(stub->ResolveKeys(&context, request, &reply)));
  CHECK(reply.global_ids() == std::string(keys.size() * sizeof(int64_t), '\xff'));
}

TEST_CASE_METHOD(ServerTest, "refusals keep their code and text over the wire", "[server]") {
  const auto server = Start(Options({ShardId{0}}));
  const auto stub = proto::Graph::NewStub(Connect(*server));
  std::vector<proto::RowsChunk> chunks;

  proto::RowsRequest other = AllUsers(0);
  other.set_fingerprint(1);
  const absl::Status mismatch = Fetch(stub.get(), other, &chunks);
  VICINITY_CHECK_CODE(mismatch, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(mismatch.message()), Catch::Contains("0000000000000001"));

  const absl::Status elsewhere = Fetch(stub.get(), AllUsers(1), &chunks);
  VICINITY_CHECK_CODE(elsewhere, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(elsewhere.message()), Catch::Contains("shard 1"));

  proto::RowsRequest too_far = AllUsers(0);
  too_far.set_first(1);
  VICINITY_CHECK_CODE(Fetch(stub.get(), too_far, &chunks), absl::StatusCode::kInvalidArgument);

  proto::RowsRequest huge;
  huge.set_rows(std::string(size_t{9} << 20, 'x'));
  VICINITY_CHECK_CODE(Fetch(stub.get(), huge, &chunks), absl::StatusCode::kResourceExhausted);
  CHECK(chunks.empty());

  // The server lives on.
  VICINITY_CHECK_OK(Fetch(stub.get(), AllUsers(0), &chunks));
}

TEST_CASE_METHOD(ServerTest, "the log tells which of its caller's operations failed", "[server]") {
  std::ostringstream out;
  ServerOptions options = Options({ShardId{0}});
  options.log = MakeLogger(LogFormat::kText, spdlog::level::debug,
                           std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
  auto server = Start(options);
  const auto stub = proto::Graph::NewStub(Connect(*server));
  const TraceContext trace = StartTrace();
  for (const std::string& text : {Traceparent(trace), std::string("00-not-a-trace-01")}) {
    grpc::ClientContext context;
    SetDeadline(&context);
    context.AddMetadata(kTraceparent, text);
    std::vector<proto::RowsChunk> chunks;
    VICINITY_CHECK_CODE(ReadAll(stub->FetchRows(&context, AllUsers(1)), &chunks),
                        absl::StatusCode::kFailedPrecondition);
  }
  server.reset();  // nobody writes any more
  CHECK_THAT(out.str(), Catch::Contains("FetchRows for ") &&
                            Catch::Contains("[trace " + TraceId(trace) + "]"));
  CHECK_THAT(out.str(), !Catch::Contains("not-a-trace"));
}

using grpc::health::v1::HealthCheckResponse;

absl::StatusOr<HealthCheckResponse::ServingStatus> CheckHealth(
    const std::shared_ptr<grpc::Channel>& channel, const std::string& service) {
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(service);
  HealthCheckResponse response;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  const grpc::Status status =
      grpc::health::v1::Health::NewStub(channel)->Check(&context, request, &response);
  if (!status.ok()) return FromGrpc(status);
  return response.status();
}

// The reply of gRPC's server reflection to "which services are there", unparsed: its messages are
// not among the installed headers.
std::string ReflectedServices(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  grpc::GenericStub stub(channel);
  const auto call = stub.PrepareCall(
      &context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  const auto wait = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  call->StartCall(nullptr);
  REQUIRE(wait());
  const grpc::Slice list_services("\x3a\x01*");  // field 7, a string
  call->WriteLast(grpc::ByteBuffer(&list_services, 1), grpc::WriteOptions(), nullptr);
  REQUIRE(wait());
  grpc::ByteBuffer reply;
  call->Read(&reply, nullptr);
  REQUIRE(wait());
  grpc::Status status;
  call->Finish(&status, nullptr);
  wait();
  queue.Shutdown();
  std::vector<grpc::Slice> slices;
  REQUIRE(reply.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

TEST_CASE_METHOD(ServerTest, "health and reflection answer", "[server]") {
  const auto server = Start(Options());
  const auto channel = Connect(*server);
  for (const char* service : {"", "vicinity.proto.Graph", "live"}) {
    CAPTURE(service);
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto status, CheckHealth(channel, service));
    CHECK(status == HealthCheckResponse::SERVING);
  }
  VICINITY_CHECK_CODE(CheckHealth(channel, "no.such.Service"), absl::StatusCode::kNotFound);
  CHECK_THAT(ReflectedServices(channel), Catch::Contains("vicinity.proto.Graph"));
}

// One call of the health service's Watch.
class Watch {
 public:
  Watch(const std::shared_ptr<grpc::Channel>& channel, const std::string& service)
      : stub_(grpc::health::v1::Health::NewStub(channel)) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(service);
    reader_ = stub_->Watch(&context_, request);
  }
  // The next state; UNKNOWN when there is none any more.
  HealthCheckResponse::ServingStatus Next() {
    HealthCheckResponse response;
    return reader_->Read(&response) ? response.status() : HealthCheckResponse::UNKNOWN;
  }
  absl::Status End() { return FromGrpc(reader_->Finish()); }
  void Cancel() { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::health::v1::Health::Stub> stub_;
  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader_;
};

TEST_CASE_METHOD(ServerTest,
                 "who watches a server's health hears that it stops, and holds it not up",
                 "[server]") {
  const auto server = Start(Options());
  const auto channel = Connect(*server);
  Watch graph(channel, "vicinity.proto.Graph");
  Watch unknown(channel, "no.such.Service");
  Watch given_up(channel, "");
  CHECK(graph.Next() == HealthCheckResponse::SERVING);
  CHECK(unknown.Next() == HealthCheckResponse::SERVICE_UNKNOWN);
  CHECK(given_up.Next() == HealthCheckResponse::SERVING);
  given_up.Cancel();
  VICINITY_CHECK_CODE(given_up.End(), absl::StatusCode::kCancelled);
  const auto began = std::chrono::steady_clock::now();
  std::thread stopping([&server] { server->Stop(absl::Seconds(20)); });
  CHECK(graph.Next() == HealthCheckResponse::NOT_SERVING);
  CHECK(graph.Next() == HealthCheckResponse::UNKNOWN);
  VICINITY_CHECK_CODE(graph.End(), absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(unknown.End(), absl::StatusCode::kUnavailable);
  stopping.join();
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(15));
}

TEST_CASE_METHOD(ServerTest, "watches of one machine are bounded", "[server]") {
  const auto server = Start(Options());
  const auto channel = Connect(*server);
  std::vector<std::unique_ptr<Watch>> watches;
  for (int i = 0; i < 64; ++i) {
    watches.push_back(std::make_unique<Watch>(channel, ""));
    REQUIRE(watches.back()->Next() == HealthCheckResponse::SERVING);
  }
  Watch one_more(channel, "");
  CHECK(one_more.Next() == HealthCheckResponse::UNKNOWN);
  VICINITY_CHECK_CODE(one_more.End(), absl::StatusCode::kResourceExhausted);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto status, CheckHealth(channel, ""));
  CHECK(status == HealthCheckResponse::SERVING);
  for (const auto& watch : watches) watch->Cancel();
}

TEST_CASE_METHOD(ServerTest, "an unknown method is told from a request that cannot be read",
                 "[server]") {
  const auto server = Start(Options());
  const auto call = [channel = Connect(*server)](const std::string& method) {
    grpc::GenericStub stub(channel);
    grpc::CompletionQueue queue;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    const grpc::Slice bytes("\xff\xff\xff");
    const auto reader =
        stub.PrepareUnaryCall(&context, method, grpc::ByteBuffer(&bytes, 1), &queue);
    reader->StartCall();
    grpc::ByteBuffer reply;
    grpc::Status status;
    reader->Finish(&reply, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    REQUIRE(queue.Next(&tag, &ok));
    queue.Shutdown();
    return FromGrpc(status);
  };
  VICINITY_CHECK_CODE(call("/vicinity.proto.Graph/Nothing"), absl::StatusCode::kUnimplemented);
  VICINITY_CHECK_CODE(call("/other.Service/Method"), absl::StatusCode::kUnimplemented);
  VICINITY_CHECK_CODE(call("/vicinity.proto.Graph/FetchRows"), absl::StatusCode::kAborted);
  VICINITY_CHECK_CODE(call("/grpc.health.v1.Health/Check"), absl::StatusCode::kAborted);
}

TEST_CASE_METHOD(ServerTest, "a port in use is an error that names it", "[server]") {
  const auto first = Start(Options());
  ServerOptions options = Options();
  options.listen = first->address();
  const absl::Status status = Server::Start(options).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(status.message()), Catch::Contains(first->address().ToString()));
}

TEST_CASE_METHOD(ServerTest, "a stopped server's port can be had at once", "[server]") {
  auto first = Start(Options());
  ServerOptions options = Options();
  options.listen = first->address();
  std::vector<proto::RowsChunk> chunks;
  VICINITY_CHECK_OK(Fetch(proto::Graph::NewStub(Connect(*first)).get(), AllUsers(0), &chunks));
  first->Stop(absl::ZeroDuration());
  first->Stop(absl::ZeroDuration());
  VICINITY_CHECK_OK(Server::Start(options));
}

TEST_CASE_METHOD(ServerTest, "other machines' addresses need to be allowed", "[server]") {
  ServerOptions options = Options();
  options.listen = {"0.0.0.0", 0};
  VICINITY_CHECK_CODE(Server::Start(options), absl::StatusCode::kInvalidArgument);
  options.security.open = true;
  VICINITY_CHECK_OK(Server::Start(options));
  options.listen = {"192.0.2.1", 0};
  VICINITY_CHECK_CODE(Server::Start(options), absl::StatusCode::kInvalidArgument);
}

TEST_CASE_METHOD(ServerTest, "a server does not start without its data", "[server]") {
  ServerOptions missing = Options();
  missing.data = folder_.File("nothing");
  VICINITY_CHECK_CODE(Server::Start(missing), absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(Server::Start(Options({ShardId{3}})), absl::StatusCode::kNotFound);
  ServerOptions miscounted = Options();
  miscounted.num_shards = 4;
  VICINITY_CHECK_CODE(Server::Start(miscounted), absl::StatusCode::kFailedPrecondition);
  ServerOptions limits = Options();
  limits.limits.max_ids = 0;
  VICINITY_CHECK_CODE(Server::Start(limits), absl::StatusCode::kInvalidArgument);
}

// Rows of a megabyte more than the windows between two ends hold.
MemoryGraph WideGraph() {
  testing::RandomGraphOptions options;
  options.num_nodes = 3000;
  options.num_edges = 1;
  options.feature_width = 4096;
  return testing::RandomGraph(options);
}

TEST_CASE_METHOD(ServerTest, "stopping ends in bounded time while a client does not read",
                 "[server]") {
  Write(WideGraph());
  const auto server = Start(Options());
  const auto stub = proto::Graph::NewStub(Connect(*server));
  grpc::ClientContext context;
  SetDeadline(&context);
  const auto reader = stub->FetchRows(&context, AllUsers(0));
  proto::RowsChunk chunk;
  REQUIRE(reader->Read(&chunk));
  const absl::Time begun = absl::Now();
  server->Stop(absl::Milliseconds(200));
  CHECK(absl::Now() - begun < absl::Seconds(10));
  while (reader->Read(&chunk)) {
  }
  CHECK_FALSE(reader->Finish().ok());
}

TEST_CASE_METHOD(ServerTest, "calls under way end well while the server drains", "[server]") {
  Write(WideGraph());
  const auto server = Start(Options());
  const auto stub = proto::Graph::NewStub(Connect(*server));
  grpc::ClientContext context;
  SetDeadline(&context);
  const auto reader = stub->FetchRows(&context, AllUsers(0));
  proto::RowsChunk chunk;
  REQUIRE(reader->Read(&chunk));
  std::thread stopping([&server] { server->Stop(absl::Seconds(30)); });
  uint64_t bytes = chunk.rows().size();
  while (reader->Read(&chunk)) bytes += chunk.rows().size();
  VICINITY_CHECK_OK(FromGrpc(reader->Finish()));
  CHECK(bytes == AllUsers(0).count() * 4096 * sizeof(float));
  stopping.join();
}

TEST_CASE_METHOD(ServerTest, "a call whose deadline is over is given up", "[server]") {
  Write(WideGraph());
  const auto server = Start(Options());
  const auto stub = proto::Graph::NewStub(Connect(*server));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
  const auto reader = stub->FetchRows(&context, AllUsers(0));
  proto::RowsChunk chunk;
  reader->Read(&chunk);  // and no more until the deadline has passed for sure
  VICINITY_CHECK_CODE(FromGrpc(reader->Finish()), absl::StatusCode::kDeadlineExceeded);
  // Only the asking call itself is left.
  proto::StatusReply status;
  const absl::Time limit = absl::Now() + absl::Seconds(20);
  do {
    grpc::ClientContext asking;
    SetDeadline(&asking);
    VICINITY_REQUIRE_OK(FromGrpc(stub->Status(&asking, {}, &status)));
  } while (status.calls_in_flight() > 1 && absl::Now() < limit);
  CHECK(status.calls_in_flight() == 1);
}

TEST_CASE_METHOD(ServerTest, "calls beyond those a client may have get refused, not stuck",
                 "[server]") {
  Write(WideGraph());
  ServerOptions options = Options();
  options.admission.max_client_calls = 4;
  const auto server = Start(options);
  const auto channel = Connect(*server);
  const auto stub = proto::Graph::NewStub(channel);
  // Streams that nobody reads on hold their place.
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<proto::RowsChunk>>> readers;
  absl::Status refused;
  for (int i = 0; i < 8 && refused.ok(); ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    SetDeadline(contexts.back().get());
    readers.push_back(stub->FetchRows(contexts.back().get(), AllUsers(0)));
    proto::RowsChunk chunk;
    if (!readers.back()->Read(&chunk)) refused = FromGrpc(readers.back()->Finish());
  }
  VICINITY_CHECK_CODE(refused, absl::StatusCode::kResourceExhausted);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto health, CheckHealth(channel, ""));
  CHECK(health == HealthCheckResponse::SERVING);
  for (const auto& context : contexts) context->TryCancel();
  readers.pop_back();  // has finished
  for (const auto& reader : readers) {
    VICINITY_CHECK_CODE(FromGrpc(reader->Finish()), absl::StatusCode::kCancelled);
  }
}

TEST_CASE_METHOD(ServerTest,
                 "a damaged page is found by who asks for it first, and its shard refused",
                 "[server]") {
  const std::string victim = "shard-00001/nodes.user.column.features";
  testing::FlipBit(absl::StrCat(directory_, "/", victim), 64);
  const auto server = Start(Options());
  const auto stub = proto::Graph::NewStub(Connect(*server));
  std::vector<proto::RowsChunk> chunks;
  const absl::Status status = Fetch(stub.get(), AllUsers(1), &chunks);
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(status.message()), Catch::Contains(victim));
  CHECK_THAT(std::string(status.message()), Catch::Contains("the page at byte 0"));
  CHECK(chunks.empty());
  VICINITY_CHECK_OK(Fetch(stub.get(), AllUsers(0), &chunks));
}

TEST_CASE_METHOD(ServerTest, "one damaged small file takes its shard out, not the server",
                 "[server]") {
  const std::string victim = "shard-00001/nodes.user.keys";
  std::filesystem::remove(absl::StrCat(directory_, "/", victim));
  const auto server = Start(Options());
  const auto stub = proto::Graph::NewStub(Connect(*server));
  std::vector<proto::RowsChunk> chunks;
  const absl::Status status = Fetch(stub.get(), AllUsers(1), &chunks);
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(status.message()), Catch::Contains(victim));
  VICINITY_CHECK_OK(Fetch(stub.get(), AllUsers(0), &chunks));
  grpc::ClientContext context;
  SetDeadline(&context);
  proto::StatusReply reply;
  REQUIRE(stub->Status(&context, proto::StatusRequest(), &reply).ok());
  REQUIRE(reply.shards_size() == 3);
  CHECK_THAT(reply.shards(1).fault(), Catch::Contains(victim));
}

}  // namespace
}  // namespace vicinity
