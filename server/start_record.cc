#include "server/start_record.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "proto/common/file.h"
#include "proto/common/thread.h"

namespace vicinity {
namespace {

// A line each, Unix seconds. What does not read is none.
std::vector<int64_t> TimesIn(std::string_view text) {
  std::vector<int64_t> times;
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '\n', absl::SkipEmpty())) {
    int64_t time = 0;
    if (absl::SimpleAtoi(line, &time)) times.push_back(time);
  }
  return times;
}

std::string TextOf(const std::vector<int64_t>& times) {
  std::string text;
  for (const int64_t time : times) absl::StrAppend(&text, time, "\n");
  return text;
}

// The last ones within the window, kMost at most. A clock that was set back makes none of them old.
std::vector<int64_t> Recent(std::vector<int64_t> times, absl::Time now) {
  const int64_t since = absl::ToUnixSeconds(now - StartRecord::kWindow);
  times.erase(
      std::remove_if(times.begin(), times.end(), [since](int64_t time) { return time < since; }),
      times.end());
  if (times.size() > StartRecord::kMost) {
    times.erase(times.begin(), times.end() - StartRecord::kMost);
  }
  return times;
}

// Nothing that it cannot do keeps a server from starting. Not ok(): it is another process's, or the
// log has why.
Descriptor TakeFile(const std::string& path, spdlog::logger* log) {
  Descriptor file = OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW);
  if (file.ok() && flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (!file.ok() || errno != EWOULDBLOCK) {
    const absl::Status failed = ErrnoStatus(errno, path, file.ok() ? "lock" : "open");
    log->warn("this start is not counted: {}", std::string(failed.message()));
  }
  return Descriptor(-1);
}

absl::Status Refusal(const std::string& path, const std::vector<int64_t>& died, absl::Time now) {
  const absl::Time first = absl::FromUnixSeconds(*std::min_element(died.begin(), died.end()));
  const absl::Duration until =
      std::max(first + StartRecord::kWindow - now + absl::Seconds(1), absl::ZeroDuration());
  return absl::FailedPreconditionError(absl::StrCat(
      "not started: the last ", died.size(), " starts, the first of them ",
      absl::FormatDuration(absl::Trunc(now - first, absl::Seconds(1))),
      " ago, have all died without a word of their own (", path,
      "); what they wrote before, and `journalctl` or `dmesg`, may say why. Look after the shards "
      "that they opened last; then start it with --force, or wait ",
      absl::FormatDuration(absl::Ceil(until, absl::Seconds(1)))));
}

}  // namespace

std::string StartRecord::PathIn(const std::string& changes, ShardId first) {
  return absl::StrCat(changes, absl::StrFormat("/starts-%05d", first.value));
}

absl::StatusOr<std::unique_ptr<StartRecord>> StartRecord::Begin(const std::string& path, bool force,
                                                                absl::Time now,
                                                                spdlog::logger* log) {
  std::error_code made;  // what it cannot, Server::Start says
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), made);
  std::unique_ptr<StartRecord> record(new StartRecord(path, TakeFile(path, log), log));
  std::vector<int64_t> times = Recent(record->Read(), now);
  record->earlier_ = times;
  if (times.size() >= kMost && !force) return Refusal(path, times, now);
  if (!times.empty()) {
    log->warn("{} of the last starts have died; after {} within {} min it is not started any more",
              times.size(), kMost, absl::ToInt64Minutes(kWindow));
  }
  times.push_back(absl::ToUnixSeconds(now));
  record->Write(times);
  if (record->file_.ok()) fdatasync(record->file_.get());  // what dies may take the machine with it
  return record;
}

StartRecord::~StartRecord() {
  {
    MutexLock lock(&mu_);
    ending_ = true;
    ending_changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void StartRecord::Ready(std::chrono::nanoseconds settled) {
  was_ready_ = true;
  auto thread = StartThread([this, settled] { WaitAndForget(settled); });
  if (thread.ok()) thread_ = *std::move(thread);  // else End forgets
}

void StartRecord::WaitAndForget(std::chrono::nanoseconds settled) {
  const auto until = std::chrono::steady_clock::now() + settled;
  MutexLock lock(&mu_);
  while (!ending_) {
    const std::chrono::nanoseconds left = until - std::chrono::steady_clock::now();
    if (left.count() <= 0) return Write({});
    ending_changed_.WaitFor(&mu_, left);
  }
}

void StartRecord::End() { Write(was_ready_ ? std::vector<int64_t>() : earlier_); }

std::vector<int64_t> StartRecord::Read() const {
  if (!file_.ok()) return {};
  const auto text = ReadFile(path_);
  if (text.ok()) return TimesIn(*text);
  log_->warn("how earlier starts ended is not known: {}", std::string(text.status().message()));
  return {};
}

// In place, since the lock is this file's. Whoever is killed between the two steps leaves lines of
// before behind, some of them twice it may be. Not waited for: an end in order must not wait for a
// disk that is busy.
void StartRecord::Write(const std::vector<int64_t>& times) const {
  if (!file_.ok()) return;
  const std::string text = TextOf(times);
  const auto size = static_cast<int64_t>(text.size());
  if (pwrite(file_.get(), text.data(), text.size(), 0) == size &&
      ftruncate(file_.get(), size) == 0) {
    return;
  }
  const absl::Status failed = ErrnoStatus(errno, path_, "write");
  log_->warn("this start is not counted: {}", std::string(failed.message()));
}

}  // namespace vicinity
