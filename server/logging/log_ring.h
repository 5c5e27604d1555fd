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
// Threads: any.
// Memory:  `max_bytes`, the oldest lines go; lines longer than kMaxLine are cut.
class LogRing final : public spdlog::sinks::sink {
 public:
  static constexpr size_t kMaxLine = 8 << 10;

  struct Line {
    std::chrono::system_clock::time_point time;
    spdlog::level::level_enum level = spdlog::level::info;
    std::string text;  // EscapedText: one line of UTF-8
  };
  struct Lines {
    std::vector<Line> lines;  // the oldest first
    int64_t forgotten = 0;    // since the start
  };

  explicit LogRing(size_t max_bytes = size_t{1} << 20) : max_bytes_(max_bytes) {}

  // The newest `last` lines of `least` and above.
  Lines Newest(size_t last, spdlog::level::level_enum least) const;

  void log(const spdlog::details::log_msg& message) override;
  void flush() override {}
  // It keeps lines as they were said.
  void set_pattern(const std::string& /*pattern*/) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}

 private:
  static size_t BytesOf(const Line& line) { return sizeof(Line) + line.text.capacity(); }

  const size_t max_bytes_;
  mutable Mutex mu_;
  std::deque<Line> lines_ ABSL_GUARDED_BY(mu_);  // the oldest first
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;        // of them
  int64_t forgotten_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vicinity
