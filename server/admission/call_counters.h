// Counts what a server does, method by method.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace vicinity {

// In the order of proto/service.proto.
enum class Method : int {
  kHello,
  kDescribe,
  kSampleNeighbors,
  kFetchRows,
  kFetchNames,
  kResolveKeys,
  kFetchRanking,
  kStatus,
};
inline constexpr std::array<const char*, 8> kMethodNames = {
    "Hello",      "Describe",    "SampleNeighbors", "FetchRows",
    "FetchNames", "ResolveKeys", "FetchRanking",    "Status"};

struct MethodCounts {
  int64_t started = 0;
  int64_t failed = 0;          // ended with anything but OK
  int64_t bytes_sent = 0;      // payload: what replies carry in bytes fields
  int64_t bytes_received = 0;  // payload: what requests carry in bytes fields
  int64_t bytes_copied = 0;    // payload copied between files and network, each time
  double busy_seconds = 0;     // of calls that have ended
};

// Threads: all methods from any number at once; counts only rise, and are read one by one.
class CallCounters {
 public:
  // One call, from its construction until Finish().
  class Running {
   public:
    Running(CallCounters* counters, Method method);
    ~Running();  // a call that was not finished counts as failed
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    void AddReceived(int64_t bytes);
    void AddSent(int64_t bytes);
    void AddCopied(int64_t bytes);
    void Finish(bool ok) { ok_ = ok; }

   private:
    CallCounters* const counters_;
    const Method method_;
    const std::chrono::steady_clock::time_point begun_;
    bool ok_ = false;
  };

  MethodCounts counts(Method method) const;
  int64_t in_flight() const { return in_flight_.load(std::memory_order_relaxed); }

 private:
  // A cache line each, since every call writes here.
  struct alignas(64) Cell {
    std::atomic<int64_t> started{0};
    std::atomic<int64_t> failed{0};
    std::atomic<int64_t> bytes_sent{0};
    std::atomic<int64_t> bytes_received{0};
    std::atomic<int64_t> bytes_copied{0};
    std::atomic<int64_t> busy_nanoseconds{0};
  };
  Cell& cell(Method method) { return cells_[static_cast<size_t>(method)]; }

  std::array<Cell, kMethodNames.size()> cells_;
  std::atomic<int64_t> in_flight_{0};
};

}  // namespace vicinity
