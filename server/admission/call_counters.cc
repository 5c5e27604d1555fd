#include "server/admission/call_counters.h"

namespace vicinity {

CallCounters::Running::Running(CallCounters* counters, Method method)
    : counters_(counters), method_(method), begun_(std::chrono::steady_clock::now()) {
  counters_->cell(method_).started.fetch_add(1, std::memory_order_relaxed);
  counters_->in_flight_.fetch_add(1, std::memory_order_relaxed);
}

CallCounters::Running::~Running() {
  const std::chrono::nanoseconds busy = std::chrono::steady_clock::now() - begun_;
  Cell& cell = counters_->cell(method_);
  cell.busy_nanoseconds.fetch_add(busy.count(), std::memory_order_relaxed);
  if (!ok_) cell.failed.fetch_add(1, std::memory_order_relaxed);
  counters_->in_flight_.fetch_sub(1, std::memory_order_relaxed);
}

void CallCounters::Running::AddReceived(int64_t bytes) {
  counters_->cell(method_).bytes_received.fetch_add(bytes, std::memory_order_relaxed);
}

void CallCounters::Running::AddCopied(int64_t bytes) {
  counters_->cell(method_).bytes_copied.fetch_add(bytes, std::memory_order_relaxed);
}

void CallCounters::Running::AddSent(int64_t bytes) {
  counters_->cell(method_).bytes_sent.fetch_add(bytes, std::memory_order_relaxed);
}

MethodCounts CallCounters::counts(Method method) const {
  const Cell& cell = cells_[static_cast<size_t>(method)];
  MethodCounts counts;
  counts.started = cell.started.load(std::memory_order_relaxed);
  counts.failed = cell.failed.load(std::memory_order_relaxed);
  counts.bytes_sent = cell.bytes_sent.load(std::memory_order_relaxed);
  counts.bytes_received = cell.bytes_received.load(std::memory_order_relaxed);
  counts.bytes_copied = cell.bytes_copied.load(std::memory_order_relaxed);
  counts.busy_seconds =
      static_cast<double>(cell.busy_nanoseconds.load(std::memory_order_relaxed)) * 1e-9;
  return counts;
}

}  // namespace vicinity
