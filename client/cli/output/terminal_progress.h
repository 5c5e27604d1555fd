// Progress of long work, drawn for people: a bar on a terminal, else a line every ten seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "proto/common/progress.h"

namespace vicinity::cli {

// Threads: one at a time, as Progress says.
// Memory:  keeps nothing but the current phase.
class TerminalProgress : public Progress {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  // `out` must outlive it. `is_terminal`: may overwrite its line, and is redrawn a few times a
  // second.
  TerminalProgress(std::ostream* out, bool is_terminal, Clock clock);
  ~TerminalProgress() override;

  void Begin(std::string_view phase, int64_t total, std::string_view unit) override;
  void Update(int64_t done) override;
  // Tells what the phase took, if it took long enough (or was told of already) for anyone to care.
  void End() override;
  void Note(std::string_view line) override;

 private:
  std::string Describe(std::chrono::steady_clock::time_point now) const;
  void Show(std::chrono::steady_clock::time_point now);
  void ClearLine();

  std::ostream* const out_;
  const bool is_terminal_;
  const Clock clock_;
  bool active_ = false;  // between Begin and End
  bool shown_ = false;   // anything of this phase
  bool drawn_ = false;   // the terminal's line holds a bar
  std::string phase_;
  std::string unit_;
  int64_t total_ = 0;
  int64_t done_ = 0;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point next_;  // when to show it again
};

}  // namespace vicinity::cli
