#include "server/handlers/status_handler.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "partition/dataset/verified_file.h"
#include "proto/common/ids.h"
#include "proto/security/certificates.h"
#include "proto/service.pb.h"
#include "proto/version.h"
#include "server/admission/admission.h"
#include "server/admission/admission_limits.h"
#include "server/admission/call_counters.h"
#include "server/admission/call_gate.h"
#include "server/handlers/server_state.h"
#include "server/logging/logging.h"
#include "tests/server/serving.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("status tells the server, its shards and its calls", "[status_handler]") {
  testing::Serving serving(testing::RandomGraph({}), {ShardId{0}, ShardId{2}});
  VerifiedFile* const file = serving.dataset().shard(ShardId{2})->files()[0].get();
  file->Condemn("torn").IgnoreError();
  serving.health()->SetScrubbed({3, 4, 5});
  CallCounters::Running running(serving.counters(), 3);
  {
    CallCounters::Running rows(serving.counters(), 1);
    rows.AddSent(77);
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::StatusReply reply, ReportStatus(serving.state(), {}));
  CHECK(reply.server() == "alpha");
  CHECK(reply.version() == kVersion);
  CHECK(reply.fingerprint() == serving.fingerprint());
  CHECK(reply.uptime_seconds() >= 0);
  CHECK(reply.resident_bytes() > 1 << 20);
  CHECK(reply.calls_in_flight() == 1);
  REQUIRE(reply.shards_size() == 2);
  CHECK(reply.shards(0).shard() == 0);
  CHECK(reply.shards(0).fault().empty());
  CHECK(reply.shards(0).mapped_bytes() > 0);
  CHECK(reply.shards(0).checked_bytes() == reply.shards(0).mapped_bytes());
  CHECK(reply.shards(1).shard() == 2);
  CHECK(reply.shards(1).fault() == file->path() + ": torn");
  CHECK(reply.scrub().passes() == 3);
  CHECK(reply.scrub().done_bytes() == 4);
  CHECK(reply.scrub().all_bytes() == 5);
  REQUIRE(reply.methods_size() == 3);  // those that have names
  const proto::MethodStatus& rows = reply.methods(1);
  CHECK(rows.method() == "FetchRows");
  CHECK(rows.started() == 1);
  CHECK(rows.failed() == 1);
  CHECK(rows.bytes_sent() == 77);
  CHECK(reply.limits_size() == 0);
  CHECK(reply.certificate_expires() == 0);
}

TEST_CASE("status tells when the certificate ends, and what is wrong with the next",
          "[status_handler]") {
  testing::Serving serving(testing::RandomGraph({}));
  ServerState state = serving.state();
  state.tls = [] { return TlsState{absl::FromUnixSeconds(77), "f.pem: is damaged", 0}; };
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::StatusReply reply, ReportStatus(state, {}));
  CHECK(reply.certificate_expires() == 77);
  CHECK(reply.certificate_fault() == "f.pem: is damaged");
}

TEST_CASE("status tells the limits, what is used of them and what they refused",
          "[status_handler]") {
  testing::Serving serving(testing::RandomGraph({}));
  AdmissionLimits limits;
  limits.max_client_calls = 1;
  limits.max_reply_bytes = 64 << 20;
  const auto log = MakeSilentLogger();
  CallGate gate(limits, log.get());
  ServerState state = serving.state();
  state.gate = &gate;
  CallGate::Passage::Wish wish;
  wish.client = "c";
  wish.reply_bytes = 2 << 20;
  wish.deadline = std::chrono::system_clock::time_point::max();
  CallGate::Passage runs(
      &gate, [] {}, [] {});
  CHECK(runs.Enter(wish) == Admission::Place::kRunning);
  CallGate::Passage refused(
      &gate, [] {}, [] {});
  CHECK(refused.Enter(wish) == Admission::Place::kRefused);
  wish.lane = Lane::kHealth;
  CallGate::Passage check(
      &gate, [] {}, [] {});
  CHECK(check.Enter(wish) == Admission::Place::kRunning);
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::StatusReply reply, ReportStatus(state, {}));
  std::map<std::string, proto::LimitStatus> found;
  for (const proto::LimitStatus& limit : reply.limits()) found[limit.name()] = limit;
  CHECK(found["max-calls"].limit() == 1024);
  CHECK(found["max-calls"].used() == 1);
  CHECK(found["max-calls"].refused() == 0);
  CHECK(found["max-client-calls"].limit() == 1);
  CHECK(found["max-client-calls"].refused() == 1);
  CHECK(found["max-reply-mib"].limit() == 64);
  CHECK(found["max-reply-mib"].used() == 2);
  CHECK(found["max-running"].used() == 1);
  CHECK(found["write-timeout"].limit() == 20);
  CHECK(found["health-checks"].used() == 1);
  CHECK(found["small-calls"].limit() == 512);
}

}  // namespace
}  // namespace vicinity
