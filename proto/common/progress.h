// How long work tells how far it is. The tool draws it; tests and servers pass NoProgress().
#pragma once

#include <cstdint>
#include <string_view>

namespace vicinity {

// Threads: one at a time.
class Progress {
 public:
  virtual ~Progress() = default;
  // A phase begins: "reading edges", how much there is to do (0: unknown), of what ("edges").
  virtual void Begin(std::string_view phase, int64_t total, std::string_view unit) = 0;
  // That much is done of the phase, counted from its beginning. Cheap: call it every few thousand
  // items.
  virtual void Update(int64_t done) = 0;
  virtual void End() = 0;
  // One line for people, whether or not anybody watches the bar.
  virtual void Note(std::string_view line) = 0;
};

// Says nothing. Lives for ever.
Progress* NoProgress();

}  // namespace vicinity
