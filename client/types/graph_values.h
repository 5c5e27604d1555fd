// What a graph is opened with and what it answers, as plain values (client/graph.h).
//
// Public header: standard C++ and the project's own plain headers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client/types/credential_options.h"
#include "client/types/metrics_options.h"
#include "client/types/row_buffer.h"
#include "partition/schema/schema.h"

namespace vicinity {

// What float32 columns are on their way from servers. Narrowed values (rounded to the nearest, see
// proto/narrow_floats.h) are half the bytes, and come out as float32 again. Rows of mapped shards,
// and all other columns, are exact always.
enum class WirePrecision : uint8_t { kStored, kFloat16, kBfloat16 };

// How calls for data reach a server (docs/operations.md): by its bulk channel where it has one,
// else by gRPC; by gRPC alone; by the bulk channel, and a server without one is an error.
enum class Transport : uint8_t { kAuto, kGrpc, kBulk };

struct GraphOptions {
  // One of the two: a cluster file, or a dataset directory on this machine (no server at all).
  std::string cluster_file;
  std::string directory;
  // Shards to read straight from the mapped files of the cluster's `data` directory instead of by
  // RPC: a trainer on the machine of a server maps that server's shards. Empty: none.
  std::vector<int32_t> local_shards;

  std::chrono::milliseconds connect_timeout{5000};  // to every server, hello included
  std::chrono::milliseconds call_timeout{5000};     // of one RPC
  // Of one call to a shard with all its retries, on whichever replicas: until it is over, servers
  // that fail are replaced, waited for and tried again. At least call_timeout. A call that moves
  // more than 32 MiB has that much more of both.
  std::chrono::milliseconds call_budget{15000};
  bool hedge = true;  // ask a second replica when the first takes long (docs/guarantees.md)
  int channels_per_server = 2;  // connections
  WirePrecision wire_precision = WirePrecision::kStored;
  Transport transport = Transport::kAuto;

  // Of SampleAsync and FetchAsync, and of sample_async and fetch_async in Python.
  int async_threads = 8;      // so many are worked on at a time
  int max_async_calls = 256;  // so many are in flight; one more is refused

  std::string client_name;  // for the servers' logs; empty: host and pid

  // Of the batches of loaders, so many are traced from their seeds to every shard and back, by all
  // servers that have a part in them (docs/traces.md): from 0 to 1.
  double trace_share = 0;
  // Where traces are sent, by OTLP over HTTP: a collector's base URL, as "http://localhost:4318".
  // Empty: what OTEL_EXPORTER_OTLP_ENDPOINT says, or nowhere. Nothing waits for it.
  std::string trace_endpoint;
  std::string trace_file;  // traces are appended to it, a line of OTLP's JSON a second; empty: none

  CredentialOptions credentials;  // of whom to believe, and what to show
  MetricsOptions metrics;         // where what is counted is shown
};

// Rows of one column, contiguous in the order asked for.
struct Rows {
  ColumnSpec spec;
  int64_t num_rows = 0;
  RowBuffer bytes;  // num_rows * spec.row_bytes()
};

// Rows of one column for the sampled edges of one block: row i belongs to its i-th source.
struct EdgeRows {
  int32_t hop = 0;
  int32_t edge_type = 0;
  ColumnSpec spec;
  int64_t num_rows = 0;
  RowBuffer bytes;  // num_rows * spec.row_bytes()
};

// Rows of one ragged column, behind each other in the order asked for. Row i has
// row_ends[i] - row_ends[i - 1] values (row_ends[0] of row 0), which end before row_ends[i].
struct RaggedRows {
  RaggedSpec spec;
  std::vector<int64_t> row_ends;  // [rows], counted in values
  std::vector<int32_t> indices;   // [values], of sparse columns: their columns, rising in a row
  RowBuffer values;               // [values] of spec.dtype

  int64_t num_rows() const { return static_cast<int64_t>(row_ends.size()); }
  int64_t num_values() const { return row_ends.empty() ? 0 : row_ends.back(); }
};

// The head of a stored VIP ranking: likeliest first.
struct RankedList {
  std::vector<int64_t> nodes;        // global ids of one type
  std::vector<float> probabilities;  // of each, that a minibatch needs its row
};

// Some of the nodes that a minibatch begins with.
struct SeedNodes {
  int32_t node_type = 0;
  std::vector<int64_t> ids;      // global; repeats allowed
  std::vector<int64_t> times{};  // of each, with SamplingSpec::time_column; else empty
};

// Which draws a minibatch makes: the same values give the same minibatch, whatever the shards,
// servers, threads or retries; with Draws::kLabor the shards matter.
struct DrawId {
  uint64_t run_seed = 0;
  uint64_t epoch = 0;
  uint64_t batch = 0;
};

struct TrafficStats {
  int64_t calls = 0;  // RPCs
  int64_t sampled_edges_local = 0;
  int64_t sampled_edges_remote = 0;
  int64_t rows_local = 0;      // read from mapped shards
  int64_t rows_remote = 0;     // fetched from servers
  int64_t bytes_sent = 0;      // payload: ids out
  int64_t bytes_received = 0;  // payload: ids, counts and rows in
  int64_t bytes_copied = 0;    // of both, between the caller's memory and the network's, each time
  int64_t shard_calls = 0;     // what was asked of shards behind servers, each once
  int64_t attempts = 0;        // shard_calls + retries + hedges, less what found no server
  int64_t retries = 0;         // attempts after one that failed
  int64_t hedges = 0;          // second attempts beside one that takes long
  int64_t hedge_wins = 0;      // hedges that answered first
  int64_t quarantines = 0;     // times that a server was taken out of use
  // Of `calls` and `bytes_received`, those over the bulk channel; all others went by gRPC.
  int64_t bulk_tcp_calls = 0;
  int64_t bulk_unix_calls = 0;
  int64_t bulk_tcp_bytes_received = 0;
  int64_t bulk_unix_bytes_received = 0;
};

// One number that a graph or one of its loaders counts, by the conventions of Prometheus.
struct MetricValue {
  std::string name;  // "vicinity_client_rpcs_total"
  std::string help;
  bool is_counter = true;                                   // else a gauge
  std::vector<std::pair<std::string, std::string>> labels;  // {"stage", "fetch"}, ...
  double value = 0;
};

}  // namespace vicinity
