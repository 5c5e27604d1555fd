// What ends before its end: calls that are given up, and a server that is told to stop.
// VICINITY_CANCEL_CALLS sets how many are given up (10000).
#include <arpa/inet.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/common/grpc_status.h"
#include "proto/common/random.h"
#include "proto/common/retry_delay.h"
#include "proto/health.grpc.pb.h"
#include "proto/version.h"
#include "tests/integration/fixtures/data_client.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/slow_build.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::DataClient;
using testing::DataClientOptions;
using testing::kSlower;
using testing::SizeFromEnvironment;
using testing::Testbed;
using testing::TestbedOptions;
using Reader = std::unique_ptr<grpc::ClientReader<proto::RowsChunk>>;

class DrainTest {
 protected:
  void Start(std::vector<std::string> flags = {}) {
    TestbedOptions options;
    options.graph.num_nodes = 20'000;
    options.graph.row_bytes = 1024;
    options.graph.max_degree = 20;
    options.server_flags = std::move(flags);
    VICINITY_ASSERT_OK_AND_ASSIGN(testbed_, Testbed::Start(options));
  }
  std::unique_ptr<DataClient> Connect(int connections) const {
    DataClientOptions options;
    options.address = testbed_->address(0).ToString();
    options.connections = connections;
    options.small_windows = true;
    auto client = DataClient::Connect(&testbed_->graph(), options);
    VICINITY_REQUIRE_OK(client);
    return *std::move(client);
  }
  // A stream of which the first chunk has come, and no more was read.
  void OpenStream(DataClient* client, int connection, int64_t rows) {
    contexts_.push_back(std::make_unique<grpc::ClientContext>());
    contexts_.back()->set_deadline(std::chrono::system_clock::now() + seconds(120));
    readers_.push_back(
        client->stub(connection)->FetchRows(contexts_.back().get(), client->Rows(0, rows)));
    proto::RowsChunk chunk;
    const bool read = readers_.back()->Read(&chunk);
    if (!read) VICINITY_REQUIRE_OK(FromGrpc(readers_.back()->Finish()));
    REQUIRE(read);
    bytes_.push_back(static_cast<int64_t>(chunk.rows().size()));
  }

  std::unique_ptr<Testbed> testbed_;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts_;
  std::vector<Reader> readers_;
  std::vector<int64_t> bytes_;  // that each has read
};

TEST_CASE_METHOD(DrainTest, "calls given up at any moment stop at once and leave nothing",
                 "[cancel]") {
  Start();
  const int num_calls = SizeFromEnvironment("VICINITY_CANCEL_CALLS", 10'000);
  // So many that none gives up more, in calls and bytes, than the guard takes for honest.
  constexpr int kConnections = 32;
  auto client = Connect(kConnections);
  const auto before = testbed_->Use(0);
  VICINITY_REQUIRE_OK(before);
  constexpr uint64_t kSeed = 5;
  std::cout << "seed " << kSeed << "\n";
  std::atomic<int> answered{0};
  std::atomic<int> given_up{0};
  std::atomic<int> other{0};
  std::atomic<int> next{0};
  const auto count = [&](const grpc::Status& status) {
    if (status.ok()) {
      ++answered;
    } else if (status.error_code() == grpc::StatusCode::CANCELLED ||
               status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
      ++given_up;
    } else {
      ++other;
    }
  };
  const auto work = [&](int thread) {
    NodeDraws random(kSeed, thread);
    while (next++ < num_calls) {
      grpc::ClientContext context;
      const bool by_deadline = random.Below(2) == 0;
      const auto moment = std::chrono::microseconds(random.Below(6000));
      const auto now = std::chrono::system_clock::now();
      context.set_deadline(by_deadline ? now + moment : now + seconds(60));
      proto::Graph::Stub* const stub = client->stub(static_cast<int>(random.Below(kConnections)));
      const auto size = static_cast<int64_t>(1) << random.Below(11);
      const auto read = [&](auto reader, auto chunk) {
        const uint64_t chunks = random.Below(6);
        for (uint64_t i = 0; i < chunks && reader->Read(&chunk); ++i) {
        }
        if (!by_deadline) context.TryCancel();
        count(reader->Finish());
      };
      if (random.Below(2) == 0) {
        read(stub->FetchRows(&context, client->Rows(0, size)), proto::RowsChunk());
      } else {
        read(stub->SampleNeighbors(&context, client->Neighbors(0, size, 50)), proto::SampleChunk());
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  const auto ended = std::chrono::steady_clock::now();
  CHECK(WaitUntilNoCalls(client.get(), seconds(10)));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - ended;
  const auto after = testbed_->Use(0);
  VICINITY_REQUIRE_OK(after);
  std::cout << answered << " answered, " << given_up << " given up, " << other
            << " other; the last stopped within " << took.count() << " ms; "
            << (before->resident_bytes >> 20) << " MiB before, " << (after->resident_bytes >> 20)
            << " after\n";
  CHECK(given_up > num_calls / 4);
  CHECK(other == 0);
  CHECK(took.count() < 5 * 50 * kSlower);
  CHECK(after->open_files <= before->open_files + 2);
}

TEST_CASE_METHOD(DrainTest, "of 500 calls under way when the server is told to stop none fails",
                 "[drain]") {
  constexpr int kConnections = 10;
  constexpr int kStreams = 500;
  constexpr int64_t kRows = 512;  // of 1 KiB: more than the windows hold
  Start({"--drain", "40", "--announce", "5", "--max-running", "600"});
  auto client = Connect(kConnections);
  for (int i = 0; i < kStreams; ++i) OpenStream(client.get(), i % kConnections, kRows);
  CHECK(CallsThere(client.get()) == kStreams);

  const auto begun = std::chrono::steady_clock::now();
  const auto passed = [begun] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  auto exit = std::async(std::launch::async, [this] { return testbed_->Terminate(0); });
  // Clients hear of it while their calls go on.
  using grpc::health::v1::HealthCheckResponse;
  HealthCheckResponse health;
  for (int i = 0; i < 1000 && health.status() != HealthCheckResponse::NOT_SERVING; ++i) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + seconds(10));
    const auto stub = grpc::health::v1::Health::NewStub(client->channel(0));
    if (!stub->Check(&context, {}, &health).ok()) break;
    std::this_thread::sleep_for(milliseconds(2));
  }
  CHECK(health.status() == HealthCheckResponse::NOT_SERVING);
  int failed = 0;
  for (int i = 0; i < kStreams; ++i) {
    proto::RowsChunk chunk;
    while (readers_[i]->Read(&chunk)) bytes_[i] += static_cast<int64_t>(chunk.rows().size());
    const absl::Status status = FromGrpc(readers_[i]->Finish());
    if (!status.ok() || bytes_[i] != kRows * 1024) {
      if (++failed == 1) std::cout << status << " after " << bytes_[i] << " bytes\n";
    }
  }
  CHECK(failed == 0);
  std::cout << "all had ended after " << passed() << " s, ";
  // A connection that nobody looks after would keep the server for 20 s: gRPC waits so long for the
  // answer to its ping.
  readers_.clear();
  contexts_.clear();
  client.reset();
  const absl::StatusOr<int> code = exit.get();
  std::cout << "the server after " << passed() << " s\n";
  VICINITY_REQUIRE_OK(code);
  CHECK(*code == 0);
}

// Whether a port of this machine refuses connections in time.
bool WaitUntilRefused(int port, std::chrono::nanoseconds limit) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto end = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < end) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool taken = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    close(fd);
    if (!taken) return true;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return false;
}

TEST_CASE_METHOD(DrainTest, "calls still under way when the announcement is over end whole",
                 "[drain]") {
  constexpr int kStreams = 20;
  constexpr int64_t kRows = 2048;  // of 1 KiB: more than the windows hold
  Start({"--drain", "40", "--announce", "0"});
  auto client = Connect(2);
  for (int i = 0; i < kStreams; ++i) OpenStream(client.get(), i % 2, kRows);
  auto exit = std::async(std::launch::async, [this] { return testbed_->Terminate(0); });
  // Its end: from now on only calls that are under way are served.
  REQUIRE(WaitUntilRefused(testbed_->address(0).port, seconds(30)));
  for (int i = 0; i < kStreams; ++i) {
    proto::RowsChunk chunk;
    while (readers_[i]->Read(&chunk)) bytes_[i] += static_cast<int64_t>(chunk.rows().size());
    VICINITY_CHECK_OK(FromGrpc(readers_[i]->Finish()));
    CHECK(bytes_[i] == kRows * 1024);
  }
  readers_.clear();
  contexts_.clear();
  client.reset();
  const absl::StatusOr<int> code = exit.get();
  VICINITY_REQUIRE_OK(code);
  CHECK(*code == 0);
}

TEST_CASE_METHOD(DrainTest, "a server that is about to stop says so and goes on answering",
                 "[drain]") {
  Start({"--drain", "8", "--announce", "4"});
  auto client = Connect(1);
  const auto fetch = [&client](grpc::ClientContext* context) {
    context->set_deadline(std::chrono::system_clock::now() + seconds(10));
    const Reader reader = client->stub(0)->FetchRows(context, client->Rows(0, 1));
    proto::RowsChunk chunk;
    while (reader->Read(&chunk)) {
    }
    return FromGrpc(reader->Finish());
  };
  const auto says_so = [](const grpc::ClientContext& context) {
    return context.GetServerTrailingMetadata().count(kStoppingTrailer) > 0;
  };
  grpc::ClientContext before;
  VICINITY_CHECK_OK(fetch(&before));
  CHECK_FALSE(says_so(before));
  auto exit = std::async(std::launch::async, [this] { return testbed_->Terminate(0); });
  absl::Status hello;
  for (int i = 0; i < 1000 && hello.ok(); ++i) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + seconds(10));
    proto::HelloRequest request;
    request.set_protocol_version(kProtocolVersion);
    proto::HelloReply reply;
    hello = FromGrpc(client->stub(0)->Hello(&context, request, &reply));
    std::this_thread::sleep_for(milliseconds(2));
  }
  VICINITY_CHECK_CODE(hello, absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(hello.message()), Catch::Contains("is stopping"));
  grpc::ClientContext after;
  VICINITY_CHECK_OK(fetch(&after));
  CHECK(says_so(after));
  client.reset();
  const absl::StatusOr<int> code = exit.get();
  VICINITY_REQUIRE_OK(code);
  CHECK(*code == 0);
}

TEST_CASE_METHOD(DrainTest, "calls that do not end are cancelled when the time is over",
                 "[drain]") {
  Start({"--drain", "3"});
  auto client = Connect(1);
  for (int i = 0; i < 10; ++i) OpenStream(client.get(), 0, 8192);
  const auto begun = std::chrono::steady_clock::now();
  VICINITY_ASSERT_OK_AND_ASSIGN(const int code, testbed_->Terminate(0));
  CHECK(code == 0);
  CHECK(std::chrono::steady_clock::now() - begun < seconds(30));
  for (const Reader& reader : readers_) {
    proto::RowsChunk chunk;
    while (reader->Read(&chunk)) {
    }
    CHECK_FALSE(reader->Finish().ok());
  }
}

}  // namespace
}  // namespace vicinity
