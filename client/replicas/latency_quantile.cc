#include "client/replicas/latency_quantile.h"

#include <algorithm>
#include <cmath>

namespace vicinity {
namespace {

constexpr double kPerOctave = 8;
constexpr double kFirst = 1000;  // nanoseconds: the end of the first class

}  // namespace

void LatencyQuantile::Add(std::chrono::nanoseconds duration) {
  const double ratio = std::max(1.0, static_cast<double>(duration.count()) / kFirst);
  const int place = static_cast<int>(std::ceil(std::log2(ratio) * kPerOctave));
  MutexLock lock(&mu_);
  ++counts_[std::min(place, kClasses - 1)];
  ++total_;
  if (++added_ >= 16 || total_ == kFewest) Update();
}

void LatencyQuantile::Update() {
  added_ = 0;
  if (total_ < kFewest) return;
  const auto rank = static_cast<int64_t>(std::ceil(quantile_ * static_cast<double>(total_)));
  int64_t below = 0;
  int place = 0;
  while (place < kClasses - 1 && below + counts_[place] < rank) below += counts_[place++];
  value_ = std::chrono::nanoseconds(
      static_cast<int64_t>(kFirst * std::exp2(static_cast<double>(place) / kPerOctave)));
  if (total_ < kWindow) return;
  total_ = 0;
  for (int64_t& count : counts_) total_ += count /= 2;
}

std::optional<std::chrono::nanoseconds> LatencyQuantile::Get() const {
  MutexLock lock(&mu_);
  return value_;
}

}  // namespace vicinity
