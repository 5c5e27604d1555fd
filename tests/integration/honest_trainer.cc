#include "tests/integration/honest_trainer.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/common/mutex.h"
#include "proto/service.grpc.pb.h"
#include "proto/version.h"
#include "tests/testing/slow_build.h"

namespace vicinity::testing {
namespace {

using std::chrono::milliseconds;

constexpr int kConnections = 2;
constexpr double kCallsPerSecond = 50;
constexpr milliseconds kBetweenNewcomers(500);
constexpr milliseconds kTimeout(2000 * kSlower);
constexpr int64_t kRows = 100;
constexpr int64_t kTargets = 64;
constexpr int64_t kFanout = 10;

// The value that so large a share is not above.
absl::Duration Percentile(const std::vector<std::chrono::nanoseconds>& sorted, double share) {
  if (sorted.empty()) return absl::ZeroDuration();
  return absl::FromChrono(
      sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))]);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HonestTrainer>> HonestTrainer::Connect(
    const CertifiedGraph* graph, const std::string& address,
    std::shared_ptr<grpc::ChannelCredentials> credentials) {
  auto trainer = std::unique_ptr<HonestTrainer>(new HonestTrainer(address, std::move(credentials)));
  DataClientOptions options;
  options.address = address;
  options.connections = kConnections;
  options.name = "honest trainer";
  options.credentials = trainer->credentials_;
  auto client = DataClient::Connect(graph, options);
  if (!client.ok()) return client.status();
  trainer->client_ = *std::move(client);
  return trainer;
}

HonestAccount HonestTrainer::Train(milliseconds length) {
  HonestAccount account;
  HonestAccount newcomers;
  std::thread coming([&] { ComeAnew(length, &newcomers); });
  Mutex mu;
  std::vector<std::chrono::nanoseconds> latencies;
  const auto done = [&](const CallOutcome& outcome) {
    MutexLock lock(&mu);
    ++account.calls;
    account.wrong += outcome.wrong;
    if (outcome.status.ok()) {
      latencies.push_back(outcome.latency);
    } else {
      account.failure = outcome.status.ToString();
    }
  };
  RunOpenLoop(client_.get(), kCallsPerSecond, length, [&](int64_t i) {
    const int connection = static_cast<int>(i % kConnections);
    if (++next_ % 2 == 0) {
      client_->Start(connection, client_->Rows(next_ * 13, kRows), kTimeout, done);
    } else {
      client_->Start(connection, client_->Neighbors(next_ * 7, kTargets, kFanout), kTimeout, done);
    }
  });
  coming.join();
  std::sort(latencies.begin(), latencies.end());
  account.answered = static_cast<int64_t>(latencies.size());
  account.p50 = Percentile(latencies, 0.5);
  account.p99 = Percentile(latencies, 0.99);
  account.newcomers = newcomers.newcomers;
  account.let_in = newcomers.let_in;
  if (account.failure.empty()) account.failure = newcomers.failure;
  return account;
}

void HonestTrainer::ComeAnew(milliseconds length, HonestAccount* account) const {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  const auto begun = std::chrono::steady_clock::now();
  for (auto due = begun; due < begun + length; due += kBetweenNewcomers) {
    std::this_thread::sleep_until(due);
    const auto stub =
        proto::Graph::NewStub(grpc::CreateCustomChannel(address_, credentials_, arguments));
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + kTimeout);
    proto::HelloRequest request;
    request.set_protocol_version(kProtocolVersion);
    request.set_client("newcomer");
    proto::HelloReply reply;
    const grpc::Status status = stub->Hello(&context, request, &reply);
    ++account->newcomers;
    if (status.ok()) {
      ++account->let_in;
    } else {
      account->failure = absl::StrCat("a newcomer: ", status.error_message());
    }
  }
}

}  // namespace vicinity::testing
