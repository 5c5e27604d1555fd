// What went over the wire and what did not have to: counters that every part of a client adds to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "client/shards/shard_requests.h"
#include "client/types/graph_values.h"
#include "proto/telemetry/counter_table.h"
#include "proto/telemetry/latency_histogram.h"
#include "proto/telemetry/metric.h"
#include "proto/telemetry/registry.h"

namespace vicinity {

// As TrafficStats says of each.
//
// Threads: any number.
struct TrafficCounters {
  Counter calls;
  Counter sampled_edges_local;
  Counter sampled_edges_remote;
  Counter rows_local;
  Counter rows_remote;
  Counter bytes_sent;
  Counter bytes_received;
  Counter bytes_copied;
  Counter shard_calls;
  Counter attempts;
  Counter retries;
  Counter hedges;
  Counter hedge_wins;
  Counter quarantines;
  Counter bulk_tcp_calls;
  Counter bulk_unix_calls;
  Counter bulk_tcp_bytes_received;
  Counter bulk_unix_bytes_received;
  // By kRequestIndex, of every RPC of that kind that has ended.
  std::array<LatencyHistogram, ShardRequests::kSize> rpc_seconds;

  // Payload of an answer, copied once to where it belongs.
  void CountReceived(int64_t bytes) {
    bytes_received.Add(bytes);
    bytes_copied.Add(bytes);
  }
  // A call, whose payload was copied once into its request.
  void CountCall(int64_t bytes) {
    calls.Add();
    bytes_sent.Add(bytes);
    bytes_copied.Add(bytes);
  }
  // Of these calls one over the bulk channel; what comes of it is to be added to the result.
  Counter* CountBulkCall(bool over_unix) {
    (over_unix ? bulk_unix_calls : bulk_tcp_calls).Add();
    return over_unix ? &bulk_unix_bytes_received : &bulk_tcp_bytes_received;
  }

  TrafficStats Read() const;
  // It must outlive the group.
  void AddMetrics(MetricRegistry::Group* group) const;
};

inline constexpr CounterRow<TrafficStats, TrafficCounters> kTrafficRows[] = {
    {"vicinity_client_rpcs_total", "RPCs made", &TrafficStats::calls, &TrafficCounters::calls},
    {"vicinity_client_sampled_edges_local_total", "Edges sampled from mapped shards",
     &TrafficStats::sampled_edges_local, &TrafficCounters::sampled_edges_local},
    {"vicinity_client_sampled_edges_remote_total", "Edges sampled by servers",
     &TrafficStats::sampled_edges_remote, &TrafficCounters::sampled_edges_remote},
    {"vicinity_client_rows_local_total", "Rows read from mapped shards", &TrafficStats::rows_local,
     &TrafficCounters::rows_local},
    {"vicinity_client_rows_remote_total", "Rows fetched from servers", &TrafficStats::rows_remote,
     &TrafficCounters::rows_remote},
    {"vicinity_client_sent_bytes_total", "Payload sent", &TrafficStats::bytes_sent,
     &TrafficCounters::bytes_sent},
    {"vicinity_client_received_bytes_total", "Payload received", &TrafficStats::bytes_received,
     &TrafficCounters::bytes_received},
    {"vicinity_client_copied_bytes_total", "Payload copied on its way, each time",
     &TrafficStats::bytes_copied, &TrafficCounters::bytes_copied},
    {"vicinity_client_shard_calls_total", "Calls to shards behind servers, retries not counted",
     &TrafficStats::shard_calls, &TrafficCounters::shard_calls},
    {"vicinity_client_attempts_total", "Attempts of calls to shards", &TrafficStats::attempts,
     &TrafficCounters::attempts},
    {"vicinity_client_retries_total", "Attempts after one that failed", &TrafficStats::retries,
     &TrafficCounters::retries},
    {"vicinity_client_hedges_total", "Second attempts beside one that takes long",
     &TrafficStats::hedges, &TrafficCounters::hedges},
    {"vicinity_client_hedge_wins_total", "Hedges that answered first", &TrafficStats::hedge_wins,
     &TrafficCounters::hedge_wins},
    {"vicinity_client_quarantines_total", "Times that a server was taken out of use",
     &TrafficStats::quarantines, &TrafficCounters::quarantines},
    {"vicinity_client_bulk_tcp_calls_total", "Of the RPCs, those over the bulk channel by TCP",
     &TrafficStats::bulk_tcp_calls, &TrafficCounters::bulk_tcp_calls},
    {"vicinity_client_bulk_unix_calls_total",
     "Of the RPCs, those over the bulk channel by a Unix socket", &TrafficStats::bulk_unix_calls,
     &TrafficCounters::bulk_unix_calls},
    {"vicinity_client_bulk_tcp_received_bytes_total",
     "Of the payload received, what came over the bulk channel by TCP",
     &TrafficStats::bulk_tcp_bytes_received, &TrafficCounters::bulk_tcp_bytes_received},
    {"vicinity_client_bulk_unix_received_bytes_total",
     "Of the payload received, what came over the bulk channel by a Unix socket",
     &TrafficStats::bulk_unix_bytes_received, &TrafficCounters::bulk_unix_bytes_received},
};

inline TrafficStats TrafficCounters::Read() const { return ReadCounters(kTrafficRows, *this); }

inline void TrafficCounters::AddMetrics(MetricRegistry::Group* group) const {
  RegisterCounters(kTrafficRows, *this, {}, group);
  for (size_t i = 0; i < rpc_seconds.size(); ++i) {
    group->Add({"vicinity_client_rpc_seconds", "Time of RPCs that have ended"},
               {{"method", kRequestMethods[i]}}, &rpc_seconds[i]);
  }
}

}  // namespace vicinity
