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

// Which of a range of steps one of several workers makes: offset, offset + stride, ..., counted
// from the range's first.
struct StepShare {
  int64_t offset = 0;  // from 0 to stride - 1
  int64_t stride = 1;

  int64_t CountOf(int64_t num_steps) const {
    return num_steps <= offset ? 0 : (num_steps - offset - 1) / stride + 1;
  }
  int64_t Of(int64_t position) const { return offset + position * stride; }
};

// Positions count from 0. Threads: immutable.
class EpochLine {
 public:
  // Of the steps [first_step, end_step) of `epoch`, dealt from one of its batches on, those of
  // `share`, then those of epochs of `num_steps` steps.
  EpochLine(int64_t epoch, int64_t first_step, int64_t end_step, int64_t num_steps, StepShare share,
            int64_t dealt_from = 0)
      : epoch_(epoch),
        first_step_(first_step),
        dealt_from_(dealt_from),
        share_(share),
        num_steps_(share.CountOf(num_steps)),
        first_end_(share.CountOf(end_step - first_step)) {}

  // Of the first epoch's batches.
  int64_t first_end() const { return first_end_; }
  // Of the batches of each epoch behind it.
  int64_t num_steps() const { return num_steps_; }

  BatchPlace At(int64_t position) const {
    if (position < first_end_) return {epoch_, first_step_ + share_.Of(position), dealt_from_};
    const int64_t behind = position - first_end_;
    return {epoch_ + 1 + behind / num_steps_, share_.Of(behind % num_steps_)};
  }

 private:
  const int64_t epoch_;
  const int64_t first_step_;
  const int64_t dealt_from_;
  const StepShare share_;
  const int64_t num_steps_;
  const int64_t first_end_;
};

}  // namespace vicinity
