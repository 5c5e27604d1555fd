// A trainer reads an epoch from real daemons through bad networks while things go wrong. Whatever
// does, no row and no edge it gets is a wrong one, nothing hangs, an error has a code that says
// what to do and names the shard, and when the trouble is over the epoch goes on with the same
// bytes.
//
// The shards have no replicas here (tests/integration/replica_test.cc has them): a fault that lasts
// longer than the client's patience ends the epoch, but only so.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/graph.h"
#include "client/loader.h"
#include "client/types/result.h"
#include "tests/integration/fixtures/certified_reader.h"
#include "tests/testing/chaos/chaos_flow.h"
#include "tests/testing/chaos/chaos_proxy.h"
#include "tests/testing/graphs/certified_graph.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::CertifiedReader;
using testing::Direction;
using testing::ReaderOptions;
using testing::Reading;
using testing::Testbed;
using testing::TestbedOptions;
using testing::Toxics;
using Clock = std::chrono::steady_clock;

constexpr int kVictim = 1;  // the server that things happen to, and its shard
constexpr int64_t kFaultStep = 5;
constexpr std::chrono::milliseconds kCallTimeout(1000);
constexpr std::chrono::milliseconds kCallBudget(1500);
// A batch takes three calls one after the other, each with its budget. Far more than they can take
// together, and far less than a hang, however busy the machine.
constexpr std::chrono::seconds kNoHang(15);
constexpr std::chrono::seconds kRecovery(60);

const std::set<ErrorCode> kAway = {ErrorCode::kUnavailable, ErrorCode::kDeadlineExceeded};

// Runs the test case that calls it once with each.
CachePolicy EveryCache() {
  return GENERATE(CachePolicy::kNone, CachePolicy::kVip, CachePolicy::kAuto);
}

class FaultTest {
 public:
  FaultTest() {
    TestbedOptions options;
    options.graph.num_nodes = 4000;
    options.graph.num_shards = 3;
    options.graph.row_bytes = 256;
    options.num_servers = 3;
    options.proxies = true;
    VICINITY_ASSERT_OK_AND_ASSIGN(testbed_, Testbed::Start(options));
    GraphOptions files;
    files.directory = testbed_->directory();
    expected_ = Open(files, CachePolicy::kNone)->Read(0).digests;
    REQUIRE(expected_.size() > 8 * kFaultStep);
  }

 protected:
  std::unique_ptr<CertifiedReader> Open(const GraphOptions& where, CachePolicy cache,
                                        int64_t batch_size = 16) const {
    ReaderOptions options;
    options.batch_size = batch_size;
    options.graph = where;
    options.cache = cache;
    options.cache_rows = cache == CachePolicy::kNone ? 0 : 800;
    auto reader = CertifiedReader::Open(&testbed_->graph(), options);
    INFO(reader.error().message());
    REQUIRE(reader.ok());
    return *std::move(reader);
  }
  std::unique_ptr<CertifiedReader> OpenServed(CachePolicy cache, int64_t batch_size = 16) const {
    GraphOptions servers;
    servers.cluster_file = testbed_->cluster_file();
    servers.call_timeout = kCallTimeout;
    servers.call_budget = kCallBudget;
    return Open(servers, cache, batch_size);
  }

  // Reads epoch 0 with the fault in the middle, and checks what must hold whatever the fault.
  Reading ReadWithFault(CertifiedReader* reader, const std::function<void()>& fault) const {
    Reading reading = reader->Read(0, 0, [&](int64_t step) {
      if (step == kFaultStep) fault();
    });
    CheckReading(reading, 0);
    REQUIRE(reading.digests.size() >= kFaultStep);
    return reading;
  }

  // What came is right and came in time; what ended it names a shard.
  void CheckReading(const Reading& reading, size_t first_step) const {
    INFO(reading.error.message());
    INFO(reading.verdict.first_wrong);
    REQUIRE(reading.verdict.wrong_rows == 0);
    REQUIRE(reading.verdict.wrong_edges == 0);
    REQUIRE(reading.longest_wait < kNoHang);
    REQUIRE(first_step + reading.digests.size() <= expected_.size());
    REQUIRE(std::equal(reading.digests.begin(), reading.digests.end(),
                       expected_.begin() + static_cast<int64_t>(first_step)));
    if (reading.error.ok()) {
      REQUIRE(first_step + reading.digests.size() == expected_.size());
    } else {
      REQUIRE(NamesVictim(reading.error));
    }
  }

  bool NamesVictim(const Error& error) const {
    const std::string address = testbed_->proxy(kVictim)->address().ToString();
    return error.message().find(absl::StrCat("shard ", kVictim, " at ", address)) !=
           std::string::npos;
  }

  // Reads on from `step` until the epoch's end, through as many errors as there are while the
  // channels find back; all of them with one of `codes`.
  void MustRecover(CertifiedReader* reader, size_t step, const std::set<ErrorCode>& codes) const {
    const Clock::time_point deadline = Clock::now() + kRecovery;
    while (true) {
      const Reading reading = reader->Read(0, static_cast<int64_t>(step));
      CheckReading(reading, step);
      step += reading.digests.size();
      if (reading.error.ok()) return;
      INFO(reading.error.message());
      REQUIRE(codes.count(reading.error.code()) == 1);
      REQUIRE(Clock::now() < deadline);
    }
  }

  // A fault that only its end can end: no other server has the shard.
  void MustFailThenRecover(CachePolicy cache, const std::function<void()>& fault,
                           const std::function<void()>& mend,
                           const std::set<ErrorCode>& codes) const {
    const std::unique_ptr<CertifiedReader> reader = OpenServed(cache);
    const Reading reading = ReadWithFault(reader.get(), fault);
    INFO(reading.error.message());
    REQUIRE(codes.count(reading.error.code()) == 1);
    mend();
    MustRecover(reader.get(), reading.digests.size(), codes);
  }

  // A fault that is over at once, or that a stream gets through.
  void MustEndOrRecover(CachePolicy cache, const std::function<void()>& fault,
                        const std::set<ErrorCode>& codes) const {
    const std::unique_ptr<CertifiedReader> reader = OpenServed(cache);
    const Reading reading = ReadWithFault(reader.get(), fault);
    if (reading.error.ok()) return;
    INFO(reading.error.message());
    REQUIRE(codes.count(reading.error.code()) == 1);
    testbed_->proxy(kVictim)->Heal();
    MustRecover(reader.get(), reading.digests.size(), codes);
  }

  // A trainer as a process, whose answers from one server go through `toxics`.
  struct Trainer {
    int exit_code = 0;
    std::string said;
  };
  Trainer TrainerThrough(const Toxics& toxics, int retries) const {
    testbed_->proxy(kVictim)->Set(Direction::kToClient, toxics);
    const testing::CertifiedShape& shape = testbed_->graph().shape();
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const auto program, testing::RunningProgram::Start(
                                {"tests/integration/fixtures/certified_trainer",
                                 testbed_->cluster_file(), absl::StrCat(shape.num_nodes),
                                 absl::StrCat(shape.num_shards), absl::StrCat(shape.row_bytes),
                                 absl::StrCat(kCallTimeout.count()), absl::StrCat(retries)}));
    VICINITY_ASSERT_OK_AND_ASSIGN(const int code,
                                  program->WaitForExit(absl::FromChrono(kRecovery)));
    testbed_->proxy(kVictim)->Heal();
    return {code, program->output()};
  }

  std::unique_ptr<Testbed> testbed_;
  std::vector<uint64_t> expected_;  // digests of epoch 0, read from the files
};

TEST_CASE_METHOD(FaultTest, "without a fault the epoch is that of the files", "[fault]") {
  MustEndOrRecover(EveryCache(), [] {}, {});
}

TEST_CASE_METHOD(FaultTest, "a server that is killed", "[fault]") {
  MustFailThenRecover(
      EveryCache(), [&] { VICINITY_REQUIRE_OK(testbed_->Kill(kVictim)); },
      [&] { VICINITY_REQUIRE_OK(testbed_->Restart(kVictim)); }, {ErrorCode::kUnavailable});
}

TEST_CASE_METHOD(FaultTest, "a server that is paused", "[fault]") {
  MustFailThenRecover(
      EveryCache(), [&] { testbed_->Pause(kVictim); }, [&] { testbed_->Continue(kVictim); }, kAway);
}

TEST_CASE_METHOD(FaultTest, "a server that is cut off, and what was under way is lost", "[fault]") {
  Toxics toxics;
  toxics.swallow = true;
  MustFailThenRecover(
      GENERATE(CachePolicy::kNone, CachePolicy::kAuto),
      [&] { testbed_->proxy(kVictim)->SetBoth(toxics); }, [&] { testbed_->proxy(kVictim)->Heal(); },
      kAway);
}

TEST_CASE_METHOD(FaultTest, "a server that is cut off, and what was under way comes late",
                 "[fault]") {
  Toxics toxics;
  toxics.stall = true;
  MustFailThenRecover(
      GENERATE(CachePolicy::kVip, CachePolicy::kAuto),
      [&] { testbed_->proxy(kVictim)->SetBoth(toxics); }, [&] { testbed_->proxy(kVictim)->Heal(); },
      kAway);
}

TEST_CASE_METHOD(FaultTest, "a server whose answers alone are lost", "[fault]") {
  Toxics toxics;
  toxics.swallow = true;
  MustFailThenRecover(
      CachePolicy::kNone, [&] { testbed_->proxy(kVictim)->Set(Direction::kToClient, toxics); },
      [&] { testbed_->proxy(kVictim)->Heal(); }, kAway);
}

TEST_CASE_METHOD(FaultTest, "connections that end in the middle of a stream", "[fault]") {
  Toxics toxics;
  toxics.cut_after = 20'000;
  toxics.cut_by_reset = GENERATE(false, true);
  MustEndOrRecover(
      EveryCache(), [&] { testbed_->proxy(kVictim)->Set(Direction::kToClient, toxics); },
      kAway);  // an attempt may be under way when the call's budget ends
}

TEST_CASE_METHOD(FaultTest, "connections that are half closed", "[fault]") {
  const Direction direction = GENERATE(Direction::kToServer, Direction::kToClient);
  MustEndOrRecover(
      GENERATE(CachePolicy::kNone, CachePolicy::kAuto),
      [&] { testbed_->proxy(kVictim)->HalfCloseAll(direction); }, kAway);
}

TEST_CASE_METHOD(FaultTest, "a network that is slow and in pieces loses nothing", "[fault]") {
  Toxics toxics;
  toxics.latency = absl::Milliseconds(1);
  toxics.jitter = absl::Milliseconds(4);
  toxics.bytes_per_second = 4'000'000;
  toxics.slice_bytes = 1000;
  const std::unique_ptr<CertifiedReader> reader = OpenServed(EveryCache());
  const Reading reading =
      ReadWithFault(reader.get(), [&] { testbed_->proxy(kVictim)->SetBoth(toxics); });
  CHECK(reading.error.ok());
}

TEST_CASE_METHOD(FaultTest, "a server that is replaced by one of another dataset", "[fault]") {
  const std::unique_ptr<CertifiedReader> reader = OpenServed(EveryCache());
  Reading reading =
      ReadWithFault(reader.get(), [&] { VICINITY_REQUIRE_OK(testbed_->Restart(kVictim, 2)); });
  size_t step = reading.digests.size();
  // Away at first; once it can be reached it is refused, and stays so.
  const Clock::time_point deadline = Clock::now() + kRecovery;
  while (reading.error.code() == ErrorCode::kUnavailable && Clock::now() < deadline) {
    reading = reader->Read(0, static_cast<int64_t>(step));
    CheckReading(reading, step);
    step += reading.digests.size();
  }
  INFO(reading.error.message());
  REQUIRE(reading.error.code() == ErrorCode::kFailedPrecondition);
  VICINITY_REQUIRE_OK(testbed_->Restart(kVictim));
  MustRecover(reader.get(), step, {ErrorCode::kUnavailable, ErrorCode::kFailedPrecondition});
}

// What follows flips single bits on the way: TCP's checksum guards the way to the proxy only, as it
// would guard the way to a broken switch.

Toxics FlipBits(int64_t every) {
  Toxics toxics;
  toxics.corrupt_every = every;
  return toxics;
}

TEST_CASE_METHOD(FaultTest, "requests that change on the way hang nothing and end no server",
                 "[fault]") {
  const std::unique_ptr<CertifiedReader> reader = OpenServed(CachePolicy::kVip);
  for (int64_t from = 0; from < kFaultStep; ++from) {
    testbed_->proxy(kVictim)->Set(Direction::kToServer, FlipBits(400));
    const Reading reading = reader->Read(0, from);
    INFO(reading.error.message());
    REQUIRE(reading.longest_wait < kNoHang);
    REQUIRE((reading.error.ok() || NamesVictim(reading.error)));
  }
  VICINITY_CHECK_OK(testbed_->Use(kVictim));
  testbed_->proxy(kVictim)->Heal();
  // Unknown is gRPC's word for headers that lack one: where both ends remember headers differently,
  // it goes on until the connection ends.
  MustRecover(reader.get(), 0,
              {ErrorCode::kUnavailable, ErrorCode::kDeadlineExceeded, ErrorCode::kInternal,
               ErrorCode::kAborted, ErrorCode::kUnknown});
}

TEST_CASE_METHOD(FaultTest, "requests that change on the way bring nothing of other nodes",
                 "[fault]") {
  std::string wrong;
  for (int64_t i = 0; wrong.empty() && i < 20; ++i) {
    // Large requests, whose bytes are ids: the ten lowest bits of one make another node of the
    // shard.
    const std::unique_ptr<CertifiedReader> reader = OpenServed(CachePolicy::kNone, 256);
    testbed_->proxy(kVictim)->Set(Direction::kToServer, FlipBits(5000 + i));
    wrong = reader->Read(0, i / 8 % 4).verdict.first_wrong;
    testbed_->proxy(kVictim)->Heal();
  }
  CHECK(wrong == "");
}

// Here the reader is a process, and what became of it is told apart from what it read. For gRPC
// 1.51, as Debian builds it, aborts a process whose answers are damaged, if it makes streaming
// calls by gRPC's callback interface: where a header :method without a value comes first, an
// assertion in is_trailers_only adds up the headers' sizes, and that of this one is abort().
// Completion queues do not ask that.
TEST_CASE_METHOD(FaultTest, "answers that change on the way reach no batch", "[fault]") {
  // The first bit flips when the graph is open, in the rows.
  CHECK_THAT(TrainerThrough(FlipBits(40'000), 0).said, !Catch::Contains("wrong "));
}

TEST_CASE_METHOD(FaultTest, "answers that change on the way end no trainer", "[fault]") {
  for (int i = 0; i < 4; ++i) {
    const Trainer trainer = TrainerThrough(FlipBits(3'000 + 37 * i), 3);
    INFO(trainer.said);
    CHECK(trainer.exit_code == 0);
  }
}

}  // namespace
}  // namespace vicinity
