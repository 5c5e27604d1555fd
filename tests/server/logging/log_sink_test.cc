#include "server/logging/log_sink.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/logger.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/logging/logging.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr std::chrono::seconds kLong(60);
constexpr int kMany = 20'000;  // lines of 60 bytes: more than pipe and queue hold

// A log into a pipe whose reader reads when it is told to.
class LogSinkTest {
 public:
  LogSinkTest() {
    std::signal(SIGPIPE, SIG_IGN);
    REQUIRE(pipe2(ends_, O_CLOEXEC) == 0);
    VICINITY_ASSERT_OK_AND_ASSIGN(sink_, LogSink::Start(ends_[1], 100'000));
    log_ = MakeLogger(LogFormat::kText, spdlog::level::debug, sink_);
  }
  ~LogSinkTest() {
    sink_->Finish(std::chrono::nanoseconds(0));
    close(ends_[1]);
    CloseReader();
  }

 protected:
  void CloseReader() {
    if (ends_[0] >= 0) close(ends_[0]);
    ends_[0] = -1;
  }
  // Reads until a line contains `end`, for a minute without a byte at most.
  std::string ReadUntil(const std::string& end) {
    std::string text;
    while (text.find(end) == std::string::npos || text.back() != '\n') {
      pollfd readable{ends_[0], POLLIN, 0};
      REQUIRE(poll(&readable, 1, 60'000) == 1);
      char buffer[4096];
      const ssize_t got = read(ends_[0], buffer, sizeof(buffer));
      REQUIRE(got > 0);
      text.append(buffer, static_cast<size_t>(got));
    }
    return text;
  }
  // Returns although nobody reads.
  void FillUp() {
    for (int i = 0; i < kMany; ++i) log_->debug("line {} that nobody reads", i);
  }

  int ends_[2] = {-1, -1};
  std::shared_ptr<LogSink> sink_;
  std::shared_ptr<spdlog::logger> log_;
};

TEST_CASE_METHOD(LogSinkTest, "lines that are read come whole and in order", "[logging]") {
  for (int i = 0; i < 100; ++i) log_->info("line {}", i);
  const std::string text = ReadUntil("line 99\n");
  size_t at = 0;
  for (int i = 0; i < 100; ++i) {
    at = text.find(absl::StrCat("info    line ", i, "\n"), at);
    REQUIRE(at != std::string::npos);
  }
  sink_->Finish(kLong);
  CHECK(sink_->counts().dropped == 0);
  CHECK(sink_->counts().queued_bytes == 0);
}

TEST_CASE_METHOD(LogSinkTest, "lines that nobody reads are dropped, counted and told",
                 "[logging]") {
  FillUp();
  const LogSink::Counts full = sink_->counts();
  CHECK(full.dropped > 0);
  CHECK(full.queued_bytes <= full.queue_bytes);
  const std::string notice = absl::StrCat(full.dropped, " lines of this log were dropped");
  const std::string text = ReadUntil(notice);
  const auto lines = std::count(text.begin(), text.end(), '\n');
  CHECK(lines - 1 + full.dropped == kMany);
  log_->info("all is well again");
  ReadUntil("all is well again");
  CHECK(sink_->counts().dropped == full.dropped);
}

TEST_CASE_METHOD(LogSinkTest, "warnings still have room when others are dropped", "[logging]") {
  FillUp();
  const int64_t dropped = sink_->counts().dropped;
  log_->error("the disk is on fire");
  CHECK(sink_->counts().dropped == dropped);
  ReadUntil("the disk is on fire");
}

TEST_CASE_METHOD(LogSinkTest, "the end waits for a reader who reads", "[logging]") {
  log_->error("the last words");
  sink_->Finish(kLong);
  CHECK_THAT(ReadUntil("\n"), Catch::EndsWith("the last words\n"));
}

TEST_CASE_METHOD(LogSinkTest, "the end does not wait for a reader who is gone or asleep",
                 "[logging]") {
  FillUp();
  if (GENERATE(false, true)) CloseReader();
  sink_->Finish(std::chrono::milliseconds(1));
  log_->error("nobody hears this");
  CHECK(sink_->counts().dropped > 0);
}

TEST_CASE_METHOD(LogSinkTest, "lines to a reader who is gone are counted as dropped", "[logging]") {
  CloseReader();
  for (int i = 0; i < 10; ++i) log_->error("line {}", i);
  sink_->Finish(kLong);
  CHECK(sink_->counts().dropped == 10);
}

}  // namespace
}  // namespace vicinity
