#include "client/cli/output/terminal_progress.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/common/human_text.h"

namespace vicinity::cli {
namespace {

constexpr std::chrono::milliseconds kRedraw(200);
constexpr std::chrono::seconds kLineInterval(10);
constexpr double kWorthTelling = 2;  // seconds
constexpr int kBarWidth = 24;

std::string Bar(double share) {
  const int full = static_cast<int>(share * kBarWidth);
  return absl::StrCat("[", std::string(full, '#'), std::string(kBarWidth - full, '.'), "] ");
}

}  // namespace

TerminalProgress::TerminalProgress(std::ostream* out, bool is_terminal, Clock clock)
    : out_(out), is_terminal_(is_terminal), clock_(std::move(clock)) {}

TerminalProgress::~TerminalProgress() { ClearLine(); }

void TerminalProgress::Begin(std::string_view phase, int64_t total, std::string_view unit) {
  if (active_) End();
  active_ = true;
  shown_ = false;
  phase_ = phase;
  unit_ = unit;
  total_ = total;
  done_ = 0;
  begun_ = clock_();
  next_ = begun_ + (is_terminal_ ? std::chrono::steady_clock::duration(kRedraw) : kLineInterval);
}

void TerminalProgress::Update(int64_t done) {
  if (!active_) return;
  done_ = done;
  const auto now = clock_();
  if (now >= next_) Show(now);
}

void TerminalProgress::End() {
  if (!active_) return;
  active_ = false;
  ClearLine();
  const double seconds = std::chrono::duration<double>(clock_() - begun_).count();
  if (seconds < kWorthTelling && (is_terminal_ || !shown_)) return;
  *out_ << phase_ << ": done";
  if (done_ > 0 && unit_ != "s") *out_ << ", " << HumanCount(done_) << ' ' << unit_;
  *out_ << " in " << HumanSeconds(seconds) << std::endl;
}

void TerminalProgress::Note(std::string_view line) {
  ClearLine();
  *out_ << line << std::endl;
}

std::string TerminalProgress::Describe(std::chrono::steady_clock::time_point now) const {
  const double seconds = std::chrono::duration<double>(now - begun_).count();
  std::string text = absl::StrCat(phase_, ": ");
  // Work of unknown length that counts in seconds: the time it has taken says it all.
  if (unit_ == "s") return absl::StrCat(text, HumanSeconds(seconds));
  const double rate = seconds > 0 ? static_cast<double>(done_) / seconds : 0;
  if (total_ > 0) {
    const double share =
        std::clamp(static_cast<double>(done_) / static_cast<double>(total_), 0., 1.);
    if (is_terminal_) absl::StrAppend(&text, Bar(share));
    absl::StrAppendFormat(&text, "%d %% of ", static_cast<int>(share * 100));
  }
  absl::StrAppend(&text, HumanCount(total_ > 0 ? total_ : done_), " ", unit_, ", ",
                  HumanCount(static_cast<int64_t>(rate)), "/s");
  if (total_ > 0 && rate > 0) {
    const double left = static_cast<double>(std::max<int64_t>(total_ - done_, 0)) / rate;
    absl::StrAppend(&text, ", ", HumanSeconds(left), " left");
  }
  return text;
}

void TerminalProgress::Show(std::chrono::steady_clock::time_point now) {
  ClearLine();
  *out_ << Describe(now);
  if (is_terminal_) {
    out_->flush();
    drawn_ = true;
  } else {
    *out_ << std::endl;
  }
  shown_ = true;
  next_ = now + (is_terminal_ ? std::chrono::steady_clock::duration(kRedraw) : kLineInterval);
}

void TerminalProgress::ClearLine() {
  if (drawn_) *out_ << "\r\033[K" << std::flush;
  drawn_ = false;
}

}  // namespace vicinity::cli
