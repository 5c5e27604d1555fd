// The last lines of a log, in memory, for who asks the server instead of whoever collects its log.
#pragma once

#include <spdlog/details/log_msg.h>
#include <spdlog/sinks/sink.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "proto/common/mutex.h"

namespace vicinity {

// A sink beside the one that writes: it has what the logger's level lets through.
//
// Lines are numbered, so that who comes again need not be told twice, and sees what it missed.
//
// Threads: any.
// Memory:  `max_bytes`, the oldest lines go; lines longer than kMaxLine are cut.
class LogRing final : public spdlog::sinks::sink {
 public:
  static constexpr size_t kMaxLine = 8 << 10;

  struct Line {
    std::chrono::system_clock::time_point time;
    spdlog::level::level_enum level = spdlog::level::info;
    uint64_t number = 0;  // the first is 1
    std::string text;     // EscapedText: one line of UTF-8
  };
  struct Lines {
    std::vector<Line> lines;  // the oldest first
    uint64_t forgotten = 0;   // since the start: those of the numbers 1 to this
    uint64_t next = 1;        // the number of the line that will come next
  };

  explicit LogRing(size_t max_bytes = size_t{1} << 20);

  // Drawn by chance: tells the lines of this ring from those of one that was there before a
  // restart. Never 0.
  uint64_t run() const { return run_; }

  // The newest `last` lines of `least` and above, of those whose number is `from` or more.
  Lines Newest(size_t last, spdlog::level::level_enum least, uint64_t from = 1) const;

  void log(const spdlog::details::log_msg& message) override;
  void flush() override {}
  // It keeps lines as they were said.
  void set_pattern(const std::string& /*pattern*/) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}

 private:
  static size_t BytesOf(const Line& line) { return sizeof(Line) + line.text.capacity(); }

  const size_t max_bytes_;
  const uint64_t run_;
  mutable Mutex mu_;
  std::deque<Line> lines_ ABSL_GUARDED_BY(mu_);  // the oldest first
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;        // of them
  uint64_t forgotten_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vicinity
