// What went over the wire and what did not have to: counters that every part of a client adds to.
#pragma once

#include <atomic>
#include <cstdint>

#include "client/graph.h"

namespace vicinity {

// Threads: any number.
struct TrafficCounters {
  std::atomic<int64_t> calls{0};
  std::atomic<int64_t> sampled_edges_local{0};
  std::atomic<int64_t> sampled_edges_remote{0};
  std::atomic<int64_t> rows_local{0};
  std::atomic<int64_t> rows_remote{0};
  std::atomic<int64_t> bytes_sent{0};
  std::atomic<int64_t> bytes_received{0};

  TrafficStats Read() const {
    TrafficStats stats;
    stats.calls = calls;
    stats.sampled_edges_local = sampled_edges_local;
    stats.sampled_edges_remote = sampled_edges_remote;
    stats.rows_local = rows_local;
    stats.rows_remote = rows_remote;
    stats.bytes_sent = bytes_sent;
    stats.bytes_received = bytes_received;
    return stats;
  }
};

}  // namespace vicinity
