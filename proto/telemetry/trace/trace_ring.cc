#include "proto/telemetry/trace/trace_ring.h"

#include <algorithm>
#include <set>
#include <utility>

namespace vicinity {
namespace {

constexpr int64_t kMostOfRing = 10;  // one operation has less than a tenth

}  // namespace

void TraceRing::Take(const Spans& spans) {
  if (spans.empty()) return;
  auto taken = std::make_shared<Operation>();
  taken->spans = spans;
  for (const Span& span : spans) taken->bytes += span.num_bytes();
  if (taken->bytes > max_bytes_ / kMostOfRing) return;
  std::vector<OperationPtr> dropped;  // freed without the lock
  MutexLock lock(&mu_);
  taken->number = next_number_++;
  last_bytes_ += taken->bytes;
  last_.push_back(taken);
  while (last_bytes_ > max_bytes_) {
    last_bytes_ -= last_.front()->bytes;
    dropped.push_back(std::move(last_.front()));
    last_.pop_front();
  }
  KeepIfSlow(taken);
}

void TraceRing::KeepIfSlow(const OperationPtr& taken) {
  const std::string& name = taken->spans.front().name;
  const auto found = slowest_.find(name);
  if (found == slowest_.end() && slowest_.size() >= kMaxNames) return;
  std::vector<OperationPtr>& kept = slowest_[name];
  const bool is_full = kept.size() >= kSlowestOfName;
  if (is_full && kept.back()->length() >= taken->length()) return;
  const int64_t freed = is_full ? kept.back()->bytes : 0;
  if (slowest_bytes_ - freed + taken->bytes > max_bytes_) return;
  if (is_full) kept.pop_back();
  slowest_bytes_ += taken->bytes - freed;
  const auto slower = [](const OperationPtr& a, const OperationPtr& b) {
    return a->length() > b->length();
  };
  kept.insert(std::upper_bound(kept.begin(), kept.end(), taken, slower), taken);
}

std::vector<TraceRing::OperationPtr> TraceRing::All() const {
  std::vector<OperationPtr> all;
  {
    MutexLock lock(&mu_);
    all.assign(last_.begin(), last_.end());
    for (const auto& named : slowest_) {
      all.insert(all.end(), named.second.begin(), named.second.end());
    }
  }
  std::sort(all.begin(), all.end(),
            [](const OperationPtr& a, const OperationPtr& b) { return a->number < b->number; });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<Spans> TraceRing::Slowest(size_t count) const {
  std::vector<OperationPtr> all = All();
  std::vector<OperationPtr> by_length = all;
  std::stable_sort(
      by_length.begin(), by_length.end(),
      [](const OperationPtr& a, const OperationPtr& b) { return a->length() > b->length(); });
  std::set<std::string> chosen;
  std::set<int64_t> shown;
  std::vector<Spans> slowest;
  for (const OperationPtr& each : by_length) {
    if (chosen.size() >= count) break;
    if (!chosen.insert(TraceId(each->spans.front().context)).second) continue;
    slowest.push_back(each->spans);
    shown.insert(each->number);
  }
  for (const OperationPtr& each : all) {
    if (shown.count(each->number) > 0) continue;
    if (chosen.count(TraceId(each->spans.front().context)) > 0) slowest.push_back(each->spans);
  }
  return slowest;
}

std::vector<Spans> TraceRing::Of(absl::Span<const std::string> trace_ids) const {
  const std::set<std::string> wanted(trace_ids.begin(), trace_ids.end());
  std::vector<Spans> found;
  for (const OperationPtr& each : All()) {
    if (wanted.count(TraceId(each->spans.front().context)) > 0) found.push_back(each->spans);
  }
  return found;
}

int64_t TraceRing::num_bytes() const {
  MutexLock lock(&mu_);
  return last_bytes_ + slowest_bytes_;
}

}  // namespace vicinity
