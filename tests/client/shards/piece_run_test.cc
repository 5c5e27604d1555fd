#include "client/shards/piece_run.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "client/shards/fan_out.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("pieces that end at once do not pile up on the stack", "[piece_run]") {
  constexpr int64_t kPieces = 200'000;
  int64_t started = 0;
  FanOut calls;
  RunPieces(
      kPieces, 1,
      [&](int64_t piece, const Done& done) {
        if (piece == started) ++started;
        done(absl::OkStatus());
      },
      calls.Add());
  VICINITY_CHECK_OK(calls.Wait());
  CHECK(started == kPieces);
}

TEST_CASE("no pieces are done at once", "[piece_run]") {
  int over = 0;
  RunPieces(
      0, 3, [](int64_t, const Done&) { FAIL("there is no piece"); },
      [&](const absl::Status& status) { over += status.ok() ? 1 : 100; });
  CHECK(over == 1);
}

TEST_CASE("no more pieces run at once than are allowed", "[piece_run]") {
  std::vector<Done> running;
  int over = 0;
  RunPieces(
      5, 2, [&](int64_t, Done done) { running.push_back(std::move(done)); },
      [&](const absl::Status& status) { over += status.ok() ? 1 : 100; });
  CHECK(running.size() == 2);
  running[1](absl::OkStatus());
  CHECK(running.size() == 3);
  running[0](absl::OkStatus());
  running[2](absl::OkStatus());
  CHECK(running.size() == 5);
  running[3](absl::OkStatus());
  CHECK(over == 0);
  running[4](absl::OkStatus());
  CHECK(over == 1);
}

TEST_CASE("after a failure nothing new starts, and what runs is waited for", "[piece_run]") {
  std::vector<Done> running;
  absl::Status outcome;
  int over = 0;
  RunPieces(
      5, 2, [&](int64_t, Done done) { running.push_back(std::move(done)); },
      [&](const absl::Status& status) {
        outcome = status;
        ++over;
      });
  running[0](absl::UnavailableError("shard 1"));
  CHECK(running.size() == 2);
  CHECK(over == 0);
  running[1](absl::OkStatus());
  CHECK(over == 1);
  VICINITY_CHECK_CODE(outcome, absl::StatusCode::kUnavailable);
}

TEST_CASE("pieces may end in threads of their own", "[piece_run]") {
  constexpr int64_t kPieces = 200;
  std::vector<std::thread> threads(kPieces);
  std::vector<int> seen(kPieces, 0);
  {
    FanOut calls;
    RunPieces(
        kPieces, 4,
        [&](int64_t piece, Done done) {
          threads[piece] = std::thread([&seen, piece, done = std::move(done)] {
            seen[piece] = 1;
            done(absl::OkStatus());
          });
        },
        calls.Add());
    VICINITY_CHECK_OK(calls.Wait());
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(seen == std::vector<int>(kPieces, 1));
}

}  // namespace
}  // namespace vicinity
