// What is behind a Graph: the shards' accesses, and what they need to live.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/async_calls.h"
#include "client/metrics/loader_names.h"
#include "client/metrics/metrics_exporter.h"
#include "client/replicas/cluster_servers.h"
#include "client/replicas/hedge_policy.h"
#include "client/replicas/jitter.h"
#include "client/replicas/real_timer.h"
#include "client/replicas/replica_call.h"
#include "client/replicas/retry_budget.h"
#include "client/rpc/credentials.h"
#include "client/shards/shard_access.h"
#include "client/shards/shard_router.h"
#include "client/shards/traffic.h"
#include "client/types/graph_values.h"
#include "client/types/version_name.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/schema.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "proto/service.pb.h"
#include "proto/telemetry/registry.h"
#include "proto/telemetry/trace/otlp_exporter.h"
#include "proto/telemetry/trace/tracer.h"

namespace vicinity {

// Threads: immutable after Open, but for Calls; any number may use it.
class GraphImpl : public std::enable_shared_from_this<GraphImpl> {
 public:
  // Errors as Graph::Open.
  static absl::StatusOr<std::shared_ptr<GraphImpl>> Open(const GraphOptions& options);
  // This graph at these versions, by shard, whatever is written meanwhile: over the same
  // connections, which it keeps, and counted with this one. Errors as PinShards.
  absl::StatusOr<std::shared_ptr<GraphImpl>> At(absl::Span<const VersionName> versions) const;
  // Itself if it is read-only, or at its versions already; else at the latest ones.
  absl::StatusOr<std::shared_ptr<const GraphImpl>> AtOneVersion() const;

  const ShardRouter& router() const { return *router_; }
  // Of one that stays at them; empty: it has what is the latest.
  const std::vector<VersionName>& versions() const { return versions_; }
  const std::string& name() const { return name_; }
  uint64_t fingerprint() const { return fingerprint_; }
  TrafficStats traffic() const { return connected().traffic_.Read(); }
  // What this graph and its loaders count.
  MetricRegistry* metrics() const { return &connected().metrics_; }
  // They are shown there; null: nowhere.
  MetricsExporter* exporter() const { return connected().exporter_.get(); }
  // By which loaders' metrics are told apart.
  LoaderNames* loader_names() const { return &connected().loader_names_; }
  // Of a share of its loaders' batches; null: of none.
  Tracer* tracer() const { return connected().tracer_.get(); }

  // Calls that nobody waits for, whose threads the first of them starts; and their end.
  absl::StatusOr<std::shared_ptr<AsyncCalls>> Calls() const;
  void StopCalls();

  // FailedPrecondition in a child forked after Open: gRPC's threads and locks are not there, so
  // a call would hang.
  absl::Status CheckProcess() const;

 private:
  GraphImpl();
  // Who has the connections.
  const GraphImpl& connected() const { return latest_ == nullptr ? *this : *latest_; }
  absl::Status OpenDirectory(const GraphOptions& options);
  absl::Status OpenCluster(const GraphOptions& options);
  absl::Status StartTracing(const GraphOptions& options);
  absl::Status Connect(const ClusterFile& cluster, const GraphOptions& options);
  // `met`, with the reason of the first server it names whose trouble is TLS.
  absl::Status Explain(const ClientCredentials& credentials, const absl::Status& met) const;
  void MakeTools(const ClusterFile& cluster, const GraphOptions& options);
  absl::Status Describe(proto::DescribeReply* description);
  absl::Status MakeRouter(const ClusterFile& cluster, const GraphOptions& options);
  // All replicas of a shard behind servers, as one.
  std::unique_ptr<ShardAccess> Replicate(ShardId shard, const GraphOptions& options) const;

  // Later members use earlier ones.
  // Of one that stays at its versions: the graph of the latest ones, shared with whoever reads
  // that.
  std::shared_ptr<const GraphImpl> latest_;
  std::vector<VersionName> versions_;
  pid_t pid_ = 0;
  TrafficCounters traffic_;
  mutable MetricRegistry metrics_;
  MetricRegistry::Group own_metrics_{&metrics_};
  mutable LoaderNames loader_names_;
  std::unique_ptr<OtlpExporter> span_exporter_;  // null: traces go nowhere
  std::unique_ptr<Tracer> tracer_;               // null: nothing is traced
  std::unique_ptr<Dataset> dataset_;             // the mapped shards; null: none
  std::unique_ptr<RealTimer> timer_;             // this and the next four: null without servers
  std::unique_ptr<Jitter> jitter_;
  std::unique_ptr<RetryBudget> budget_;
  std::unique_ptr<HedgePolicy> hedging_;
  std::unique_ptr<ClusterServers> servers_;
  CallTools tools_;
  std::string name_;
  uint64_t fingerprint_ = 0;
  std::unique_ptr<const Schema> schema_;
  std::unique_ptr<const Book> book_;
  std::unique_ptr<ShardRouter> router_;
  AsyncCalls::Options async_;
  mutable Mutex calls_mu_;
  mutable std::shared_ptr<AsyncCalls> calls_ ABSL_GUARDED_BY(calls_mu_);
  std::unique_ptr<MetricsExporter> exporter_;  // last: it reads what all the others count
};

}  // namespace vicinity
