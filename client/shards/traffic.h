// What went over the wire and what did not have to: counters that every part of a client adds to.
#pragma once

#include <atomic>
#include <cstdint>

#include "client/types/graph_values.h"

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
  std::atomic<int64_t> bytes_copied{0};

  // Payload of an answer, copied once to where it belongs.
  void CountReceived(int64_t bytes) {
    bytes_received.fetch_add(bytes, std::memory_order_relaxed);
    bytes_copied.fetch_add(bytes, std::memory_order_relaxed);
  }
  // A call, whose payload was copied once into its request.
  void CountCall(int64_t bytes) {
    calls.fetch_add(1, std::memory_order_relaxed);
    bytes_sent.fetch_add(bytes, std::memory_order_relaxed);
    bytes_copied.fetch_add(bytes, std::memory_order_relaxed);
  }
  std::atomic<int64_t> shard_calls{0};
  std::atomic<int64_t> attempts{0};
  std::atomic<int64_t> retries{0};
  std::atomic<int64_t> hedges{0};
  std::atomic<int64_t> hedge_wins{0};
  std::atomic<int64_t> quarantines{0};

  TrafficStats Read() const {
    TrafficStats stats;
    stats.calls = calls;
    stats.sampled_edges_local = sampled_edges_local;
    stats.sampled_edges_remote = sampled_edges_remote;
    stats.rows_local = rows_local;
    stats.rows_remote = rows_remote;
    stats.bytes_sent = bytes_sent;
    stats.bytes_received = bytes_received;
    stats.bytes_copied = bytes_copied;
    stats.shard_calls = shard_calls;
    stats.attempts = attempts;
    stats.retries = retries;
    stats.hedges = hedges;
    stats.hedge_wins = hedge_wins;
    stats.quarantines = quarantines;
    return stats;
  }
};

}  // namespace vicinity
