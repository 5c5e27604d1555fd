#include "client/cli/output/load_rates.h"

#include <catch2/catch.hpp>

namespace vicinity::cli {
namespace {

proto::StatusReply Reply(double uptime, uint64_t hellos, uint64_t rows, uint64_t bytes) {
  proto::StatusReply reply;
  reply.set_uptime_seconds(uptime);
  proto::MethodStatus* hello = reply.add_methods();
  hello->set_method("Hello");
  hello->set_started(hellos);
  proto::MethodStatus* fetch = reply.add_methods();
  fetch->set_method("FetchRows");
  fetch->set_started(rows);
  fetch->set_failed(rows / 2);
  fetch->set_bytes_sent(bytes);
  return reply;
}

TEST_CASE("rates are what was added, by the server's clock", "[cli]") {
  const LoadRates rates = RatesBetween(Reply(10, 1, 100, 5'000), Reply(12, 3, 200, 9'000));
  CHECK(rates.seconds == 2);
  REQUIRE(rates.methods.size() == 2);
  CHECK(rates.methods[0].method == "Hello");
  CHECK(rates.methods[0].calls == 1);
  CHECK(rates.methods[1].calls == 50);
  CHECK(rates.methods[1].failed == 25);
  CHECK(rates.methods[1].bytes == 2'000);
  CHECK(rates.all.calls == 51);
  CHECK(rates.all.bytes == 2'000);
}

TEST_CASE("a process started in between counts from its start", "[cli]") {
  const LoadRates rates = RatesBetween(Reply(100, 50, 1'000, 5'000), Reply(2, 4, 8, 16));
  CHECK(rates.seconds == 2);
  CHECK(rates.methods[0].calls == 2);
  CHECK(rates.all.bytes == 8);
}

TEST_CASE("what limits turned away is counted over all of them", "[cli]") {
  proto::StatusReply before = Reply(10, 1, 1, 1);
  before.add_limits()->set_refused(3);
  proto::StatusReply after = Reply(12, 1, 1, 1);
  after.add_limits()->set_refused(7);
  after.add_limits()->set_refused(10);
  CHECK(RejectedOf(before) == 3);
  CHECK(RejectedOf(after) == 17);
  CHECK(RatesBetween(before, after).rejected == 7);
  after.set_uptime_seconds(2);  // another process: all of it is new
  CHECK(RatesBetween(before, after).rejected == 8.5);
}

TEST_CASE("no time, no rate", "[cli]") {
  const LoadRates rates = RatesBetween(Reply(5, 1, 1, 1), Reply(5, 9, 9, 9));
  CHECK(rates.all.calls == 0);
  CHECK(RatesBetween({}, {}).methods.empty());
}

}  // namespace
}  // namespace vicinity::cli
