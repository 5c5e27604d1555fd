#include "client/graph_impl.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/metrics/process_use.h"
#include "client/replicas/replica_set.h"
#include "client/replicas/replicated_shard.h"
#include "client/rpc/credentials.h"
#include "client/rpc/process_guard.h"
#include "client/rpc/remote_shard.h"
#include "client/rpc/server_connection.h"
#include "client/shards/call_context.h"
#include "client/shards/mapped_shard.h"
#include "client/shards/pinned_shards.h"
#include "partition/dataset/schema_proto.h"
#include "proto/common/bus_errors.h"
#include "proto/common/lock_order.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"
#include "proto/telemetry/counter_table.h"
#include "proto/version.h"

namespace vicinity {
namespace {

constexpr int kMaxChannels = 64;
constexpr int kMaxAsyncThreads = 1024;
// For finding out why a server cannot be reached.
constexpr std::chrono::milliseconds kExplainLimit(2000);  // of one server
constexpr std::chrono::milliseconds kExplainAll(6000);    // none is begun later
constexpr int32_t kFewestTokens = 10;
// An RPC has the call timeout for itself and says best what was late; an attempt ends after it.
constexpr std::chrono::milliseconds kAfterRpc(250);

absl::Status CheckOptions(const GraphOptions& options) {
  if (options.cluster_file.empty() == options.directory.empty()) {
    return absl::InvalidArgumentError("a graph is opened from a cluster file or a directory: one");
  }
  if (options.channels_per_server < 1 || options.channels_per_server > kMaxChannels) {
    return absl::InvalidArgumentError(absl::StrCat(
        "channels_per_server ", options.channels_per_server, " is not from 1 to ", kMaxChannels));
  }
  if (options.async_threads < 1 || options.async_threads > kMaxAsyncThreads) {
    return absl::InvalidArgumentError(absl::StrCat("async_threads ", options.async_threads,
                                                   " is not from 1 to ", kMaxAsyncThreads));
  }
  if (options.max_async_calls < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_async_calls ", options.max_async_calls, " is not above 0"));
  }
  if (!(options.trace_share >= 0 && options.trace_share <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("trace_share ", options.trace_share, " is not from 0 to 1"));
  }
  for (const std::chrono::milliseconds timeout :
       {options.connect_timeout, options.call_timeout, options.call_budget}) {
    if (timeout.count() > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("a timeout of ", timeout.count(), " ms: every wait has one above 0"));
  }
  return absl::OkStatus();
}

proto::Precision ToProto(WirePrecision precision) {
  switch (precision) {
    case WirePrecision::kStored:
      break;
    case WirePrecision::kFloat16:
      return proto::PRECISION_FLOAT16;
    case WirePrecision::kBfloat16:
      return proto::PRECISION_BFLOAT16;
  }
  return proto::PRECISION_STORED;
}

std::string DefaultClientName() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return absl::StrCat(host, " ", getpid());
}

}  // namespace

absl::StatusOr<std::shared_ptr<GraphImpl>> GraphImpl::Open(const GraphOptions& options) {
  VICINITY_RETURN_IF_ERROR(CheckOptions(options));
  auto graph = std::shared_ptr<GraphImpl>(new GraphImpl());
  graph->pid_ = getpid();
  graph->async_ = {options.async_threads, options.max_async_calls};
  VICINITY_RETURN_IF_ERROR(graph->StartTracing(options));
  VICINITY_RETURN_IF_ERROR(options.directory.empty() ? graph->OpenCluster(options)
                                                     : graph->OpenDirectory(options));
  VICINITY_ASSIGN_OR_RETURN(graph->exporter_,
                            MetricsExporter::Start(options.metrics, graph->metrics_));
  return graph;
}

absl::StatusOr<std::shared_ptr<GraphImpl>> GraphImpl::At(
    absl::Span<const VersionName> versions) const {
  if (latest_ != nullptr) return latest_->At(versions);
  auto pinned = std::shared_ptr<GraphImpl>(new GraphImpl());
  pinned->latest_ = shared_from_this();
  pinned->versions_.assign(versions.begin(), versions.end());
  pinned->pid_ = pid_;
  pinned->async_ = async_;
  pinned->name_ = name_;
  pinned->fingerprint_ = fingerprint_;
  VICINITY_ASSIGN_OR_RETURN(pinned->router_, PinShards(*router_, versions, StartOperation()));
  return pinned;
}

absl::StatusOr<std::shared_ptr<const GraphImpl>> GraphImpl::AtOneVersion() const {
  if (!router_->book().grows() || !versions_.empty()) return shared_from_this();
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ShardVersion> now,
                            ReadVersionsThereAre(*router_, StartOperation()));
  std::vector<VersionName> versions;
  for (const ShardVersion& shard : now) versions.emplace_back(shard.version, shard.term);
  return At(versions);
}

GraphImpl::GraphImpl() {
  traffic_.AddMetrics(&own_metrics_);
  AddProcessUse(&own_metrics_);
}

absl::StatusOr<std::shared_ptr<AsyncCalls>> GraphImpl::Calls() const {
  MutexLock lock(&calls_mu_);
  if (calls_ == nullptr) {
    VICINITY_ASSIGN_OR_RETURN(calls_, WithinResources([this] {
                                return AsyncCalls::Create(async_, std::make_unique<RealTimer>());
                              }));
  }
  return calls_;
}

void GraphImpl::StopCalls() {
  std::shared_ptr<AsyncCalls> calls;
  {
    MutexLock lock(&calls_mu_);
    calls = calls_;
  }
  if (calls != nullptr) calls->Stop();
}

absl::Status GraphImpl::CheckProcess() const {
  if (getpid() == pid_) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("process ", getpid(),
                                                    " uses a graph that process ", pid_,
                                                    " opened before a fork: fork before the first "
                                                    "graph is opened, or spawn the child"));
}

absl::Status GraphImpl::StartTracing(const GraphOptions& options) {
  if (options.trace_share == 0) return absl::OkStatus();
  Tracer::Options to;
  to.share = options.trace_share;
  OtlpExporter::Options exported;
  exported.url = OtlpUrl(options.trace_endpoint);
  exported.file = options.trace_file;
  exported.resource = {{"service.name", "vicinity_client"},
                       {"service.instance.id",
                        options.client_name.empty() ? DefaultClientName() : options.client_name},
                       {"service.version", kVersion}};
  if (!exported.url.empty() || !exported.file.empty()) {
    VICINITY_ASSIGN_OR_RETURN(span_exporter_, OtlpExporter::Start(std::move(exported)));
    to.sinks.push_back(span_exporter_.get());
    own_metrics_.Add(
        {"vicinity_client_trace_sent_total", "Spans that a collector or file has taken"}, {},
        [this] { return static_cast<double>(span_exporter_->sent()); });
    own_metrics_.Add(
        {"vicinity_client_trace_dropped_total", "Spans that no collector or file has taken"}, {},
        [this] { return static_cast<double>(span_exporter_->dropped()); });
  }
  tracer_ = std::make_unique<Tracer>(std::move(to));
  return absl::OkStatus();
}

absl::Status GraphImpl::OpenDirectory(const GraphOptions& options) {
  GuardAgainstBusErrors();
  Dataset::Options local;
  local.verify_at_touch = true;
  VICINITY_ASSIGN_OR_RETURN(dataset_, Dataset::Open(options.directory, local));
  name_ = dataset_->manifest().name();
  fingerprint_ = dataset_->fingerprint();
  std::vector<std::unique_ptr<ShardAccess>> shards;
  for (const std::unique_ptr<Shard>& shard : dataset_->shards()) {
    shards.push_back(MakeMappedShard(*dataset_, *shard, &traffic_));
  }
  router_ = std::make_unique<ShardRouter>(dataset_->schema(), dataset_->book(), std::move(shards),
                                          HomesOfRankings(dataset_->manifest().rankings()));
  return absl::OkStatus();
}

absl::Status GraphImpl::OpenCluster(const GraphOptions& options) {
  VICINITY_ASSIGN_OR_RETURN(const ClusterFile cluster, ReadClusterFile(options.cluster_file));
  for (const int32_t shard : options.local_shards) {
    if (shard < 0 || shard >= cluster.num_shards) {
      return absl::InvalidArgumentError(
          absl::StrCat("local shard ", shard, " of ", cluster.num_shards, " in ", cluster.path));
    }
  }
  if (!options.local_shards.empty() && !cluster.changes.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("local shards of a live graph (`changes` in ", cluster.path,
                     "): their files alone do not have what was written"));
  }
  if (!options.local_shards.empty()) {
    GuardAgainstBusErrors();
    Dataset::Options local;
    local.verify_at_touch = true;
    for (const int32_t shard : options.local_shards) local.shards.push_back(ShardId{shard});
    VICINITY_ASSIGN_OR_RETURN(dataset_, Dataset::Open(cluster.data, local));
  }
  VICINITY_RETURN_IF_ERROR(ClaimProcessForRpc());
  IgnoreLockOrder();
  VICINITY_RETURN_IF_ERROR(Connect(cluster, options));
  return MakeRouter(cluster, options);
}

absl::Status GraphImpl::Connect(const ClusterFile& cluster, const GraphOptions& options) {
  ConnectionOptions connection;
  connection.connect_timeout = options.connect_timeout;
  connection.call_timeout = options.call_timeout;
  connection.channels = options.channels_per_server;
  connection.precision = ToProto(options.wire_precision);
  connection.transport = options.transport;
  connection.client_name = options.client_name.empty() ? DefaultClientName() : options.client_name;
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<ClientCredentials> credentials,
                            ClientCredentials::Load(options.credentials, &cluster));
  connection.tls_sessions = credentials->tls_sessions();
  std::vector<ServerToReach> servers;
  for (const ClusterServer& server : cluster.servers) {
    ServerEndpoint endpoint{server.name, server.advertise, {}, !cluster.changes.empty()};
    for (const ShardId shard : server.shards) {
      if (dataset_ == nullptr || dataset_->shard(shard) == nullptr) {
        endpoint.shards.push_back(shard);
      }
    }
    if (endpoint.shards.empty()) continue;  // every shard of it is mapped here
    if (endpoint.address.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(cluster.path, ": server ", server.name, " does not say what to dial"));
    }
    VICINITY_ASSIGN_OR_RETURN(connection.credentials, credentials->For(endpoint.address));
    servers.push_back({std::move(endpoint), connection});
  }
  if (servers.empty()) return absl::OkStatus();
  MakeTools(cluster, options);
  servers_ = std::make_unique<ClusterServers>(std::move(servers), tools_.replicas);
  std::optional<KnownDataset> known;
  if (dataset_ != nullptr) known = KnownDataset{dataset_->fingerprint(), dataset_->directory()};
  return Explain(*credentials, servers_->ChooseDataset(known).status());
}

absl::Status GraphImpl::Explain(const ClientCredentials& credentials,
                                const absl::Status& met) const {
  const auto end = std::chrono::steady_clock::now() + kExplainAll;
  for (int i = 0; i < servers_->size() && !met.ok(); ++i) {
    const std::string& address = servers_->connection(i)->endpoint().address;
    if (!absl::StrContains(met.message(), address)) continue;
    if (std::chrono::steady_clock::now() > end) break;
    absl::Status why = credentials.Explain(address, met, kExplainLimit);
    if (why != met) return why;
  }
  return met;
}

void GraphImpl::MakeTools(const ClusterFile& cluster, const GraphOptions& options) {
  timer_ = std::make_unique<RealTimer>();
  jitter_ = std::make_unique<Jitter>(std::random_device()());
  // Enough that all that is under way to a server that dies can be asked elsewhere at once.
  budget_ = std::make_unique<RetryBudget>(std::max(kFewestTokens, 2 * cluster.num_shards));
  hedging_ = std::make_unique<HedgePolicy>(options.hedge);
  tools_.replicas = {timer_.get(), jitter_.get(), &traffic_};
  tools_.tracer = tracer_.get();
  tools_.policy.attempt_timeout = options.call_timeout + kAfterRpc;
  tools_.policy.call_budget = std::max(options.call_budget, options.call_timeout);
  tools_.budget = budget_.get();
  tools_.hedging = hedging_.get();
}

absl::Status GraphImpl::Describe(proto::DescribeReply* description) {
  if (dataset_ == nullptr) return servers_->Describe(description);
  *description->mutable_schema() = dataset_->manifest().schema();
  *description->mutable_book() = dataset_->manifest().book();
  description->set_dataset(dataset_->manifest().name());
  description->set_fingerprint(dataset_->fingerprint());
  *description->mutable_rankings() = dataset_->manifest().rankings();
  return absl::OkStatus();
}

absl::Status GraphImpl::MakeRouter(const ClusterFile& cluster, const GraphOptions& options) {
  proto::DescribeReply description;
  VICINITY_RETURN_IF_ERROR(Describe(&description));
  name_ = description.dataset();
  fingerprint_ = description.fingerprint();
  VICINITY_ASSIGN_OR_RETURN(Schema schema, SchemaFromProto(description.schema()));
  VICINITY_ASSIGN_OR_RETURN(Book book, Book::FromProto(description.book()));
  if (book.num_shards() != cluster.num_shards ||
      book.num_node_types() != static_cast<int32_t>(schema.node_types.size())) {
    return absl::FailedPreconditionError(absl::StrCat(
        "dataset ", name_, " has ", book.num_shards(), " shards and ", book.num_node_types(),
        " node types in its book; ", cluster.path, " says ", cluster.num_shards,
        " shards, its schema ", schema.node_types.size(), " types"));
  }
  schema_ = std::make_unique<const Schema>(std::move(schema));
  book_ = std::make_unique<const Book>(cluster.changes.empty() ? std::move(book) : book.Growing());
  std::vector<std::unique_ptr<ShardAccess>> shards;
  for (int32_t i = 0; i < cluster.num_shards; ++i) {
    const Shard* const mapped = dataset_ == nullptr ? nullptr : dataset_->shard(ShardId{i});
    if (mapped != nullptr) {
      shards.push_back(MakeMappedShard(*dataset_, *mapped, &traffic_));
    } else {
      shards.push_back(Replicate(ShardId{i}, options));
    }
  }
  router_ = std::make_unique<ShardRouter>(*schema_, *book_, std::move(shards),
                                          HomesOfRankings(description.rankings()));
  return absl::OkStatus();
}

std::unique_ptr<ShardAccess> GraphImpl::Replicate(ShardId shard,
                                                  const GraphOptions& options) const {
  std::vector<ShardReplica> replicas;
  for (int i = 0; i < servers_->size(); ++i) {
    ServerConnection* const connection = servers_->connection(i);
    const std::vector<ShardId>& served = connection->endpoint().shards;
    if (std::find(served.begin(), served.end(), shard) == served.end()) continue;
    replicas.push_back(
        {servers_->replica(i), MakeRemoteShard(shard, fingerprint_, connection, *schema_, *book_)});
  }
  const int width = options.channels_per_server * static_cast<int>(replicas.size());
  return MakeReplicatedShard(shard, std::move(replicas), width, tools_);
}

}  // namespace vicinity
