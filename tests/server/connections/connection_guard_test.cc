// Virtual time and virtual sockets.
#include "server/connections/connection_guard.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/connections/peer_address.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Id = ConnectionGuard::Id;
using Verdict = ConnectionGuard::Verdict;

std::string Peer(const std::string& host, Id id) { return absl::StrCat("ipv4:", host, ":", id); }

class GuardTest {
 protected:
  ConnectionGuard& guard() {
    if (guard_ == nullptr) guard_ = std::make_unique<ConnectionGuard>(limits_);
    return *guard_;
  }
  bool Admit(Id id, const std::string& host = "10.0.0.1") {
    hosts_[id] = host;
    gives_way_.reset();
    return guard().Admit(id, *PeerOfText(Peer(host, id)), now_, &gives_way_) ==
           ConnectionGuard::Entry::kLetIn;
  }
  ConnectionAccount& account(Id id) {
    return *(accounts_[id] = guard().Find(Peer(hosts_[id], id)));
  }
  // A call from its first byte to its last.
  void Call(Id id, CallEnd end = CallEnd::kAnswered, int64_t request_bytes = 100) {
    ConnectionAccount& of_id = account(id);
    of_id.CallBegins();
    of_id.RequestArrives(request_bytes);
    of_id.CallEnds(end, /*had_request=*/true);
    traffic_[id].consumed += request_bytes + 80;
  }
  ConnectionGuard::Judgement Look(Id id) {
    return guard().Look(
        id, [&] { return traffic_[id]; }, now_);
  }
  bool MayStay(Id id) { return Look(id).verdict == Verdict::kMayStay; }

  ConnectionLimits limits_;
  std::unique_ptr<ConnectionGuard> guard_;
  std::map<Id, std::string> hosts_;
  std::map<Id, std::shared_ptr<ConnectionAccount>> accounts_;
  std::map<Id, SocketTraffic> traffic_;
  std::optional<Id> gives_way_;
  ConnectionGuard::Time now_{seconds(1'000'000)};
};

TEST_CASE_METHOD(GuardTest, "an honest connection stays, whatever its calls carry",
                 "[connection_guard]") {
  REQUIRE(Admit(1));
  for (int second = 0; second < 100; ++second) {
    for (int i = 0; i < 500; ++i) Call(1, CallEnd::kAnswered, 300);
    Call(1, CallEnd::kAnswered, 8'000'000);
    traffic_[1].sent += 2'000'000'000;
    traffic_[1].consumed += 100'000'000;  // acknowledgements and windows
    now_ += seconds(1);
    const auto judgement = Look(1);
    CAPTURE(second, judgement.reason);
    REQUIRE(judgement.verdict == Verdict::kMayStay);
  }
  CHECK(guard().num_cut_off() == 0);
}

TEST_CASE_METHOD(GuardTest, "who owes more than a handshake is told of, until it is accounted for",
                 "[connection_guard]") {
  REQUIRE(Admit(1));
  traffic_[1].consumed += 10'000;
  CHECK_FALSE(Look(1).owes);
  account(1).CallBegins();
  traffic_[1].consumed += 800'000;
  CHECK(Look(1).owes);
  account(1).RequestArrives(800'000);
  account(1).CallEnds(CallEnd::kAnswered, /*had_request=*/true);
  CHECK_FALSE(Look(1).owes);
}

TEST_CASE_METHOD(GuardTest, "large requests on their way are no flood", "[connection_guard]") {
  REQUIRE(Admit(1));
  Call(1);
  for (int i = 0; i < 3; ++i) account(1).CallBegins();
  traffic_[1].consumed += 24'000'000;
  CHECK(MayStay(1));
  for (int i = 0; i < 3; ++i) account(1).RequestArrives(8'000'000);
  now_ += milliseconds(20);
  CHECK(MayStay(1));
}

TEST_CASE_METHOD(GuardTest, "what gRPC has read before anybody was told of it is no flood",
                 "[connection_guard]") {
  // The cores sample neighbours for others: of 800 KB requests one or two are always read and not
  // yet begun.
  REQUIRE(Admit(1));
  Call(1);
  CHECK(MayStay(1));
  traffic_[1].consumed += 1'600'000;
  for (int tick = 0; tick < 500; ++tick) {
    traffic_[1].consumed += 800'000;
    now_ += milliseconds(20);
    const auto judgement = Look(1);
    CAPTURE(tick, judgement.reason);
    REQUIRE(judgement.verdict == Verdict::kMayStay);
    account(1).CallBegins();
    account(1).RequestArrives(800'000);
    account(1).CallEnds(CallEnd::kAnswered, /*had_request=*/true);
  }
  CHECK(guard().num_cut_off() == 0);
}

TEST_CASE_METHOD(GuardTest, "a request that arrives while its connection is looked at is no flood",
                 "[connection_guard]") {
  REQUIRE(Admit(1));
  ConnectionAccount& of_it = account(1);
  of_it.CallBegins();
  const auto judgement = guard().Look(
      1,
      [&] {
        of_it.RequestArrives(5'000'000);
        traffic_[1].consumed += 5'000'100;
        return traffic_[1];
      },
      now_);
  CAPTURE(judgement.reason);
  CHECK(judgement.verdict == Verdict::kMayStay);
  now_ += milliseconds(20);
  CHECK(MayStay(1));
}

TEST_CASE_METHOD(GuardTest, "who has proven itself does not flood for longer, or more",
                 "[connection_guard]") {
  for (Id id = 1; id <= 2; ++id) {
    REQUIRE(Admit(id, absl::StrCat("10.0.0.", id)));
    Call(id);
    CHECK(MayStay(id));
  }
  const auto begun = now_;
  while (now_ < begun + seconds(5)) {  // 2 MB a second, between calls
    now_ += milliseconds(20);
    Call(1);
    traffic_[1].consumed += 40'000;
    if (!MayStay(1)) break;
  }
  CHECK(now_ - begun < milliseconds(700));
  traffic_[2].consumed += 20'000'000;
  CHECK_FALSE(MayStay(2));
}

TEST_CASE_METHOD(GuardTest,
                 "bytes that belong to no answered call end the connection, and say who it was",
                 "[connection_guard]") {
  REQUIRE(Admit(1));
  Call(1);
  account(1).SetClient("trainer at 10.0.0.1");
  CHECK(MayStay(1));
  traffic_[1].consumed += 200'000;
  now_ += milliseconds(20);
  CHECK(MayStay(1));
  now_ += limits_.pays_within;
  const auto judgement = Look(1);
  CHECK(judgement.verdict == Verdict::kOffends);
  CHECK_THAT(judgement.reason, Catch::Contains("10.0.0.1:1 (client trainer at 10.0.0.1)") &&
                                   Catch::Contains("bytes that belong to no answered call") &&
                                   Catch::Contains("500 ms"));
  CHECK(guard().num_cut_off() == 1);
  CHECK(guard().num_open() == 0);
}

TEST_CASE_METHOD(GuardTest, "calls that are given up end the connection, if they are very many",
                 "[connection_guard]") {
  REQUIRE(Admit(1));
  REQUIRE(Admit(2, "10.0.0.2"));
  for (int tick = 0; tick < 500; ++tick) {  // 900 a second
    for (int i = 0; i < 18; ++i) Call(1, CallEnd::kUseless);
    now_ += milliseconds(20);
    REQUIRE(MayStay(1));
  }
  int ticks = 0;
  for (; ticks < 100 && MayStay(2); ++ticks) {  // 10,000 a second
    for (int i = 0; i < 200; ++i) Call(2, CallEnd::kUseless);
    now_ += milliseconds(20);
  }
  CHECK(ticks < 10);
}

TEST_CASE_METHOD(GuardTest, "more calls at once than anybody honest can have end the connection",
                 "[connection_guard]") {
  REQUIRE(Admit(1));
  for (int i = 0; i < 256; ++i) account(1).CallBegins();
  CHECK(MayStay(1));
  account(1).CallBegins();
  CHECK_THAT(Look(1).reason, Catch::Contains("257 calls at once"));
}

TEST_CASE_METHOD(GuardTest, "many connections together have less than each alone",
                 "[connection_guard]") {
  for (Id id = 1; id <= 8; ++id) {
    REQUIRE(Admit(id, absl::StrCat("10.0.0.", id)));
    for (int i = 0; i < 4; ++i) account(id).CallBegins();  // whose requests never come
    CHECK(MayStay(id));
  }
  // Alone each might have sent 33 MB.
  std::set<Id> left = {1, 2, 3, 4, 5, 6, 7, 8};
  int64_t most_at_once = 0;
  for (int round = 0; round < 20; ++round) {
    int64_t at_once = 0;
    for (Id id = 1; id <= 8; ++id) {
      if (left.count(id) == 0) continue;
      traffic_[id].consumed += 1'000'000;
      if (!MayStay(id)) left.erase(id);
      at_once += left.count(id) > 0 ? traffic_[id].consumed : 0;
    }
    most_at_once = std::max(most_at_once, at_once);
  }
  CHECK(most_at_once < 70'000'000);
  CHECK(left.size() >= 3);
}

TEST_CASE_METHOD(GuardTest, "whoever was cut off waits, longer each time, and others do not",
                 "[connection_guard]") {
  milliseconds waited(500);
  for (Id id = 1; id < 12; ++id) {
    REQUIRE(Admit(id));
    traffic_[id].consumed = 2'000'000;
    CHECK(Look(id).verdict == Verdict::kOffends);
    CHECK_FALSE(Admit(1000 + id));
    CHECK_FALSE(gives_way_.has_value());
    CHECK(Admit(2000 + id, "10.0.0.2"));
    now_ += waited - milliseconds(1);
    CHECK_FALSE(Admit(1000 + id));
    now_ += milliseconds(1);
    waited = std::min(waited * 2, milliseconds(30'000));
  }
  now_ += std::chrono::minutes(11);
  REQUIRE(Admit(100));
  traffic_[100].consumed = 2'000'000;
  CHECK_THAT(Look(100).reason, Catch::Contains("refused for 500 ms"));
}

TEST_CASE_METHOD(GuardTest, "behind a proxy the offender is cut off, and its address does not wait",
                 "[connection_guard]") {
  limits_.machines_wait = false;
  REQUIRE(Admit(1));
  traffic_[1].consumed = 2'000'000;
  const auto judgement = Look(1);
  CHECK(judgement.verdict == Verdict::kOffends);
  CHECK_THAT(judgement.reason, !Catch::Contains("refused"));
  for (Id id = 2; id < 600; ++id) {
    REQUIRE(Admit(id));
    CHECK(guard().Closed(id, now_).empty());
  }
}

TEST_CASE_METHOD(GuardTest, "one host's connections lock no other host out", "[connection_guard]") {
  limits_.max_connections = 100;
  limits_.max_of_machine = 40;
  for (Id id = 1; id <= 60; ++id) {
    CHECK(Admit(id));
    Call(id);
    CHECK(gives_way_.has_value() == false);
    if (id == 40) break;
  }
  CHECK_FALSE(Admit(41));  // all are in use
  for (Id id = 101; id <= 140; ++id) {
    REQUIRE(Admit(id, "10.0.0.2"));
    now_ += milliseconds(1);
  }
  CHECK(Admit(141, "10.0.0.2"));  // none has proven anything
  CHECK(gives_way_ == Id{101});
  for (Id id = 1; id <= 40; ++id) CHECK(MayStay(id));
  now_ += seconds(11);
  account(7).CallBegins();
  CHECK(MayStay(7));
  CHECK(Admit(42));  // now they are idle, but for one
  REQUIRE(gives_way_.has_value());
  CHECK(*gives_way_ <= 40);
  CHECK(*gives_way_ != 7);
}

TEST_CASE_METHOD(GuardTest, "a full server lets newcomers in for those that have proven nothing",
                 "[connection_guard]") {
  limits_.max_connections = 4;
  for (Id id = 1; id <= 4; ++id) {
    REQUIRE(Admit(id, absl::StrCat("10.0.0.", id)));
    now_ += milliseconds(10);
  }
  Call(1);
  MayStay(1);
  CHECK(Admit(5, "10.0.0.5"));
  CHECK(gives_way_ == Id{2});
}

TEST_CASE_METHOD(GuardTest, "a connection that proves nothing ends, one that waits for news stays",
                 "[connection_guard]") {
  REQUIRE(Admit(1));
  REQUIRE(Admit(2));
  REQUIRE(Admit(3));
  account(2).CallBegins();  // a watch
  Call(3);
  now_ += seconds(29);
  for (Id id = 1; id <= 3; ++id) CHECK(MayStay(id));
  now_ += seconds(2);
  CHECK(Look(1).verdict == Verdict::kIdle);
  CHECK(MayStay(2));
  CHECK(MayStay(3));
  CHECK(guard().num_cut_off() == 0);
}

TEST_CASE_METHOD(GuardTest,
                 "connections that come and go without an answered call make a host wait",
                 "[connection_guard]") {
  std::string told;
  Id id = 1;
  for (; id < 1000 && told.empty(); ++id) {
    REQUIRE(Admit(id));
    told = guard().Closed(id, now_);
  }
  CHECK(id < 300);
  CHECK_THAT(told, Catch::Contains("10.0.0.1") && Catch::Contains("500 ms"));
  CHECK_FALSE(Admit(5000));
  CHECK(Admit(5001, "10.0.0.2"));
}

TEST_CASE_METHOD(GuardTest, "what was not accepted here has an account that changes nothing",
                 "[connection_guard]") {
  const auto nobody = guard().Find("unix:/tmp/socket");
  REQUIRE(nobody != nullptr);
  nobody->CallBegins();
  CHECK(guard().num_open() == 0);
  CHECK(guard().Closed(17, now_).empty());
  CHECK(MayStay(17));
}

}  // namespace
}  // namespace vicinity
