#include "client/cli/commands/operate/log_follower.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace vicinity::cli {
namespace {

// A server with room for a few lines, as proto/admin.proto has it.
class FakeServer {
 public:
  static constexpr uint64_t kRoom = 4;

  void Say(int lines) { said_ += static_cast<uint64_t>(lines); }
  void Restart() {
    ++run_;
    said_ = 0;
  }
  void Fail(absl::Status status) { failing_ = std::move(status); }
  void BeOld() { run_ = 0; }

  LogFollower::Ask Ask() {
    return [this](const proto::LogsRequest& request) -> absl::StatusOr<proto::LogsReply> {
      asked_ = request;
      if (!failing_.ok()) return failing_;
      proto::LogsReply reply;
      reply.set_forgotten(said_ > kRoom ? said_ - kRoom : 0);
      reply.set_run(run_);
      if (run_ != 0) reply.set_next(said_ + 1);
      uint64_t from = reply.forgotten() + 1;
      if (request.run() == run_) from = std::max(from, request.from());
      if (request.last() != 0 && said_ >= request.last()) {
        from = std::max(from, said_ - request.last() + 1);
      }
      for (uint64_t number = from; number <= said_; ++number) {
        proto::LogLine* const line = reply.add_lines();
        line->set_text(absl::StrCat("run ", run_, " line ", number));
        if (run_ != 0) line->set_number(number);
      }
      return reply;
    };
  }
  const proto::LogsRequest& asked() const { return asked_; }

 private:
  uint64_t run_ = 7;
  uint64_t said_ = 0;
  absl::Status failing_;
  proto::LogsRequest asked_;
};

std::vector<std::string> TextsOf(const LogFollower::News& news) {
  std::vector<std::string> texts;
  for (const proto::LogLine& line : news.lines) texts.push_back(line.text());
  return texts;
}

using Texts = std::vector<std::string>;

TEST_CASE("lines come once, beginning with the last ones", "[logs]") {
  FakeServer server;
  server.Say(3);
  LogFollower follower(server.Ask(), 2, "warning");
  const LogFollower::News first = follower.Next();
  CHECK(TextsOf(first) == Texts{"run 7 line 2", "run 7 line 3"});
  CHECK(first.run == 7);
  CHECK(first.notes.empty());
  CHECK(server.asked().level() == "warning");
  CHECK(follower.Next().lines.empty());
  server.Say(3);  // more than `last`, and all of them are shown
  CHECK(TextsOf(follower.Next()) == Texts{"run 7 line 4", "run 7 line 5", "run 7 line 6"});
  CHECK(server.asked().level() == "warning");
  CHECK(follower.Next().lines.empty());
}

TEST_CASE("what was forgotten before it was asked is told, and only that", "[logs]") {
  FakeServer server;
  server.Say(20);
  LogFollower follower(server.Ask(), 0, "");
  const LogFollower::News first = follower.Next();
  CHECK(first.lines.size() == FakeServer::kRoom);
  CHECK(first.notes.empty());  // nobody looked then
  server.Say(4);
  CHECK(follower.Next().notes.empty());
  server.Say(7);
  const LogFollower::News news = follower.Next();
  CHECK(TextsOf(news).front() == "run 7 line 28");
  REQUIRE(news.notes.size() == 1);
  CHECK_THAT(news.notes[0], Catch::StartsWith("3 lines"));
  CHECK(follower.Next().notes.empty());
}

TEST_CASE("a server that goes and comes back is waited for", "[logs]") {
  FakeServer server;
  server.Say(2);
  LogFollower follower(server.Ask(), 0, "");
  CHECK(follower.Next().lines.size() == 2);
  server.Fail(absl::UnavailableError("Connection refused"));
  const LogFollower::News away = follower.Next();
  CHECK(away.notes == Texts{"waited for: Connection refused"});
  CHECK(away.lines.empty());
  CHECK(absl::IsUnavailable(follower.status()));
  CHECK(follower.Next().notes.empty());  // said once

  SECTION("as it was") {
    server.Fail(absl::OkStatus());
    server.Say(1);
    const LogFollower::News back = follower.Next();
    CHECK(back.notes == Texts{"answers again"});
    CHECK(TextsOf(back) == Texts{"run 7 line 3"});
    CHECK(follower.status().ok());
  }
  SECTION("started again, with more lines than it keeps") {
    server.Fail(absl::OkStatus());
    server.Restart();
    server.Say(6);
    const LogFollower::News back = follower.Next();
    REQUIRE(back.notes.size() == 2);
    CHECK_THAT(back.notes[0], Catch::StartsWith("has been started again"));
    CHECK_THAT(back.notes[1], Catch::StartsWith("2 lines"));
    CHECK(TextsOf(back).front() == "run 8 line 3");
    CHECK(back.run == 8);
    CHECK(follower.Next().notes.empty());
  }
}

TEST_CASE("one that was started again unseen says all of its new lines", "[logs]") {
  FakeServer server;
  server.Say(1);
  LogFollower follower(server.Ask(), 1, "");
  CHECK(follower.Next().lines.size() == 1);
  server.Restart();
  server.Say(3);
  const LogFollower::News news = follower.Next();
  CHECK(news.lines.size() == 3);
  REQUIRE(news.notes.size() == 1);
  CHECK_THAT(news.notes[0], Catch::StartsWith("has been started again"));
}

TEST_CASE("one that is away at first begins with its last lines", "[logs]") {
  FakeServer server;
  server.Fail(absl::UnavailableError("Connection refused"));
  LogFollower follower(server.Ask(), 1, "");
  CHECK(follower.Next().notes.size() == 1);
  server.Fail(absl::OkStatus());
  server.Say(3);
  const LogFollower::News news = follower.Next();
  CHECK(TextsOf(news) == Texts{"run 7 line 3"});
  CHECK(news.notes == Texts{"answers again"});
}

TEST_CASE("a version that does not number its lines is not followed until it is upgraded",
          "[logs]") {
  FakeServer server;
  server.BeOld();
  server.Say(2);
  LogFollower follower(server.Ask(), 0, "");
  const LogFollower::News old = follower.Next();
  CHECK(old.lines.empty());
  REQUIRE(old.notes.size() == 1);
  CHECK_THAT(old.notes[0], Catch::Contains("does not number its lines"));
  server.Restart();
  server.Say(2);
  CHECK(follower.Next().lines.size() == 2);
}

}  // namespace
}  // namespace vicinity::cli
