// A graph, wherever it is: behind servers, mapped on this machine, or both.
//
//   auto graph = vicinity::Graph::Open({.cluster_file = "cluster.textproto"});
//   if (!graph.ok()) { std::cerr << graph.error().message() << '\n'; return 1; }
//   auto seeds = (*graph)->NodesOf("paper", vicinity::Split::kTrain);
//
// Public header: standard C++ and the project's own plain headers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/credential_options.h"
#include "client/result.h"
#include "client/row_buffer.h"
#include "partition/sampling_spec.h"
#include "partition/schema.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

class GraphImpl;

// What float32 columns are on their way from servers. Narrowed values (rounded to the nearest, see
// proto/narrow_floats.h) are half the bytes, and come out as float32 again. Rows of mapped shards,
// and all other columns, are exact always.
enum class WirePrecision : uint8_t { kStored, kFloat16, kBfloat16 };

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

  std::string client_name;  // for the servers' logs; empty: host and pid

  CredentialOptions credentials;  // of whom to believe, and what to show
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

// The head of a stored VIP ranking: likeliest first.
struct RankedList {
  std::vector<int64_t> nodes;        // global ids of one type
  std::vector<float> probabilities;  // of each, that a minibatch needs its row
};

// Which draws a minibatch makes: the same values give the same minibatch, whatever the shards,
// servers, threads or retries.
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
};

// Threads:  every method may be called from any number of threads at once.
// Lifetime: keep it until every Loader made from it is gone. A process that forks after Open must
//           not use it in the child, nor open another there: both fail with kFailedPrecondition.
// Errors:   kUnavailable or kDeadlineExceeded name the shard and its servers' addresses. No RPC
//           waits longer than the call timeout, and no call to a shard, retries included, longer
//           than the call budget; an operation that moves more than 32 MiB has several.
class Graph {
 public:
  // Maps the directory, or connects to the servers until every shard has one, all of one dataset:
  // docs/guarantees.md says which. Those that are away are looked for in the background.
  static Result<std::unique_ptr<Graph>> Open(const GraphOptions& options);
  ~Graph();

  const Schema& schema() const;
  const std::string& name() const;
  uint64_t fingerprint() const;
  int32_t num_shards() const;
  int64_t num_nodes(int32_t node_type) const;
  int32_t OwnerOf(int32_t node_type, int64_t global_id) const;  // the shard
  bool IsLocal(int32_t node_type, int64_t global_id) const;

  // Global ids of the user's ids, one answer an input: -1 for an id the graph does not have.
  // For DENSE and INT64 types; for STRING types the second form.
  Result<std::vector<int64_t>> Resolve(int32_t node_type,
                                       const std::vector<int64_t>& user_ids) const;
  Result<std::vector<int64_t>> Resolve(int32_t node_type,
                                       const std::vector<std::string>& user_ids) const;
  // The other way: the user's ids (STRING types: UserNames).
  Result<std::vector<int64_t>> UserIds(int32_t node_type, const std::vector<int64_t>& nodes) const;
  Result<std::vector<std::string>> UserNames(int32_t node_type,
                                             const std::vector<int64_t>& nodes) const;

  // Global ids of all nodes of one split, in the order of their keys (so the same for any cut).
  // Split::kNone: all nodes. `shards` restricts it to those that they own.
  Result<std::vector<int64_t>> NodesOf(int32_t node_type, Split split,
                                       const std::vector<int32_t>& shards = {}) const;

  // Draws a minibatch around `seeds` (global ids of one type, repeats allowed). kInvalidArgument
  // naming the first seed out of range, or what is wrong with the spec.
  Result<SampledGraph> Sample(int32_t seed_type, const std::vector<int64_t>& seeds,
                              const SamplingSpec& spec, const DrawId& draw,
                              EdgeDetail detail = {}) const;

  // Rows of a column of an edge type for the edges of `graph`, block by block in the order of hops,
  // from the owners of their targets. kNotFound naming the columns there are; kFailedPrecondition
  // if the graph was sampled without EdgeDetail::positions.
  Result<std::vector<EdgeRows>> FetchEdges(const SampledGraph& graph, int32_t edge_type,
                                           const std::string& column) const;

  // Rows of a column for global ids, in their order, repeats allowed. kInvalidArgument naming up to
  // ten ids out of range; never a shorter answer.
  Result<Rows> Fetch(int32_t node_type, const std::string& column,
                     const std::vector<int64_t>& nodes) const;

  // The first `count` (0: all) nodes of a type in the ranking `name` made for `home`, the rising
  // shard numbers of one trainer's home. kNotFound naming the rankings, or the homes, there are.
  Result<RankedList> Ranked(const std::string& name, const std::vector<int32_t>& home,
                            int32_t node_type, int64_t count = 0) const;

  TrafficStats traffic() const;

  // For the library's own parts.
  const GraphImpl& impl() const { return *impl_; }

 private:
  explicit Graph(std::unique_ptr<GraphImpl> impl);
  std::unique_ptr<GraphImpl> impl_;
};

}  // namespace vicinity
