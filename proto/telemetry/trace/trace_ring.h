// The traced operations that a process has seen last, and the slowest of each kind, in a memory
// that does not grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/common/mutex.h"
#include "proto/telemetry/trace/span.h"

namespace vicinity {

// Threads: any number. Who asks holds the lock for as long as it takes to copy a pointer for each
//          operation that is kept, some ten thousand at most.
// Memory:  max_bytes for the last, and as much for the slowest, of which each name keeps
//          kSlowestOfName and the names are kMaxNames at most.
class TraceRing final : public SpanSink {
 public:
  static constexpr size_t kSlowestOfName = 16;
  static constexpr size_t kMaxNames = 64;

  explicit TraceRing(int64_t max_bytes) : max_bytes_(max_bytes) {}

  // One operation; an old one gives way to it. One of more than a tenth of the ring is left out.
  void Take(const Spans& spans) override;

  // The operations of the `count` traces whose longest operation here took longest, the longest
  // first; then all others of those traces, as they came.
  std::vector<Spans> Slowest(size_t count) const;
  // All of these traces that are still here, as they came. Ids as TraceId has them.
  std::vector<Spans> Of(absl::Span<const std::string> trace_ids) const;

  int64_t num_bytes() const;

 private:
  struct Operation {
    Spans spans;
    int64_t bytes = 0;
    int64_t number = 0;  // in the order in which they came
    int64_t length() const { return spans.front().end - spans.front().start; }
  };
  using OperationPtr = std::shared_ptr<const Operation>;  // of the last, and of the slowest

  void KeepIfSlow(const OperationPtr& taken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Each once, in the order in which they came.
  std::vector<OperationPtr> All() const;

  const int64_t max_bytes_;
  mutable Mutex mu_;
  int64_t next_number_ ABSL_GUARDED_BY(mu_) = 0;
  std::deque<OperationPtr> last_ ABSL_GUARDED_BY(mu_);
  int64_t last_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  // By name, the slowest first.
  std::map<std::string, std::vector<OperationPtr>> slowest_ ABSL_GUARDED_BY(mu_);
  int64_t slowest_bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vicinity
