#include "client/cli/output/terminal_progress.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <sstream>
#include <string>

namespace vicinity::cli {
namespace {

// A clock that the test turns.
struct FakeTime {
  std::chrono::steady_clock::time_point now;
  TerminalProgress::Clock clock() {
    return [this] { return now; };
  }
};

TEST_CASE("without a terminal a long phase says a line every ten seconds", "[cli]") {
  FakeTime time;
  std::ostringstream out;
  TerminalProgress progress(&out, /*is_terminal=*/false, time.clock());
  progress.Begin("reading", 1000, "edges");
  for (int second = 1; second <= 40; ++second) {
    time.now += std::chrono::seconds(1);
    progress.Update(second * 25);
  }
  progress.End();
  CHECK(out.str() ==
        "reading: 25 % of 1,000 edges, 25/s, 30.0 s left\n"
        "reading: 50 % of 1,000 edges, 25/s, 20.0 s left\n"
        "reading: 75 % of 1,000 edges, 25/s, 10.0 s left\n"
        "reading: 100 % of 1,000 edges, 25/s, 0 ms left\n"
        "reading: done, 1,000 edges in 40.0 s\n");
}

TEST_CASE("a short phase says nothing, a note always", "[cli]") {
  FakeTime time;
  std::ostringstream out;
  const bool is_terminal = GENERATE(false, true);
  TerminalProgress progress(&out, is_terminal, time.clock());
  progress.Begin("reading", 10, "edges");
  progress.Update(10);
  progress.End();
  progress.Note("dropped 3 self-loops");
  CHECK(out.str() == "dropped 3 self-loops\n");
}

TEST_CASE("a phase that counts seconds tells how long it has taken", "[cli]") {
  FakeTime time;
  std::ostringstream out;
  TerminalProgress progress(&out, /*is_terminal=*/false, time.clock());
  progress.Begin("METIS", 0, "s");
  time.now += std::chrono::seconds(12);
  progress.Update(12);
  progress.End();
  CHECK(out.str() == "METIS: 12.0 s\nMETIS: done in 12.0 s\n");
}

TEST_CASE("a terminal sees a bar that is redrawn in place and leaves no trace", "[cli]") {
  FakeTime time;
  std::ostringstream out;
  TerminalProgress progress(&out, /*is_terminal=*/true, time.clock());
  progress.Begin("reading", 100, "edges");
  time.now += std::chrono::milliseconds(500);
  progress.Update(50);
  CHECK(out.str() == "reading: [############............] 50 % of 100 edges, 100/s, 500 ms left");
  time.now += std::chrono::milliseconds(1);
  progress.Update(51);  // too soon to draw again
  progress.Note("a word");
  CHECK_THAT(out.str(), Catch::EndsWith("left\r\033[Ka word\n"));
  time.now += std::chrono::milliseconds(500);
  progress.Update(100);
  progress.End();
  CHECK_THAT(out.str(), Catch::EndsWith("\r\033[K"));
}

}  // namespace
}  // namespace vicinity::cli
