#include "client/rpc/remote_shard.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/rpc/server_connection.h"
#include "client/rpc/wire_array.h"
#include "client/shards/cancellation.h"
#include "client/shards/fan_out.h"
#include "client/shards/traffic.h"
#include "partition/dataset/book.h"
#include "partition/schema/schema.h"
#include "proto/common/retry_delay.h"
#include "proto/telemetry/trace_context.h"
#include "tests/client/scripted_server.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::ScriptedServer;

constexpr NodeTypeId kNode{0};

// One shard of 100 nodes with one edge type, behind a scripted server.
struct Remote {
  ScriptedServer server;
  TrafficCounters traffic;
  Schema schema;
  std::unique_ptr<Book> book;
  std::unique_ptr<ServerConnection> connection;
  std::unique_ptr<ShardAccess> shard;

  explicit Remote(int64_t max_ids = 1000,
                  std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
    server.hello.mutable_limits()->set_max_ids(max_ids);
    schema.node_types.resize(1);
    schema.node_types[0].name = "node";
    schema.node_types[0].columns = {{"x", DType::kInt32, {}}};
    schema.edge_types = {{0, "links", 0, {}}};
    VICINITY_ASSERT_OK_AND_ASSIGN(Book made, Book::Create({{0, 100}}));
    book = std::make_unique<Book>(std::move(made));
    ConnectionOptions options;
    options.call_timeout = timeout;
    options.channels = 2;
    connection = std::make_unique<ServerConnection>(
        ServerEndpoint{"a", server.address(), {ShardId{0}}}, options, &traffic);
    FanOut hello;
    connection->Connect(nullptr, hello.Add());
    VICINITY_REQUIRE_OK(hello.Wait());
    shard = MakeRemoteShard(ShardId{0}, 1, connection.get(), schema, *book);
  }
};

template <typename Call>
absl::Status Outcome(const Call& call) {
  FanOut calls;
  call(calls.Add());
  return calls.Wait();
}

proto::RowsChunk RowsOf(uint64_t first, const std::vector<int32_t>& values) {
  proto::RowsChunk chunk;
  chunk.set_first(first);
  AppendBytes<int32_t>(values, chunk.mutable_rows());
  return chunk;
}

// Fetches rows 5, 6, 7 into places 2, 1, 0.
absl::Status FetchThree(Remote* remote, std::vector<int32_t>* out, Cancellation* cancel = nullptr) {
  const std::vector<uint64_t> rows = {5, 6, 7};
  const std::vector<int64_t> positions = {2, 1, 0};
  out->assign(3, -1);
  ShardRows request;
  request.type = kNode;
  request.row_bytes = 4;
  request.rows = rows;
  request.positions = positions;
  request.out = reinterpret_cast<char*>(out->data());
  return Outcome([&](Done done) { remote->shard->Ask(request, cancel, done); });
}

TEST_CASE("rows are scattered as their chunks come", "[remote_shard]") {
  Remote remote;
  remote.server.rows.answer = [](const proto::RowsRequest& request,
                                 std::vector<proto::RowsChunk>* chunks) {
    CHECK(request.fingerprint() == 1);
    CHECK(request.rows().size() == 24);
    chunks->push_back(RowsOf(0, {50, 60}));
    chunks->push_back(RowsOf(2, {70}));
    return grpc::Status::OK;
  };
  std::vector<int32_t> out;
  VICINITY_CHECK_OK(FetchThree(&remote, &out));
  CHECK(out == std::vector<int32_t>{70, 60, 50});
  CHECK(remote.traffic.rows_remote.value() == 3);
  CHECK(remote.traffic.bytes_received.value() == 12);
  CHECK(remote.traffic.bytes_sent.value() == 24);
}

TEST_CASE("rows that were not asked for, or too few, are refused", "[remote_shard]") {
  const std::vector<std::vector<proto::RowsChunk>> lies = {
      {},
      {RowsOf(0, {50, 60})},
      {RowsOf(0, {50, 60, 70, 80})},
      {RowsOf(1, {50, 60, 70})},
      {RowsOf(0, {50}), RowsOf(0, {60}), RowsOf(1, {70})},
      {RowsOf(0, {50, 60, 70}), RowsOf(3, {80})},
  };
  for (const std::vector<proto::RowsChunk>& lie : lies) {
    Remote remote;
    remote.server.rows.answer = [&lie](const proto::RowsRequest&,
                                       std::vector<proto::RowsChunk>* chunks) {
      *chunks = lie;
      return grpc::Status::OK;
    };
    std::vector<int32_t> out;
    const absl::Status status = FetchThree(&remote, &out);
    VICINITY_CHECK_CODE(status, absl::StatusCode::kInternal);
    CHECK_THAT(
        std::string(status.message()),
        Catch::StartsWith("shard 0 at " + remote.server.address() + " (server a): FetchRows: "));
  }
}

TEST_CASE("half a row is refused", "[remote_shard]") {
  Remote remote;
  remote.server.rows.answer = [](const proto::RowsRequest&, std::vector<proto::RowsChunk>* chunks) {
    proto::RowsChunk chunk;
    chunk.set_rows("abc");
    chunks->push_back(chunk);
    return grpc::Status::OK;
  };
  std::vector<int32_t> out;
  VICINITY_CHECK_CODE(FetchThree(&remote, &out), absl::StatusCode::kInternal);
}

TEST_CASE("an answer that changed on the way is refused, and the error says by whom it was given",
          "[remote_shard]") {
  Remote remote;
  remote.server.rows.damage = 1;
  remote.server.rows.answer = [](const proto::RowsRequest&, std::vector<proto::RowsChunk>* chunks) {
    chunks->push_back(RowsOf(0, {50, 60, 70}));
    return grpc::Status::OK;
  };
  std::vector<int32_t> out;
  const absl::Status status = FetchThree(&remote, &out);
  VICINITY_CHECK_CODE(status, absl::StatusCode::kAborted);
  CHECK_THAT(
      std::string(status.message()),
      Catch::StartsWith("shard 0 at " + remote.server.address() + " (server a): FetchRows: ") &&
          Catch::Contains("damaged on the way"));
  CHECK(out == std::vector<int32_t>{-1, -1, -1});
  CHECK(remote.traffic.rows_remote.value() == 0);
}

TEST_CASE("what a server refuses keeps its code and gains its place", "[remote_shard]") {
  Remote remote;
  remote.server.rows.answer = [](const proto::RowsRequest&, std::vector<proto::RowsChunk>*) {
    return grpc::Status(grpc::StatusCode::DATA_LOSS, "features.bin: checksum");
  };
  std::vector<int32_t> out;
  const absl::Status status = FetchThree(&remote, &out);
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("shard 0") && Catch::Contains("features.bin"));
}

TEST_CASE("when a server wants to be asked again comes with its refusal", "[remote_shard]") {
  Remote remote;
  remote.server.rows.answer = [](const proto::RowsRequest&, std::vector<proto::RowsChunk>*) {
    return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "busy");
  };
  std::vector<int32_t> out;
  CHECK_FALSE(RetryDelayOf(FetchThree(&remote, &out)).has_value());
  remote.server.retry_delay = "120";
  const absl::Status status = FetchThree(&remote, &out);
  VICINITY_CHECK_CODE(status, absl::StatusCode::kResourceExhausted);
  CHECK(RetryDelayOf(status) == std::chrono::milliseconds(120));
  remote.server.retry_delay = "soon";
  CHECK_FALSE(RetryDelayOf(FetchThree(&remote, &out)).has_value());
}

TEST_CASE("no answer is an error at the deadline that says how long was waited", "[remote_shard]") {
  Remote remote(1000, std::chrono::milliseconds(200));
  remote.server.wait_for_cancel = true;
  std::vector<int32_t> out;
  const absl::Status status = FetchThree(&remote, &out);
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDeadlineExceeded);
  CHECK(status.message() ==
        "shard 0 at " + remote.server.address() + " (server a): FetchRows: no answer in 0.2 s");
}

TEST_CASE("a connection that kept silent until the deadline is not used again", "[remote_shard]") {
  Remote remote(1000, std::chrono::milliseconds(1000));
  remote.server.wait_for_cancel = true;
  std::vector<int32_t> out;
  for (int i = 0; i < 4; ++i) {
    VICINITY_CHECK_CODE(FetchThree(&remote, &out), absl::StatusCode::kDeadlineExceeded);
  }
  const std::vector<std::string>& peers = remote.server.peers;
  CHECK(std::set<std::string>(peers.begin(), peers.end()).size() == peers.size());
  remote.server.wait_for_cancel = false;
  remote.server.rows.answer = [](const proto::RowsRequest&, std::vector<proto::RowsChunk>* chunks) {
    chunks->push_back(RowsOf(0, {50, 60, 70}));
    return grpc::Status::OK;
  };
  VICINITY_CHECK_OK(FetchThree(&remote, &out));
}

TEST_CASE("a cancelled call ends long before its deadline", "[remote_shard]") {
  Remote remote;
  remote.server.wait_for_cancel = true;
  Cancellation cancel;
  std::thread canceller([&cancel] { cancel.Cancel(); });
  std::vector<int32_t> out;
  VICINITY_CHECK_CODE(FetchThree(&remote, &out, &cancel), absl::StatusCode::kCancelled);
  canceller.join();
}

TEST_CASE("requests are cut to what the server takes", "[remote_shard]") {
  Remote remote(10);
  remote.server.rows.answer = [](const proto::RowsRequest& request,
                                 std::vector<proto::RowsChunk>* chunks) {
    std::vector<int32_t> values;
    for (size_t i = 0; i < request.rows().size() / 8; ++i) {
      values.push_back(static_cast<int32_t>(ArrayValue<uint64_t>(request.rows(), i)) * 10);
    }
    chunks->push_back(RowsOf(0, values));
    return values.size() <= 10 ? grpc::Status::OK
                               : grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "too many");
  };
  std::vector<uint64_t> rows;
  for (uint64_t i = 0; i < 95; ++i) rows.push_back(i * 37 % 100);
  std::vector<int32_t> out(95, -1);
  ShardRows request;
  request.type = kNode;
  request.row_bytes = 4;
  request.rows = rows;
  request.out = reinterpret_cast<char*>(out.data());
  VICINITY_CHECK_OK(Outcome([&](Done done) { remote.shard->Ask(request, nullptr, done); }));
  for (size_t i = 0; i < rows.size(); ++i) CHECK(out[i] == static_cast<int32_t>(rows[i]) * 10);
  CHECK(remote.server.rows.requests.size() == 10);
}

// Asks for rows 0 to `count` - 1.
absl::Status FetchFirst(Remote* remote, int count, std::vector<int32_t>* out,
                        const CallContext& context = nullptr) {
  std::vector<uint64_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  out->assign(count, -1);
  ShardRows request;
  request.type = kNode;
  request.row_bytes = 4;
  request.rows = rows;
  request.out = reinterpret_cast<char*>(out->data());
  return Outcome([&](Done done) { remote->shard->Ask(request, context, done); });
}

// Answers up to ten rows of ten times their numbers, and refuses more.
grpc::Status TenAtMost(const proto::RowsRequest& request, std::vector<proto::RowsChunk>* chunks) {
  std::vector<int32_t> values;
  for (size_t i = 0; i < request.rows().size() / 8; ++i) {
    values.push_back(static_cast<int32_t>(ArrayValue<uint64_t>(request.rows(), i)) * 10);
  }
  if (values.size() > 10) return {grpc::StatusCode::INVALID_ARGUMENT, "too many"};
  chunks->push_back(RowsOf(0, values));
  return grpc::Status::OK;
}

TEST_CASE("the calls of one operation are spans of its trace", "[remote_shard]") {
  Remote remote(10);
  remote.server.rows.answer = TenAtMost;
  std::vector<int32_t> out;
  const CallContext operation = StartOperation();
  VICINITY_CHECK_OK(FetchFirst(&remote, 30, &out, operation));
  REQUIRE(remote.server.traceparents.size() == 3);
  std::set<uint64_t> spans = {operation.trace.span};
  for (const std::string& text : remote.server.traceparents) {
    const std::optional<TraceContext> trace = ParseTraceparent(text);
    REQUIRE(trace.has_value());
    CHECK(TraceId(*trace) == TraceId(operation.trace));
    spans.insert(trace->span);
  }
  CHECK(spans.size() == 4);
  // Who is part of no trace says nothing.
  VICINITY_CHECK_OK(FetchFirst(&remote, 10, &out));
  CHECK(remote.server.traceparents.back().empty());
}

TEST_CASE("long answers leave one connection to the short ones", "[remote_shard]") {
  Remote remote(100'000);
  remote.server.rows.answer = [](const proto::RowsRequest& request,
                                 std::vector<proto::RowsChunk>* chunks) {
    chunks->push_back(RowsOf(0, std::vector<int32_t>(request.rows().size() / 8, 1)));
    return grpc::Status::OK;
  };
  std::vector<int32_t> out;
  for (int i = 0; i < 3; ++i) {
    VICINITY_REQUIRE_OK(FetchFirst(&remote, 50'000, &out));
    VICINITY_REQUIRE_OK(FetchThree(&remote, &out));
  }
  const std::vector<std::string>& peers = remote.server.peers;
  REQUIRE(peers.size() == 6);
  CHECK(peers[0] != peers[1]);
  for (size_t i = 2; i < peers.size(); ++i) CHECK(peers[i] == peers[i % 2]);
}

TEST_CASE("limits that have become smaller are learned from a refusal", "[remote_shard]") {
  Remote remote;
  remote.server.rows.answer = TenAtMost;
  remote.server.hello.mutable_limits()->set_max_ids(10);
  std::vector<int32_t> out;
  VICINITY_CHECK_OK(FetchFirst(&remote, 95, &out));
  for (int i = 0; i < 95; ++i) CHECK(out[i] == i * 10);
  CHECK(remote.connection->limits().max_ids == 10);
  CHECK(remote.server.rows.requests.size() == 1 + 10);
  VICINITY_CHECK_OK(FetchFirst(&remote, 95, &out));
  CHECK(remote.server.rows.requests.size() == 1 + 10 + 10);
}

TEST_CASE("what is refused for other reasons is asked once", "[remote_shard]") {
  Remote remote;
  remote.server.rows.answer = TenAtMost;
  std::vector<int32_t> out;
  SECTION("the limits are the same") {
    VICINITY_CHECK_CODE(FetchFirst(&remote, 11, &out), absl::StatusCode::kInvalidArgument);
    CHECK(remote.server.rows.requests.size() == 1);
  }
  SECTION("the new ones are refused, too") {
    remote.server.hello.mutable_limits()->set_max_ids(20);
    VICINITY_CHECK_CODE(FetchFirst(&remote, 40, &out), absl::StatusCode::kInvalidArgument);
    CHECK(remote.server.rows.requests.size() <= 1 + 2);
  }
}

TEST_CASE("a refusal is not the last word of a server that then cannot be asked for its limits",
          "[remote_shard]") {
  Remote remote;
  remote.server.rows.answer = TenAtMost;
  remote.server.hello_status = grpc::Status(grpc::StatusCode::UNAVAILABLE, "draining");
  std::vector<int32_t> out;
  // Another replica is asked after this, and after InvalidArgument none.
  VICINITY_CHECK_CODE(FetchFirst(&remote, 11, &out), absl::StatusCode::kUnavailable);
  CHECK(remote.server.rows.requests.size() == 1);
}

TEST_CASE("a server that finds a deadline over has not kept silent", "[remote_shard]") {
  Remote remote;
  remote.server.rows.answer = [](const proto::RowsRequest&, std::vector<proto::RowsChunk>*) {
    return grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "the deadline passed in the queue");
  };
  std::vector<int32_t> out;
  for (int i = 0; i < 6; ++i) {
    const absl::Status status = FetchThree(&remote, &out);
    VICINITY_CHECK_CODE(status, absl::StatusCode::kDeadlineExceeded);
    CHECK_THAT(std::string(status.message()), Catch::Contains("passed in the queue"));
  }
  // Its connections are as good as before.
  const std::vector<std::string>& peers = remote.server.peers;
  CHECK(std::set<std::string>(peers.begin(), peers.end()).size() == 1);
}

TEST_CASE("a range is asked for as a range", "[remote_shard]") {
  Remote remote;
  remote.server.rows.answer = [](const proto::RowsRequest& request,
                                 std::vector<proto::RowsChunk>* chunks) {
    CHECK(request.first() == 3);
    CHECK(request.count() == 2);
    CHECK(request.rows().empty());
    chunks->push_back(RowsOf(0, {30, 40}));
    return grpc::Status::OK;
  };
  std::vector<int32_t> out(2, -1);
  ShardRows request;
  request.type = kNode;
  request.row_bytes = 4;
  request.first = 3;
  request.count = 2;
  request.out = reinterpret_cast<char*>(out.data());
  VICINITY_CHECK_OK(Outcome([&](Done done) { remote.shard->Ask(request, nullptr, done); }));
  CHECK(out == std::vector<int32_t>{30, 40});
}

TEST_CASE("a hop beyond the limits comes back whole and in order", "[remote_shard]") {
  Remote remote(10);
  remote.server.sample.answer = [](const proto::SampleRequest& request,
                                   std::vector<proto::SampleChunk>* chunks) {
    CHECK(request.draw().run_seed() == 7);
    CHECK(request.draw().hop() == 2);
    REQUIRE(request.relations_size() == 1);
    CHECK(request.relations(0).spec().fanout() == 4);
    CHECK(request.relations(0).spec().replace());
    proto::SampleChunk chunk;  // the neighbour of v is v
    for (size_t i = 0; i < request.relations(0).num_targets(); ++i) {
      AppendBytes<uint32_t>({1}, chunk.mutable_counts());
      AppendBytes<int64_t>({static_cast<int64_t>(ArrayValue<uint64_t>(request.targets(), i))},
                           chunk.mutable_sources());
    }
    chunks->push_back(chunk);
    return grpc::Status::OK;
  };
  std::vector<uint64_t> rows;
  for (uint64_t i = 0; i < 25; ++i) rows.push_back(99 - i);
  ShardHop hop;
  hop.draw.run_seed = 7;
  hop.hop = 2;
  hop.relations = {{EdgeTypeId{0}, {4, /*replace=*/true}, rows}};
  std::vector<Neighbors> answers(1);
  hop.out = absl::MakeSpan(answers);
  VICINITY_CHECK_OK(Outcome([&](Done done) { remote.shard->Ask(hop, nullptr, done); }));
  CHECK(answers[0].counts == std::vector<uint32_t>(25, 1));
  CHECK(answers[0].sources == std::vector<int64_t>(rows.begin(), rows.end()));
  CHECK(remote.server.sample.requests.size() == 3);
}

TEST_CASE("a hop that is answered in part is an error", "[remote_shard]") {
  Remote remote;  // whose script answers nothing
  const std::vector<uint64_t> rows = {1, 2};
  ShardHop hop;
  hop.relations = {{EdgeTypeId{0}, {4}, rows}};
  std::vector<Neighbors> answers(1);
  hop.out = absl::MakeSpan(answers);
  VICINITY_CHECK_CODE(Outcome([&](Done done) { remote.shard->Ask(hop, nullptr, done); }),
                      absl::StatusCode::kInternal);
}

TEST_CASE("ids that do not exist, or are too few, are refused", "[remote_shard]") {
  const std::vector<std::vector<int64_t>> lies = {{}, {1}, {1, 100}, {-2, 1}, {1, 2, 3}};
  const std::vector<uint64_t> keys = {4, 5};
  const std::vector<int64_t> positions = {0, 1};
  for (const std::vector<int64_t>& lie : lies) {
    Remote remote;
    AppendBytes<int64_t>(lie, remote.server.resolved.mutable_global_ids());
    std::vector<int64_t> out(2, -1);
    VICINITY_CHECK_CODE(
        Outcome([&](Done done) {
          remote.shard->Ask(ShardKeys{kNode, keys, positions, out.data()}, nullptr, done);
        }),
        absl::StatusCode::kInternal);
  }
}

TEST_CASE("names too few or too many are refused", "[remote_shard]") {
  const int num_names = GENERATE(0, 1, 2, 3);
  Remote remote;
  remote.server.ragged.answer = [num_names](const proto::RaggedRequest&,
                                            std::vector<proto::RaggedChunk>* chunks) {
    for (int i = 0; i < num_names; ++i) {
      proto::RaggedChunk chunk;
      chunk.set_first(i);
      const std::string name = "n" + std::to_string(i);
      const std::vector<uint32_t> lengths = {static_cast<uint32_t>(name.size())};
      AppendBytes<uint32_t>(lengths, chunk.mutable_lengths());
      chunk.set_rows(name);
      chunks->push_back(chunk);
    }
    return grpc::Status::OK;
  };
  const std::vector<uint64_t> rows = {4, 5};
  const std::vector<int64_t> positions = {1, 0};
  std::vector<std::string> out(2);
  const absl::Status status = Outcome([&](Done done) {
    remote.shard->Ask(ShardRagged{kNode, kNamesColumn, rows, positions, out.data()}, nullptr, done);
  });
  if (num_names == 2) {
    VICINITY_CHECK_OK(status);
    CHECK(out == std::vector<std::string>{"n1", "n0"});
  } else {
    VICINITY_CHECK_CODE(status, absl::StatusCode::kInternal);
  }
}

TEST_CASE("a ranking ends where the server says, and lies are refused", "[remote_shard]") {
  const auto answer = [](std::vector<int64_t> ids, std::vector<float> probabilities,
                         uint64_t size = 2) {
    return [=](const proto::RankingRequest& request, std::vector<proto::RankingChunk>* chunks) {
      CHECK(request.home_size() == 2);
      proto::RankingChunk chunk;
      AppendBytes<int64_t>(ids, chunk.mutable_global_ids());
      AppendBytes<float>(probabilities, chunk.mutable_probabilities());
      chunk.set_size(size);
      chunks->push_back(chunk);
      return grpc::Status::OK;
    };
  };
  const auto fetch = [](Remote* remote, RankedNodes* out) {
    ShardRanking request;
    request.name = "default";
    request.home = {0, 1};
    request.type = kNode;
    request.count = 3;
    request.out = out;
    return Outcome([&](Done done) { remote->shard->Ask(request, nullptr, done); });
  };
  {
    Remote remote;
    remote.server.ranking.answer = answer({9, 8}, {0.5f, 0.25f});
    RankedNodes ranked;
    VICINITY_CHECK_OK(fetch(&remote, &ranked));
    CHECK(ranked.nodes == std::vector<int64_t>{9, 8});
  }
  for (const auto& lie :
       {answer({1, 2, 3, 4}, {1, 1, 1, 1}), answer({1, 2}, {}), answer({1, 100}, {1, 1}),
        answer({-1, 1}, {1, 1}), answer({1}, {1}), answer({1, 2}, {1, 1}, 3)}) {
    Remote remote;
    remote.server.ranking.answer = lie;
    RankedNodes ranked;
    VICINITY_CHECK_CODE(fetch(&remote, &ranked), absl::StatusCode::kInternal);
  }
}

// It says each time that there is more, and has as much as was asked for.
TEST_CASE("a ranking without end is refused at its first chunk", "[remote_shard]") {
  Remote remote;
  remote.server.ranking.answer = [](const proto::RankingRequest& request,
                                    std::vector<proto::RankingChunk>* chunks) {
    constexpr int64_t kChunk = 1 << 16;
    if (request.first() > 0) return grpc::Status(grpc::StatusCode::DATA_LOSS, "asked for more");
    for (int64_t sent = 0; sent < static_cast<int64_t>(request.count()); sent += kChunk) {
      proto::RankingChunk chunk;
      AppendBytes<int64_t>(std::vector<int64_t>(kChunk, 7), chunk.mutable_global_ids());
      AppendBytes<float>(std::vector<float>(kChunk, 1), chunk.mutable_probabilities());
      chunk.set_first(sent);
      chunk.set_size(uint64_t{1} << 40);
      chunks->push_back(std::move(chunk));
    }
    return grpc::Status::OK;
  };
  RankedNodes ranked;
  ShardRanking request;
  request.name = "default";
  request.home = {0};
  request.type = kNode;
  request.out = &ranked;
  const absl::Status status =
      Outcome([&](Done done) { remote.shard->Ask(request, nullptr, done); });
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInternal);
  CHECK(ranked.nodes.empty());
}

}  // namespace
}  // namespace vicinity
