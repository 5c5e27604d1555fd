#include "client/cli/commands/operate/rollout.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/status_checks.h"

namespace vicinity::cli {
namespace {

// Servers that drain and start when they are told to, in a time of their own.
class World {
 public:
  struct Server {
    bool serves = true;
    absl::Duration ending_takes = absl::Seconds(4);  // by a drain, calls that are under way
    absl::Time ends = absl::InfinitePast();
    bool restarts = true;                                 // the command starts it anew
    absl::Duration start_takes = absl::Seconds(3);        // until it serves
    absl::Duration catching_up_takes = absl::Seconds(2);  // after that
    absl::Time started = absl::UnixEpoch() - absl::Hours(1);
    uint64_t fingerprint = 7;
    std::string fault;
    bool lacks_shard = false;
  };

  explicit World(int num_servers) {
    for (int i = 0; i < num_servers; ++i) {
      const std::string name = absl::StrCat("s", i);
      servers[name] = Server();
      // Shard i on servers i and i + 1.
      list.push_back({name, {i, (i + num_servers - 1) % num_servers}, true});
    }
    calls.hand_over = [this](const std::string& name) -> absl::StatusOr<std::vector<int32_t>> {
      log.push_back("hand over " + name);
      if (!hand_over_says.ok()) return hand_over_says;
      return writes;
    };
    calls.hand_back = [this](const std::string& name, const std::vector<int32_t>& shards) {
      CHECK(shards == writes);
      log.push_back("hand back " + name);
      return hand_back_says;
    };
    calls.drain = [this](const std::string& name) {
      log.push_back("drain " + name);
      servers[name].serves = false;
      servers[name].ends = now + servers[name].ending_takes;
      return absl::OkStatus();
    };
    calls.runs = [this](const std::string& name) { return now < servers[name].ends; };
    calls.restart = [this](const std::string& name) {
      log.push_back("restart " + name);
      cut_off |= now < servers[name].ends;
      if (servers[name].restarts) {
        servers[name].serves = true;
        servers[name].started = now;
      }
      return restart_says;
    };
    calls.look = [this](const std::string& name) { return Look(name); };
    calls.now = [this] { return now; };
    calls.sleep = [this](absl::Duration time) { now += time; };
    calls.tell = [this](const std::string& line) { told.push_back(line); };
  }

  absl::StatusOr<proto::StatusReply> Look(const std::string& name) const {
    const Server& server = servers.at(name);
    const absl::Duration age = now - server.started;
    if (!server.serves || age < server.start_takes) return absl::UnavailableError("no answer");
    proto::StatusReply status;
    status.set_fingerprint(server.fingerprint);
    status.set_uptime_seconds(absl::ToDoubleSeconds(age));
    for (const RolloutServer& known : list) {
      if (known.name != name) continue;
      for (const int32_t shard : known.shards) {
        if (server.lacks_shard && shard == known.shards[0]) continue;
        proto::ShardStatus* const added = status.add_shards();
        added->set_shard(shard);
        added->set_fault(server.fault);
        const bool caught_up = age >= server.start_takes + server.catching_up_takes;
        added->mutable_position()->set_version(caught_up ? 100 : 50);
      }
    }
    return status;
  }

  std::map<std::string, Server> servers;
  std::vector<RolloutServer> list;
  RolloutCalls calls;
  absl::Time now = absl::UnixEpoch();
  std::vector<int32_t> writes;  // what the server that is rolled hands over
  absl::Status hand_over_says;
  absl::Status hand_back_says;
  absl::Status restart_says;
  bool cut_off = false;  // a command came while a drain was under way
  std::vector<std::string> log;
  std::vector<std::string> told;
};

TEST_CASE("a server is drained, restarted, and waited for until it has caught up", "[rollout]") {
  World world(3);
  VICINITY_REQUIRE_OK(CheckAllReady(world.list, world.calls));
  VICINITY_REQUIRE_OK(RollServer(world.list, 1, {}, world.calls));
  CHECK(world.log == std::vector<std::string>{"drain s1", "restart s1"});
  CHECK(world.Look("s1").value().shards(0).position().version() == 100);
  CHECK_FALSE(world.cut_off);
  CHECK(world.now - absl::UnixEpoch() >= absl::Seconds(9));
  CHECK(world.now - absl::UnixEpoch() <= absl::Seconds(10));
  bool told = false;
  for (const std::string& line : world.told) {
    told |= line == "s1: shard 0 is at version 50, others at 100";
  }
  CHECK(told);
}

TEST_CASE("others write a server's shards from before its drain until it is well again",
          "[rollout]") {
  World world(2);
  world.list[1].hands_over = true;
  const auto roll = [&world] { return RollServer(world.list, 1, {}, world.calls); };
  SECTION("it writes") {
    world.writes = {0, 1};
    VICINITY_REQUIRE_OK(roll());
    CHECK(world.log ==
          std::vector<std::string>{"hand over s1", "drain s1", "restart s1", "hand back s1"});
    CHECK(world.Look("s1").value().shards(0).position().version() == 100);
  }
  SECTION("it writes nothing") {
    VICINITY_REQUIRE_OK(roll());
    CHECK(world.log == std::vector<std::string>{"hand over s1", "drain s1", "restart s1"});
  }
  SECTION("nobody can take them: nothing is touched") {
    world.hand_over_says = absl::UnavailableError("too few answer");
    VICINITY_CHECK_CODE(roll(), absl::StatusCode::kUnavailable);
    CHECK(world.log == std::vector<std::string>{"hand over s1"});
  }
  SECTION("it does not come back: others go on writing") {
    world.writes = {0};
    world.servers["s1"].restarts = false;
    VICINITY_CHECK_CODE(roll(), absl::StatusCode::kDeadlineExceeded);
    CHECK(world.log.back() == "restart s1");
  }
  SECTION("it cannot have them again") {
    world.writes = {0};
    world.hand_back_says = absl::DeadlineExceededError("lacks something");
    const absl::Status status = roll();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kDeadlineExceeded);
    CHECK_THAT(std::string(status.message()), Catch::Contains("s1 is well: lacks something"));
  }
}

TEST_CASE("a server without an admin address is left to the command", "[rollout]") {
  World world(2);
  world.list[0].drains = false;
  VICINITY_REQUIRE_OK(RollServer(world.list, 0, {}, world.calls));
  CHECK(world.log == std::vector<std::string>{"restart s0"});
}

TEST_CASE("a drain that does not end the server leaves it to the command", "[rollout]") {
  World world(2);
  world.servers["s0"].ending_takes = absl::InfiniteDuration();
  VICINITY_REQUIRE_OK(RollServer(world.list, 0, {}, world.calls));
  CHECK(world.log == std::vector<std::string>{"drain s0", "restart s0"});
  CHECK(world.now - absl::UnixEpoch() >= RolloutOptions().drain_limit);
}

TEST_CASE("one that a supervisor starts again by itself is not waited for to be gone",
          "[rollout]") {
  World world(2);
  world.calls.runs = [&world](const std::string& name) {
    World::Server& server = world.servers[name];
    if (world.now >= server.ends && !server.serves) {
      server.serves = true;
      server.started = world.now;
    }
    return true;
  };
  VICINITY_REQUIRE_OK(RollServer(world.list, 0, {}, world.calls));
  CHECK(world.now - absl::UnixEpoch() < RolloutOptions().drain_limit);
}

TEST_CASE("one that does not come back as it was ends it, with the reason", "[rollout]") {
  World world(2);
  World::Server& server = world.servers["s0"];
  const auto says = [&world] {
    const absl::Status status = RollServer(world.list, 0, {}, world.calls);
    VICINITY_CHECK_CODE(status, absl::StatusCode::kDeadlineExceeded);
    return std::string(status.message());
  };
  SECTION("it stays away") {
    server.restarts = false;
    CHECK_THAT(says(), Catch::Contains("server s0") && Catch::Contains("no answer"));
  }
  SECTION("the command restarts nothing") {
    server.restarts = false;
    world.list[0].drains = false;
    CHECK_THAT(says(), Catch::Contains("the process from before"));
  }
  SECTION("it serves other data") {
    const auto restart = world.calls.restart;
    world.calls.restart = [&](const std::string& name) {
      server.fingerprint = 8;
      return restart(name);
    };
    CHECK_THAT(says(), Catch::Contains("another dataset"));
  }
  SECTION("a shard is damaged") {
    const auto restart = world.calls.restart;
    world.calls.restart = [&](const std::string& name) {
      server.fault = "its page 3";
      return restart(name);
    };
    CHECK_THAT(says(), Catch::Contains("shard 0: its page 3"));
  }
  SECTION("a shard is missing") {
    const auto restart = world.calls.restart;
    world.calls.restart = [&](const std::string& name) {
      server.lacks_shard = true;
      return restart(name);
    };
    CHECK_THAT(says(), Catch::Contains("does not serve shard 0"));
  }
  SECTION("it never catches up") {
    server.catching_up_takes = absl::InfiniteDuration();
    CHECK_THAT(says(), Catch::Contains("at version 50, others at 100"));
  }
}

TEST_CASE("a command that fails ends it at once", "[rollout]") {
  World world(2);
  world.list[0].drains = false;
  world.restart_says = absl::AbortedError("exit status 3");
  const absl::Time before = world.now;
  const absl::Status status = RollServer(world.list, 0, {}, world.calls);
  VICINITY_CHECK_CODE(status, absl::StatusCode::kAborted);
  CHECK_THAT(std::string(status.message()), Catch::Contains("server s0"));
  CHECK(world.now == before);
}

TEST_CASE("with one server away none is touched, and it is named", "[rollout]") {
  World world(3);
  world.servers["s2"].serves = false;
  world.servers["s1"].fault = "its page 3";
  const absl::Status status = CheckAllReady(world.list, world.calls);
  VICINITY_CHECK_CODE(status, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("s1: shard 1: its page 3") && Catch::Contains("s2: no answer"));
  CHECK(world.log.empty());
}

TEST_CASE("shards without a replica are known", "[rollout]") {
  CHECK(OnlyThere(World(3).list, 0).empty());
  const std::vector<RolloutServer> servers = {{"a", {0, 1}}, {"b", {1, 2}}};
  CHECK(OnlyThere(servers, 0) == std::vector<int32_t>{0});
  CHECK(OnlyThere(servers, 1) == std::vector<int32_t>{2});
}

}  // namespace
}  // namespace vicinity::cli
