#include "server/http/peer_watch.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "proto/cluster/host_port.h"
#include "server/http/http_listener.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using State = PeerWatch::State;

PeerWatch::Times Quick() {
  PeerWatch::Times times;
  times.between = std::chrono::milliseconds(1);
  return times;
}

// Asks until a server is what it should be, 20 s at most.
PeerWatch::Peer AskUntil(PeerWatch* watch, size_t peer, State state) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < end) {
    const PeerWatch::Peer seen = watch->Ask()[peer];
    if (seen.state == state) return seen;
    std::this_thread::yield();
  }
  return watch->Ask()[peer];
}

TEST_CASE("servers that answer are told from those that do not", "[http]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(auto there, HttpListener::Listen({"127.0.0.1", 0}));
  VICINITY_ASSERT_OK_AND_ASSIGN(auto gone, HttpListener::Listen({"127.0.0.1", 0}));
  const std::string gone_address = gone->address().ToString();
  gone.reset();
  PeerWatch watch({there->address().ToString(), gone_address, "", "[::"}, Quick());
  CHECK(watch.Ask().size() == 4);
  const PeerWatch::Peer seen = AskUntil(&watch, 0, State::kAnswers);
  CHECK(seen.state == State::kAnswers);
  CHECK(seen.connect_seconds > 0);
  CHECK(seen.fault.empty());
  const PeerWatch::Peer silent = AskUntil(&watch, 1, State::kSilent);
  CHECK(silent.state == State::kSilent);
  CHECK(silent.fault == "Connection refused");
  CHECK(watch.Ask()[2].state == State::kUnknown);
  CHECK(watch.Ask()[3].state == State::kSilent);
}

TEST_CASE("a server that goes and comes is seen to", "[http]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(auto there, HttpListener::Listen({"127.0.0.1", 0}));
  const HostPort address = there->address();
  PeerWatch watch({address.ToString()}, Quick());
  CHECK(AskUntil(&watch, 0, State::kAnswers).state == State::kAnswers);
  there.reset();
  CHECK(AskUntil(&watch, 0, State::kSilent).state == State::kSilent);
  VICINITY_ASSERT_OK_AND_ASSIGN(there, HttpListener::Listen(address));
  CHECK(AskUntil(&watch, 0, State::kAnswers).state == State::kAnswers);
}

TEST_CASE("what was seen before nobody asked for a while is not told", "[http]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(auto there, HttpListener::Listen({"127.0.0.1", 0}));
  PeerWatch::Times times;
  times.between = std::chrono::milliseconds(20);  // few: nobody accepts what it connects
  times.goes_on = std::chrono::milliseconds(100);
  PeerWatch watch({there->address().ToString()}, times);
  CHECK(AskUntil(&watch, 0, State::kAnswers).state == State::kAnswers);
  std::this_thread::sleep_for(2 * times.goes_on);
  CHECK(watch.Ask()[0].state == State::kUnknown);
  CHECK(AskUntil(&watch, 0, State::kAnswers).state == State::kAnswers);
}

TEST_CASE("many servers are looked at, and none needs no thread", "[http]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(auto there, HttpListener::Listen({"127.0.0.1", 0}));
  PeerWatch watch(std::vector<std::string>(200, there->address().ToString()), Quick());
  CHECK(AskUntil(&watch, 199, State::kAnswers).state != State::kUnknown);
  PeerWatch none({});
  CHECK(none.Ask().empty());
}

}  // namespace
}  // namespace vicinity
