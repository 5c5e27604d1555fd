// A graph, wherever it is: behind servers, mapped on this machine, or both.
//
//   vicinity::GraphOptions options;
//   options.cluster_file = "cluster.textproto";
//   auto graph = vicinity::Graph::Open(options);
//   if (!graph.ok()) { std::cerr << graph.error().message() << '\n'; return 1; }
//   auto seeds = (*graph)->NodesOf(/*node_type=*/0, vicinity::Split::kTrain);
//
// Public header: standard C++ and the project's own plain headers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/types/async_values.h"
#include "client/types/graph_values.h"
#include "client/types/result.h"
#include "client/types/version_name.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "sampler/proximity/ppr_spec.h"
#include "sampler/proximity/visit_counts.h"
#include "sampler/sampled_graph.h"
#include "sampler/walk_spec.h"

namespace vicinity {

class GraphImpl;

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

  // Whether it is written while it is read: a batch of changes makes the next version of its shard
  // (client/writer.h), and what is read is at the latest, each call for itself; a Loader stays at
  // those of when it was made.
  bool is_live() const;
  // The version of each shard, which has all that was acknowledged before; 0: the files alone. With
  // its term, so that it is never taken for another that got its number after it was lost.
  Result<std::vector<VersionName>> Versions() const;
  // This graph as it was at these versions, one a shard, whatever is written: what it gives is the
  // same to the byte, today and when the servers have started again. It has this one's connections,
  // which stay until both are gone, and its counters. kInvalidArgument for another number of them,
  // kOutOfRange naming a shard that has not come so far, or whose version was taken back, when its
  // writer was lost: take Versions again. What is read later fails so, too, if that happens then.
  Result<std::unique_ptr<Graph>> At(const std::vector<VersionName>& versions) const;

  const Schema& schema() const;
  const std::string& name() const;
  uint64_t fingerprint() const;
  int32_t num_shards() const;
  int64_t num_nodes(int32_t node_type) const;  // in the files: of a live graph not the new ones
  int32_t OwnerOf(int32_t node_type, int64_t global_id) const;  // the shard
  bool IsLocal(int32_t node_type, int64_t global_id) const;
  // Likewise of many at once, in their order: the shards, and of each node 1 or 0. kInvalidArgument
  // naming up to ten ids out of range.
  Result<std::vector<int32_t>> OwnersOf(int32_t node_type, const std::vector<int64_t>& nodes) const;
  Result<std::vector<uint8_t>> AreLocal(int32_t node_type, const std::vector<int64_t>& nodes) const;

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

  // In-degrees: how many edges of the type lead to each of `nodes` (global ids of its target type,
  // in their order, repeats allowed); parallel edges count each. Errors as Fetch.
  Result<std::vector<int64_t>> Degrees(int32_t edge_type, const std::vector<int64_t>& nodes) const;

  // Which edge of the type leads from sources[i] to targets[i] (global ids of its two node types,
  // as many of each, repeats allowed): its position in the user's input, -1 where none does; of
  // parallel ones that which came first. Errors as Fetch. Cost: the servers read the list of every
  // target.
  Result<std::vector<int64_t>> EdgeIds(int32_t edge_type, const std::vector<int64_t>& sources,
                                       const std::vector<int64_t>& targets) const;

  // Draws a minibatch around `seeds` (global ids of one type, repeats allowed). kInvalidArgument
  // naming the first seed out of range, or what is wrong with the spec.
  Result<SampledGraph> Sample(int32_t seed_type, const std::vector<int64_t>& seeds,
                              const SamplingSpec& spec, const DrawId& draw,
                              EdgeDetail detail = {}) const;
  // ... around several lists of them, of types that may differ, as sources and targets of links do.
  Result<SampledGraph> Sample(const std::vector<SeedNodes>& seeds, const SamplingSpec& spec,
                              const DrawId& draw, EdgeDetail detail = {}) const;

  // A random walk from each of `starts` (global ids of the type at which the metapath begins,
  // repeats allowed). The same starts, spec and draw give the same walks, whatever the shards;
  // walks of one call are drawn apart, also from the same start. kInvalidArgument naming the first
  // start out of range, or what is wrong with the spec.
  Result<Walks> Walk(const std::vector<int64_t>& starts, const WalkSpec& spec, const DrawId& draw,
                     bool want_edge_ids = false) const;

  // Of each of `starts` (as those of Walk) the nodes that its walks visit most. Walks, order and
  // counts are the same whatever the shards. kInvalidArgument as Walk.
  Result<TopVisited> MostVisited(const std::vector<int64_t>& starts, const VisitSpec& spec,
                                 const DrawId& draw) const;

  // Of each of `seeds` (global ids of one type, repeats allowed) the nodes of the highest
  // personalised PageRank; sampler/proximity/ppr_spec.h says what it is, and how exact. `draw` is
  // for lists beyond max_neighbors. The same to the last bit whatever the shards. kInvalidArgument
  // naming the first seed out of range, or what is wrong with the spec.
  Result<PprScores> PersonalizedPageRank(int32_t seed_type, const std::vector<int64_t>& seeds,
                                         const PprSpec& spec, const DrawId& draw = {}) const;

  // Rows of a column of an edge type for the edges of `graph`, block by block in the order of hops,
  // from the owners of their targets. kNotFound naming the columns there are; kFailedPrecondition
  // if the graph was sampled without EdgeDetail::positions.
  Result<std::vector<EdgeRows>> FetchEdges(const SampledGraph& graph, int32_t edge_type,
                                           const std::string& column) const;

  // Rows of a column for global ids, in their order, repeats allowed. kInvalidArgument naming up to
  // ten ids out of range; never a shorter answer.
  Result<Rows> Fetch(int32_t node_type, const std::string& column,
                     const std::vector<int64_t>& nodes) const;

  // ... of a ragged column.
  Result<RaggedRows> FetchRagged(int32_t node_type, const std::string& column,
                                 const std::vector<int64_t>& nodes) const;

  // Sample and Fetch that do not wait: `on_done` gets what those would have returned, the same to
  // the byte. It is called once if there is an AsyncCall, and never if there is an error:
  // kResourceExhausted at GraphOptions::max_async_calls, or where threads cannot be had;
  // kInvalidArgument for a timeout that is not above 0 or an empty `on_done`; kCancelled once
  // ~Graph has begun. A call at the limit is refused and does not wait, since callbacks that waited
  // could hold the very threads that they wait for.
  //
  //   vicinity::FetchRequest request{/*node_type=*/0, "features", {3, 1, 4}};
  //   auto call = graph->FetchAsync(request, [](vicinity::Result<vicinity::Rows> rows) {
  //     std::cout << (rows.ok() ? rows->num_rows : -1) << " rows\n";
  //   });
  //   if (!call.ok()) return call.error();  // a server sheds load here
  //
  // Threads:  GraphOptions::async_threads of the graph's own, which the first call starts, do what
  //           Sample and Fetch do: each waits for the shards of one call at a time, and further
  //           calls stand in line. `on_done` runs in one of them, never within SampleAsync,
  //           FetchAsync or Cancel; for a call that ends in line it may run in the thread that
  //           minds deadlines. It must not throw. It may call the graph, SampleAsync and FetchAsync
  //           too: its own call is in flight no more. While it runs, its thread does nothing else.
  // Errors:   besides those of Sample and Fetch kDeadlineExceeded after the request's timeout, and
  //           kCancelled after AsyncCall::Cancel. Either comes soon, wherever the call is then; one
  //           that reads mapped shards first ends the hop or the column that it is at.
  // Lifetime: ~Graph cancels the calls in flight and returns when the last `on_done` has, so
  //           `on_done` must not destroy the graph, nor wait for the thread that does.
  // Memory:   a request until its answer, an answer until `on_done` has returned.
  using OnSampled = std::function<void(Result<SampledGraph>)>;
  using OnFetched = std::function<void(Result<Rows>)>;
  Result<AsyncCall> SampleAsync(SampleRequest request, OnSampled on_done) const;
  Result<AsyncCall> FetchAsync(FetchRequest request, OnFetched on_done) const;

  // The first `count` (0: all) nodes of a type in the ranking `name` made for `home`, the rising
  // shard numbers of one trainer's home. kNotFound naming the rankings, or the homes, there are.
  Result<RankedList> Ranked(const std::string& name, const std::vector<int32_t>& home,
                            int32_t node_type, int64_t count = 0) const;

  TrafficStats traffic() const;
  // All that is counted for this graph and for the loaders made from it that are still there:
  // traffic, times of stages, rows by where they came from. Sorted by name, then by labels.
  std::vector<MetricValue> metrics() const;
  // The same as text for Prometheus, as GraphOptions::metrics shows it.
  std::string MetricsText() const;
  // Where GraphOptions::metrics.listen has led to, "127.0.0.1:41234"; empty: nowhere.
  std::string metrics_address() const;

  // For the library's own parts.
  const GraphImpl& impl() const { return *impl_; }

 private:
  explicit Graph(std::shared_ptr<GraphImpl> impl);
  std::shared_ptr<GraphImpl> impl_;  // shared with graphs at versions of it, and with loaders
};

}  // namespace vicinity
