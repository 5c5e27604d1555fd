#include "server/status_handler.h"

#include <catch2/catch.hpp>
#include <string>

#include "proto/common/ids.h"
#include "proto/service.pb.h"
#include "proto/version.h"
#include "server/call_counters.h"
#include "tests/server/serving.h"
#include "tests/testing/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("status tells the server, its shards and its calls", "[status_handler]") {
  testing::Serving serving(testing::RandomGraph({}), {ShardId{0}, ShardId{2}});
  serving.health()->MarkFaulty(ShardId{2}, "some/file: torn");
  CallCounters::Running running(serving.counters(), Method::kStatus);
  {
    CallCounters::Running rows(serving.counters(), Method::kFetchRows);
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
  CHECK(reply.shards(1).fault() == "some/file: torn");
  REQUIRE(reply.methods_size() == static_cast<int>(kMethodNames.size()));
  const proto::MethodStatus& rows = reply.methods(static_cast<int>(Method::kFetchRows));
  CHECK(rows.method() == "FetchRows");
  CHECK(rows.started() == 1);
  CHECK(rows.failed() == 1);
  CHECK(rows.bytes_sent() == 77);
}

}  // namespace
}  // namespace vicinity
