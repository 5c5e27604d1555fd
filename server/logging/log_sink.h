// Lines on their way to a file that perhaps nobody reads.
#pragma once

#include <spdlog/sinks/sink.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Whoever logs puts a line into a queue, and a thread of the sink's own writes it: a full pipe, a
// slow disk or a stopped terminal keeps nobody waiting. When the queue is full, lines are dropped
// and counted; the log says how many as soon as there is room again. Lines below a warning leave
// the last quarter of the queue to the others.
//
// Threads: any.
// Memory:  at most twice the queue's size.
class LogSink : public spdlog::sinks::sink {
 public:
  struct Counts {
    int64_t queue_bytes = 0;   // that lines may take
    int64_t queued_bytes = 0;  // that they take
    int64_t dropped = 0;       // lines, since the start
  };

  // To `fd`, which stays open. ResourceExhausted if no thread can be had.
  static absl::StatusOr<std::shared_ptr<LogSink>> Start(int fd, int64_t queue_bytes = 1 << 20);
  ~LogSink() override;  // as Finish(0)

  // Waits until all is written, for `limit` at most; later lines are dropped. After it the sink's
  // thread touches the file no more, but for a write() that has begun and that the system keeps.
  void Finish(std::chrono::nanoseconds limit);

  Counts counts() const;

  void log(const spdlog::details::log_msg& message) override;
  void flush() override {}  // lines are on their way already
  void set_pattern(const std::string& pattern) override;
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override;

 private:
  class Queue;
  explicit LogSink(std::shared_ptr<Queue> queue) : queue_(std::move(queue)) {}

  const std::shared_ptr<Queue> queue_;  // with the thread, which may outlive the sink
  std::thread thread_;
};

}  // namespace vicinity
