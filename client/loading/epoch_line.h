// A loader's batches in one line: those of an epoch, or of a part of it, and where that may be
// those of the whole epochs behind it.
#pragma once

#include <cstdint>

namespace vicinity {

struct BatchPlace {
  int64_t epoch = 0;
  int64_t step = 0;
  int64_t dealt_from = 0;  // as SeedSchedule's
};

// Positions count from 0. Threads: immutable.
class EpochLine {
 public:
  // Steps [first_step, end_step) of `epoch`, dealt from one of its batches on, then epochs of
  // `num_steps` batches.
  EpochLine(int64_t epoch, int64_t first_step, int64_t end_step, int64_t num_steps,
            int64_t dealt_from = 0)
      : epoch_(epoch),
        first_step_(first_step),
        dealt_from_(dealt_from),
        num_steps_(num_steps),
        first_end_(end_step - first_step) {}

  // Of the first epoch's batches.
  int64_t first_end() const { return first_end_; }
  int64_t num_steps() const { return num_steps_; }

  BatchPlace At(int64_t position) const {
    if (position < first_end_) return {epoch_, first_step_ + position, dealt_from_};
    const int64_t behind = position - first_end_;
    return {epoch_ + 1 + behind / num_steps_, behind % num_steps_};
  }

 private:
  const int64_t epoch_;
  const int64_t first_step_;
  const int64_t dealt_from_;
  const int64_t num_steps_;
  const int64_t first_end_;
};

}  // namespace vicinity
