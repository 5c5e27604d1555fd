// Real daemons under load that is hard on them: many connections, greedy clients, clients that do
// not read. Figures are those of a small run: VICINITY_LOAD_SECONDS sets
// how long the first case lasts (60), VICINITY_SLOW_CLIENTS how many do not read (100).
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/integration/fixtures/data_client.h"
#include "tests/integration/fixtures/load_fixture.h"
#include "tests/testing/slow_build.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::CallOutcome;
using testing::CallTally;
using testing::DataClient;
using testing::kSlower;
using testing::LoadFixture;
using testing::SizeFromEnvironment;

constexpr absl::StatusCode kOk = absl::StatusCode::kOk;
constexpr absl::StatusCode kRefused = absl::StatusCode::kResourceExhausted;

// All, but for those that are told to come again when the machine stands still for a moment.
void CheckAnswered(const CallTally& tally) {
  CHECK(tally.count(kOk) + tally.count(kRefused) == tally.calls());
  CHECK(static_cast<double>(tally.count(kOk)) >= 0.95 * static_cast<double>(tally.calls()));
}

TEST_CASE_METHOD(LoadFixture, "a thousand connections are served without an error", "[load]") {
  Start();
  const testing::ProcessUse before = Use();
  constexpr int kConnections = 1000;
  auto client = Connect(kConnections);
  const testing::ProcessUse connected = Use();
  CallTally tally;
  const auto done = [&tally](const CallOutcome& outcome) { tally.Add(outcome); };
  const seconds length(SizeFromEnvironment("VICINITY_LOAD_SECONDS", 60));
  RunOpenLoop(client.get(), 1500.0 / kSlower, length, [&](int64_t i) {
    const int connection = static_cast<int>(i * 7 % kConnections);
    if (i % 10 == 0) {
      client->Start(connection, proto::StatusRequest(), seconds(10), done);
    } else if (i % 10 < 4) {
      client->Start(connection, client->Neighbors(i, 50, 5), seconds(10), done);
    } else {
      client->Start(connection, client->Rows(i * 31, 100), seconds(10), done);
    }
  });
  const testing::ProcessUse after = Use();
  std::cout << "load: " << tally.Describe() << "a server: " << (before.resident_bytes >> 20)
            << " MiB at first, " << (connected.resident_bytes >> 20) << " with connections, "
            << (after.resident_bytes >> 20) << " after; " << after.threads << " threads\n";
  CHECK(tally.calls() > 1000 * length.count() / kSlower);
  CheckAnswered(tally);
  if (kSlower == 1) CHECK(tally.count(kOk) == tally.calls());
  CHECK(tally.wrong() == 0);
  CHECK(after.resident_bytes < (int64_t{256 * kSlower} << 20));
  CHECK(after.open_files <= connected.open_files + 4);
  client.reset();
  CHECK(FilesComeBackTo(before.open_files + 4));
}

TEST_CASE_METHOD(LoadFixture, "one greedy client among many does not crowd them out", "[load]") {
  Start({}, 1024);
  auto greedy = Connect(4, "greedy");
  auto modest = Connect(49);
  CallTally alone;
  CallTally beside;
  CallTally of_greedy;
  const auto modest_calls = [&](CallTally* tally) {
    RunOpenLoop(modest.get(), 100, milliseconds(3000), [&](int64_t i) {
      modest->Start(static_cast<int>(i % 49), modest->Rows(i * 97, 64), seconds(5),
                    [tally](const CallOutcome& outcome) { tally->Add(outcome); });
    });
  };
  modest_calls(&alone);
  std::atomic<bool> end{false};
  std::thread flood([&] {
    for (int64_t i = 0; !end; ++i) {
      // More than its limit, again and again.
      if (!greedy->WaitUntilAtMost(150, milliseconds(100))) continue;
      greedy->Start(static_cast<int>(i % 4), greedy->Rows(i, 512), seconds(5),
                    [&](const CallOutcome& outcome) { of_greedy.Add(outcome); });
    }
  });
  modest_calls(&beside);
  end = true;
  flood.join();
  greedy->WaitUntilAtMost(0, seconds(30));
  std::cout << "alone: " << alone.Describe() << "beside a greedy one: " << beside.Describe()
            << "the greedy one: " << of_greedy.Describe();
  CheckAnswered(alone);
  CHECK(static_cast<double>(beside.count(kOk)) >= 0.9 * static_cast<double>(alone.count(kOk)));
  CHECK(of_greedy.count(kRefused) > 0);
}

TEST_CASE_METHOD(LoadFixture, "a hundred clients that do not read harm no other and are cut off",
                 "[load]") {
  Start({"--write-timeout", "6"}, 1024);
  auto quick = Connect(8);
  const auto quick_calls = [&](CallTally* tally) {
    RunOpenLoop(quick.get(), 200, milliseconds(3000), [&](int64_t i) {
      quick->Start(static_cast<int>(i % 8), quick->Rows(i * 97, 64), seconds(5),
                   [tally](const CallOutcome& outcome) { tally->Add(outcome); });
    });
  };
  CallTally alone;
  quick_calls(&alone);
  const testing::ProcessUse before = Use();

  const int num_slow = SizeFromEnvironment("VICINITY_SLOW_CLIENTS", 100);
  auto slow = Connect(num_slow, "", true);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<proto::RowsChunk>>> readers;
  proto::RowsChunk first;
  for (int tries = 0; static_cast<int>(readers.size()) < num_slow && tries < 10'000; ++tries) {
    auto context = std::make_unique<grpc::ClientContext>();
    context->set_deadline(std::chrono::system_clock::now() + seconds(120));
    const int connection = static_cast<int>(readers.size());
    auto reader = slow->stub(connection)->FetchRows(context.get(), slow->Rows(0, 8192));
    if (!reader->Read(&first)) {  // too many of them at once: again
      reader->Finish();
      continue;
    }
    contexts.push_back(std::move(context));
    readers.push_back(std::move(reader));
  }
  CallTally beside;
  quick_calls(&beside);
  const testing::ProcessUse during = Use();
  CHECK(during.threads < 64);  // none of them has one
  std::cout << "alone: " << alone.Describe() << "beside slow ones: " << beside.Describe()
            << "a server: " << (before.resident_bytes >> 20) << " MiB before, "
            << (during.resident_bytes >> 20) << " with slow readers, " << during.threads
            << " threads\n";
  // While it is found out who does not read, others may be told to come again.
  CHECK(beside.count(kOk) + beside.count(kRefused) == beside.calls());
  CHECK(static_cast<double>(beside.count(kOk)) >= 0.9 * static_cast<double>(beside.calls()));
  CHECK(beside.Percentile(kOk, 0.99) <=
        std::max(10 * alone.Percentile(kOk, 0.99), milliseconds(100 * kSlower)));
  // A chunk each, in the handler and on its way, and what allocators keep.
  CHECK(during.resident_bytes < before.resident_bytes + (int64_t{200 * kSlower} << 20));
  // All are cut off without anybody's doing.
  CHECK(WaitUntilNoCalls(quick.get(), seconds(30)));
  int cut_off = 0;
  for (const auto& reader : readers) {
    while (reader->Read(&first)) {
    }
    cut_off += reader->Finish().error_code() == grpc::StatusCode::CANCELLED;
  }
  CHECK(cut_off == num_slow);
}

TEST_CASE_METHOD(LoadFixture, "a client that does not read the answer about its keys is cut off",
                 "[load]") {
  Start({"--write-timeout", "2"});
  auto slow = Connect(1, "", true);
  proto::ResolveRequest request;
  request.set_fingerprint(slow->fingerprint());
  request.set_keys(std::string(100'000 * 8, '\0'));  // windows hold a tenth of the answer
  grpc::CompletionQueue queue;  // before the call that it is for, which ends first
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + seconds(60));
  auto call = slow->stub(0)->AsyncResolveKeys(&context, request, &queue);
  void* tag = nullptr;
  bool ok = false;
  call->ReadInitialMetadata(nullptr);  // the request is sent with this, not before
  REQUIRE(queue.Next(&tag, &ok));
  auto other = Connect(1);
  CHECK(CallsThere(other.get()) == 1);
  CHECK(WaitUntilNoCalls(other.get(), seconds(30)));
  proto::ResolveReply reply;
  grpc::Status status;
  call->Finish(&reply, &status, nullptr);
  REQUIRE(queue.Next(&tag, &ok));
  CHECK(status.error_code() == grpc::StatusCode::CANCELLED);
  queue.Shutdown();
  CHECK_FALSE(queue.Next(&tag, &ok));
}

TEST_CASE_METHOD(LoadFixture, "while all turns are taken, status and health answer at once",
                 "[load]") {
  Start({"--max-calls", "40", "--max-client-calls", "40", "--write-timeout", "600"}, 1024);
  auto slow = Connect(1, "", true);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<proto::RowsChunk>>> readers;
  for (int i = 0; i < 40; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    contexts.back()->set_deadline(std::chrono::system_clock::now() + seconds(60));
    readers.push_back(slow->stub(0)->FetchRows(contexts.back().get(), slow->Rows(0, 8192)));
  }
  auto other = Connect(1);
  for (int i = 0; i < 3000 && CallsThere(other.get()) < 40; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  REQUIRE(CallsThere(other.get()) == 40);
  CallTally refused;
  other->Start(0, other->Rows(0, 1), seconds(10),
               [&](const CallOutcome& outcome) { refused.Add(outcome); });
  other->WaitUntilAtMost(0, seconds(10));
  CHECK(refused.count(kRefused) == 1);
  CHECK(refused.without_pushback() == 0);
  CHECK_THAT(refused.Describe(), Catch::Contains("the limit is 40 (--max-calls)"));
  CallTally status;
  RunOpenLoop(other.get(), 400, milliseconds(500), [&](int64_t) {
    other->Start(0, proto::StatusRequest(), seconds(10),
                 [&](const CallOutcome& outcome) { status.Add(outcome); });
  });
  CHECK(status.count(kOk) == status.calls());
  CHECK(status.Percentile(kOk, 0.99) < milliseconds(200 * kSlower));
  // Many streams of one connection cancelled at once can end gRPC 1.51's client (an assertion on
  // reference counts); streams whose server is gone end by themselves.
  VICINITY_REQUIRE_OK(testbed_->Kill(0));
  for (const auto& reader : readers) CHECK(!reader->Finish().ok());
}

}  // namespace
}  // namespace vicinity
