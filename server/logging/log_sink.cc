#include "server/logging/log_sink.h"

#include <poll.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/pattern_formatter.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"

namespace vicinity {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLookEveryMs = 50;  // while nobody reads: whether it is over
constexpr std::chrono::seconds kIdleWait(60);
constexpr std::chrono::milliseconds kLastLook(2 * kLookEveryMs);

}  // namespace

class LogSink::Queue {
 public:
  Queue(int fd, int64_t capacity)
      : fd_(fd),
        capacity_(static_cast<size_t>(capacity)),
        formatter_(std::make_unique<spdlog::pattern_formatter>()) {}

  void Add(const spdlog::details::log_msg& message) {
    const MutexLock lock(&mu_);
    AddNotice();
    AddLine(message);
  }

  // What the sink's thread does.
  void WriteAll() {
    for (std::string piece; Take(&piece);) Write(piece);
    const MutexLock lock(&mu_);
    ended_ = true;
    changed_.NotifyAll();
  }

  // Whether the thread has ended within `limit` and the time that it takes to look up.
  bool Finish(std::chrono::nanoseconds limit) {
    const MutexLock lock(&mu_);
    AddNotice();
    finishing_ = true;
    changed_.NotifyAll();
    WaitForEnd(limit);
    given_up_ = true;
    changed_.NotifyAll();
    WaitForEnd(kLastLook);
    return ended_;
  }

  Counts counts() const {
    const MutexLock lock(&mu_);
    return {static_cast<int64_t>(capacity_), static_cast<int64_t>(lines_.size() + at_work_),
            dropped_};
  }

  void SetFormatter(std::unique_ptr<spdlog::formatter> formatter) {
    const MutexLock lock(&mu_);
    formatter_ = std::move(formatter);
  }

 private:
  void AddLine(const spdlog::details::log_msg& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    const size_t room =
        message.level >= spdlog::level::warn ? capacity_ : capacity_ - capacity_ / 4;
    if (finishing_ || lines_.size() + at_work_ + line.size() > room) {
      ++dropped_;
      return;
    }
    lines_.append(line.data(), line.size());
    changed_.NotifyAll();
  }

  // Of lines that were dropped since the last notice, where the next line has room.
  void AddNotice() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (dropped_ == told_dropped_ || broken_ || lines_.size() + at_work_ > capacity_ / 2) return;
    const std::string text =
        absl::StrCat(dropped_ - told_dropped_, " lines of this log were dropped: nobody read it");
    told_dropped_ = dropped_;
    AddLine(spdlog::details::log_msg("", spdlog::level::warn, text));
  }

  // The next lines. False: there is none and will be none.
  bool Take(std::string* piece) {
    const MutexLock lock(&mu_);
    at_work_ = 0;
    AddNotice();
    while (lines_.empty()) {
      if (finishing_) return false;
      changed_.WaitFor(&mu_, kIdleWait);
    }
    piece->clear();
    piece->swap(lines_);
    at_work_ = piece->size();
    return !given_up_;
  }

  void Write(std::string_view left) {
    while (!left.empty()) {
      pollfd writable{fd_, POLLOUT, 0};
      const int ready = poll(&writable, 1, kLookEveryMs);
      if (GivenUp()) return;
      if (ready <= 0) continue;
      // So many bytes a pipe that is ready takes at once.
      const ssize_t written = write(fd_, left.data(), std::min<size_t>(left.size(), PIPE_BUF));
      if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      CountResult(written >= 0 ? std::string_view() : left);
      if (written < 0) return;  // closed, or a full disk
      left.remove_prefix(static_cast<size_t>(written));
    }
  }

  bool GivenUp() {
    const MutexLock lock(&mu_);
    return given_up_;
  }

  void CountResult(std::string_view lost) {
    const MutexLock lock(&mu_);
    broken_ = !lost.empty();
    dropped_ += std::count(lost.begin(), lost.end(), '\n');
  }

  void WaitForEnd(std::chrono::nanoseconds limit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const Clock::time_point end = Clock::now() + limit;
    for (Clock::time_point now = Clock::now(); !ended_ && now < end; now = Clock::now()) {
      changed_.WaitFor(&mu_, end - now);
    }
  }

  const int fd_;
  const size_t capacity_;
  mutable Mutex mu_;
  CondVar changed_;
  std::unique_ptr<spdlog::formatter> formatter_ ABSL_GUARDED_BY(mu_);
  std::string lines_ ABSL_GUARDED_BY(mu_);
  size_t at_work_ ABSL_GUARDED_BY(mu_) = 0;  // bytes that the thread has taken
  int64_t dropped_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t told_dropped_ ABSL_GUARDED_BY(mu_) = 0;
  bool broken_ ABSL_GUARDED_BY(mu_) = false;  // the last write failed: no notice, which would, too
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;
  bool given_up_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
};

absl::StatusOr<std::shared_ptr<LogSink>> LogSink::Start(int fd, int64_t queue_bytes) {
  const auto queue = std::make_shared<Queue>(fd, queue_bytes);
  VICINITY_ASSIGN_OR_RETURN(std::thread thread, StartThread([queue] { queue->WriteAll(); }));
  std::shared_ptr<LogSink> sink(new LogSink(queue));
  sink->thread_ = std::move(thread);
  return sink;
}

LogSink::~LogSink() { Finish(std::chrono::nanoseconds(0)); }

void LogSink::Finish(std::chrono::nanoseconds limit) {
  if (!thread_.joinable()) return;
  if (queue_->Finish(limit)) {
    thread_.join();
  } else {
    thread_.detach();  // the system keeps it in a write; the queue is its own
  }
}

LogSink::Counts LogSink::counts() const { return queue_->counts(); }

void LogSink::log(const spdlog::details::log_msg& message) { queue_->Add(message); }

void LogSink::set_pattern(const std::string& pattern) {
  queue_->SetFormatter(std::make_unique<spdlog::pattern_formatter>(pattern));
}

void LogSink::set_formatter(std::unique_ptr<spdlog::formatter> formatter) {
  queue_->SetFormatter(std::move(formatter));
}

}  // namespace vicinity
