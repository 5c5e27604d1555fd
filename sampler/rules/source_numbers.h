// The numbers of sources by which LABOR draws (sampler/layer_chooser.h says what they are for), and
// which edges of a list have small ones.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace vicinity {

// The number, of the global id u and the position n among parallel edges, from 0: with
// a = the stream (LayerStream in sampler/minibatch_sampler.h) and b = a x 0x9e3779b97f4a7c15 + 1,
//   x = u xor a            x = (x xor x >> 32) x 0xd6e8feb86659fd93
//   x = x xor x >> 32      x = x + b + n x 0x9e3779b97f4a7c15
//                          x = x x 0xbf58476d1ce4e5b9
//   x = x xor x >> 29      x = x x 0x94d049bb133111eb
//   x = x xor x >> 32
// modulo 2^64: three rounds of multiply and shift, with the key in two places. r(u) = x / 2^64.
class SourceNumbers {
 public:
  static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  static constexpr uint64_t kFirstFactor = 0xd6e8feb86659fd93;
  static constexpr uint64_t kSecondFactor = 0xbf58476d1ce4e5b9;
  static constexpr uint64_t kThirdFactor = 0x94d049bb133111eb;

  explicit SourceNumbers(uint64_t stream) : first_(stream), second_(stream * kGolden + 1) {}

  uint64_t Of(uint64_t source, uint64_t parallel = 0) const {
    uint64_t x = source ^ first_;
    x = (x ^ x >> 32) * kFirstFactor;
    x ^= x >> 32;
    x += second_ + parallel * kGolden;
    x *= kSecondFactor;
    x ^= x >> 29;
    x *= kThirdFactor;
    return x ^ x >> 32;
  }

  uint64_t first() const { return first_; }    // a
  uint64_t second() const { return second_; }  // b

 private:
  const uint64_t first_;
  const uint64_t second_;
};

// Goes through a list once, and keeps the edges whose numbers are no larger than a limit. An edge
// has the position n if the n edges just before it are of the same source.
//
// Threads:  one at a time.
// Lifetime: the sources must outlive it.
// Cost:     2 to 3 ns an edge; half of that or less with AVX-512, which the processor is asked for.
template <typename Source>
class NumberFilter {
 public:
  // So many entries behind those that are kept may be written to.
  static constexpr size_t kSlack = 8;

  NumberFilter(const SourceNumbers& numbers, absl::Span<const Source> sources, uint64_t limit)
      : numbers_(numbers), sources_(sources), limit_(limit) {}

  // Of the next edges, up to `end`: writes the number and the place in the list of each that is
  // kept, and says how many these are. There is room for as many as may be, and kSlack.
  size_t Take(size_t end, uint64_t* keys, int64_t* places);
  // The same, without instructions that not every processor has.
  size_t TakePlainly(size_t end, uint64_t* keys, int64_t* places);

 private:
  size_t TakeEights(size_t end, uint64_t* keys, int64_t* places);

  const SourceNumbers numbers_;
  const absl::Span<const Source> sources_;
  const uint64_t limit_;
  size_t next_ = 0;
  uint64_t parallel_ = 0;  // of the edge before: how many of its source are just before it
};

}  // namespace vicinity
