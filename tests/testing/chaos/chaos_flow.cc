#include "tests/testing/chaos/chaos_flow.h"

#include <algorithm>

namespace vicinity::testing {
namespace {

using std::chrono::nanoseconds;

// A paced stream comes out in so many pieces a second, and may catch up after a late wake-up as far
// as this.
constexpr int64_t kPacedPieces = 100;
constexpr nanoseconds kCatchUp = std::chrono::milliseconds(20);

nanoseconds TimeFor(size_t bytes, int64_t bytes_per_second) {
  return nanoseconds(static_cast<int64_t>(static_cast<double>(bytes) * 1e9 /
                                          static_cast<double>(bytes_per_second)));
}

}  // namespace

ChaosFlow::ChaosFlow(size_t capacity_bytes, uint64_t seed)
    : capacity_(capacity_bytes), random_(seed, 0) {}

void ChaosFlow::Set(const Toxics& toxics, SteadyTime now) {
  toxics_ = toxics;
  until_corrupt_ = toxics.corrupt_every - 1;
  passed_since_set_ = 0;
  next_send_ = now;
  const SteadyTime latest = now + absl::ToChronoNanoseconds(toxics.latency + toxics.jitter);
  for (Piece& piece : queue_) piece.due = std::min(piece.due, latest);
  last_due_ = std::min(last_due_, latest);
}

size_t ChaosFlow::Room() const { return capacity_ - queued_; }

void ChaosFlow::Push(std::string_view bytes, SteadyTime now) {
  if (end_ || bytes.empty()) return;
  holed_ = holed_ || toxics_.swallow;
  if (holed_) return;
  absl::Duration delay = toxics_.latency;
  if (toxics_.jitter > absl::ZeroDuration()) {
    delay += toxics_.jitter * (random_.Next32() / 4294967296.0);
  }
  last_due_ = std::max(last_due_, now + absl::ToChronoNanoseconds(delay));
  queue_.push_back({std::string(bytes), last_due_});
  queued_ += bytes.size();
  Corrupt(&queue_.back().bytes);
}

void ChaosFlow::PushEnd() {
  if (toxics_.swallow) holed_ = true;
  end_ = true;
}

void ChaosFlow::Drop() {
  queue_.clear();
  front_used_ = 0;
  queued_ = 0;
  end_ = true;
}

void ChaosFlow::Corrupt(std::string* bytes) {
  if (toxics_.corrupt_every <= 0) return;
  const auto size = static_cast<int64_t>(bytes->size());
  while (until_corrupt_ < size) {
    char& byte = (*bytes)[until_corrupt_];
    byte = static_cast<char>(byte ^ (1 << random_.Below(8)));
    ++corrupted_;
    until_corrupt_ += toxics_.corrupt_every;
  }
  until_corrupt_ -= size;
}

std::string_view ChaosFlow::Ready(SteadyTime now) const {
  if (queue_.empty() || toxics_.stall || cut() || queue_.front().due > now) return {};
  if (Paced() && next_send_ > now) return {};
  const std::string_view piece = std::string_view(queue_.front().bytes).substr(front_used_);
  auto size = static_cast<int64_t>(piece.size());
  if (toxics_.slice_bytes > 0) size = std::min(size, toxics_.slice_bytes);
  if (toxics_.cut_after >= 0) size = std::min(size, toxics_.cut_after - passed_since_set_);
  if (Paced()) {
    size = std::min(size, std::max<int64_t>(1, toxics_.bytes_per_second / kPacedPieces));
  }
  return piece.substr(0, size);
}

void ChaosFlow::Pop(size_t count, SteadyTime now) {
  front_used_ += count;
  queued_ -= count;
  passed_ += static_cast<int64_t>(count);
  passed_since_set_ += static_cast<int64_t>(count);
  if (front_used_ == queue_.front().bytes.size()) {
    queue_.pop_front();
    front_used_ = 0;
  }
  if (Paced()) {
    next_send_ = std::max(next_send_, now - kCatchUp) + TimeFor(count, toxics_.bytes_per_second);
  }
}

std::optional<SteadyTime> ChaosFlow::NextReady(SteadyTime now) const {
  if (queue_.empty() || toxics_.stall || cut()) return std::nullopt;
  SteadyTime next = queue_.front().due;
  if (Paced()) next = std::max(next, next_send_);
  if (next <= now) return std::nullopt;
  return next;
}

bool ChaosFlow::cut() const {
  return toxics_.cut_after >= 0 && passed_since_set_ >= toxics_.cut_after;
}

bool ChaosFlow::drained() const { return end_ && queue_.empty() && !holed_ && !toxics_.stall; }

}  // namespace vicinity::testing
