// How long things took, in a histogram of fixed bounds.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "proto/telemetry/metric.h"

namespace vicinity {

// Threads: any number. Numbers are read one by one: of one that is being added some may lack it.
class LatencyHistogram {
 public:
  // Upper bounds of the buckets in seconds, inclusive; behind them is one without a bound. From a
  // row that is in memory to a call that has run out of its time, and finest where calls for data
  // are: from 50 us to 25 ms each is at most 5/3 of the one before.
  static constexpr double kBounds[] = {10e-6,  25e-6,  50e-6,  75e-6, 100e-6, 150e-6, 250e-6,
                                       350e-6, 500e-6, 750e-6, 1e-3,  1.5e-3, 2.5e-3, 3.5e-3,
                                       5e-3,   7.5e-3, 10e-3,  15e-3, 25e-3,  50e-3,  0.1,
                                       0.25,   0.5,    1,      2.5,   5,      10};

  void Add(std::chrono::nanoseconds time) {
    const double seconds = std::chrono::duration<double>(time).count();
    const auto bound = std::lower_bound(std::begin(kBounds), std::end(kBounds), seconds);
    counts_[static_cast<size_t>(bound - std::begin(kBounds))].Add();
    nanoseconds_.Add(time.count());
  }

  double seconds() const { return static_cast<double>(nanoseconds_.value()) * 1e-9; }  // in all
  int64_t count() const { return count_within(counts_.size() - 1); }
  // Of times in the buckets up to `bucket`.
  int64_t count_within(size_t bucket) const {
    int64_t count = 0;
    for (size_t b = 0; b <= bucket; ++b) count += counts_[b].value();
    return count;
  }
  // The same of every bucket, the one without a bound last: rising, and read once.
  std::vector<int64_t> counts_within() const {
    std::vector<int64_t> counts;
    counts.reserve(counts_.size());
    int64_t count = 0;
    for (const Counter& of_bucket : counts_) counts.push_back(count += of_bucket.value());
    return counts;
  }

 private:
  std::array<Counter, std::size(kBounds) + 1> counts_;
  Counter nanoseconds_;
};

}  // namespace vicinity
