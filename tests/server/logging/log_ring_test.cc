#include "server/logging/log_ring.h"

#include <spdlog/logger.h>

#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "proto/common/utf8.h"
#include "server/logging/logging.h"

namespace vicinity {
namespace {

constexpr size_t kAll = std::numeric_limits<size_t>::max();

std::vector<std::string> TextsOf(const LogRing::Lines& lines) {
  std::vector<std::string> texts;
  for (const LogRing::Line& line : lines.lines) texts.push_back(line.text);
  return texts;
}

TEST_CASE("the last lines are there, oldest first, by level", "[log_ring]") {
  const auto ring = std::make_shared<LogRing>();
  const auto log = MakeLogger(LogFormat::kJson, spdlog::level::info, ring);
  const auto before = std::chrono::system_clock::now();
  log->debug("not logged");
  log->info("one");
  log->warn("two");
  log->error("three");
  log->info("four");
  const LogRing::Lines all = ring->Newest(kAll, spdlog::level::trace);
  CHECK(TextsOf(all) == std::vector<std::string>{"one", "two", "three", "four"});
  CHECK(all.forgotten == 0);
  CHECK(all.lines[1].level == spdlog::level::warn);
  CHECK(all.lines[0].time >= before);
  CHECK(TextsOf(ring->Newest(2, spdlog::level::trace)) ==
        std::vector<std::string>{"three", "four"});
  CHECK(TextsOf(ring->Newest(1, spdlog::level::warn)) == std::vector<std::string>{"three"});
  CHECK(TextsOf(ring->Newest(9, spdlog::level::err)) == std::vector<std::string>{"three"});
  log->set_level(spdlog::level::debug);
  log->debug("five");
  CHECK(TextsOf(ring->Newest(1, spdlog::level::trace)) == std::vector<std::string>{"five"});
}

TEST_CASE("who was told lines before is told those that came since", "[log_ring]") {
  const auto ring = std::make_shared<LogRing>();
  const auto log = MakeLogger(LogFormat::kText, spdlog::level::info, ring);
  CHECK(ring->Newest(kAll, spdlog::level::trace).next == 1);
  log->info("one");
  log->warn("two");
  const uint64_t next = ring->Newest(kAll, spdlog::level::trace).next;
  CHECK(next == 3);
  CHECK(ring->Newest(kAll, spdlog::level::trace, next).lines.empty());
  log->info("three");
  log->warn("four");
  const LogRing::Lines since = ring->Newest(kAll, spdlog::level::trace, next);
  CHECK(TextsOf(since) == std::vector<std::string>{"three", "four"});
  CHECK(since.lines[0].number == 3);
  CHECK(since.next == 5);
  const LogRing::Lines warnings = ring->Newest(kAll, spdlog::level::warn, next);
  CHECK(TextsOf(warnings) == std::vector<std::string>{"four"});
  CHECK(warnings.next == 5);
  CHECK(TextsOf(ring->Newest(1, spdlog::level::trace, 2)) == std::vector<std::string>{"four"});
  CHECK(ring->run() != 0);
  CHECK(LogRing().run() != ring->run());
}

TEST_CASE("its memory is bounded, and what went is counted", "[log_ring]") {
  constexpr size_t kBytes = 100'000;
  const auto ring = std::make_shared<LogRing>(kBytes);
  const auto log = MakeLogger(LogFormat::kText, spdlog::level::info, ring);
  for (int i = 0; i < 1000; ++i) log->info("{} {}", i, std::string(1000, 'x'));
  const LogRing::Lines all = ring->Newest(kAll, spdlog::level::trace);
  CHECK(all.forgotten + all.lines.size() == 1000);
  CHECK(all.lines.front().number == all.forgotten + 1);
  CHECK(all.lines.back().number == 1000);
  CHECK(all.next == 1001);
  CHECK(all.lines.size() < 100);
  CHECK(all.lines.size() > 50);
  CHECK_THAT(all.lines.back().text, Catch::StartsWith("999 "));
}

TEST_CASE("a line is text of one line, and not longer than it may be", "[log_ring]") {
  const auto ring = std::make_shared<LogRing>();
  const auto log = MakeLogger(LogFormat::kText, spdlog::level::info, ring);
  log->info("caf\xe9\nforged line");
  std::string long_text = "x";
  while (long_text.size() < 3 * LogRing::kMaxLine) long_text += "\xe2\x82\xac";  // of 3 bytes
  log->info(long_text);
  const LogRing::Lines lines = ring->Newest(kAll, spdlog::level::trace);
  REQUIRE(lines.lines.size() == 2);
  CHECK(lines.lines[0].text == "caf\\xe9\\nforged line");
  CHECK(lines.lines[1].text.size() <= LogRing::kMaxLine);
  CHECK(lines.lines[1].text.size() > LogRing::kMaxLine - 3);
  CHECK(IsUtf8(lines.lines[1].text));
}

}  // namespace
}  // namespace vicinity
