#include "client/graph_impl.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/credentials.h"
#include "client/fan_out.h"
#include "client/mapped_shard.h"
#include "client/remote_shard.h"
#include "partition/schema_proto.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int kMaxChannels = 64;
// For finding out why a server cannot be reached.
constexpr std::chrono::milliseconds kExplainLimit(500);

absl::Status CheckOptions(const GraphOptions& options) {
  if (options.cluster_file.empty() == options.directory.empty()) {
    return absl::InvalidArgumentError("a graph is opened from a cluster file or a directory: one");
  }
  if (options.channels_per_server < 1 || options.channels_per_server > kMaxChannels) {
    return absl::InvalidArgumentError(absl::StrCat(
        "channels_per_server ", options.channels_per_server, " is not from 1 to ", kMaxChannels));
  }
  if (options.connect_timeout.count() <= 0 || options.call_timeout.count() <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("timeouts of ", options.connect_timeout.count(),
                                                   " and ", options.call_timeout.count(),
                                                   " ms: every wait has one above 0"));
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

absl::StatusOr<std::unique_ptr<GraphImpl>> GraphImpl::Open(const GraphOptions& options) {
  VICINITY_RETURN_IF_ERROR(CheckOptions(options));
  auto graph = std::unique_ptr<GraphImpl>(new GraphImpl());
  graph->pid_ = getpid();
  VICINITY_RETURN_IF_ERROR(options.directory.empty() ? graph->OpenCluster(options)
                                                     : graph->OpenDirectory(options));
  return graph;
}

absl::Status GraphImpl::CheckProcess() const {
  if (getpid() == pid_) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("process ", getpid(),
                                                    " uses a graph that process ", pid_,
                                                    " opened before a fork: open it in the child"));
}

absl::Status GraphImpl::OpenDirectory(const GraphOptions& options) {
  VICINITY_ASSIGN_OR_RETURN(dataset_, Dataset::Open(options.directory));
  name_ = dataset_->manifest().name();
  fingerprint_ = dataset_->fingerprint();
  std::vector<std::unique_ptr<ShardAccess>> shards;
  for (const std::unique_ptr<Shard>& shard : dataset_->shards()) {
    shards.push_back(std::make_unique<MappedShard>(*dataset_, *shard, &traffic_));
  }
  router_ = std::make_unique<ShardRouter>(dataset_->schema(), dataset_->book(), std::move(shards));
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
  if (!options.local_shards.empty()) {
    Dataset::Options local;
    for (const int32_t shard : options.local_shards) local.shards.push_back(ShardId{shard});
    VICINITY_ASSIGN_OR_RETURN(dataset_, Dataset::Open(cluster.data, local));
  }
  VICINITY_RETURN_IF_ERROR(Connect(cluster, options));
  VICINITY_RETURN_IF_ERROR(CheckOneDataset(cluster));
  return MakeRouter(cluster);
}

absl::Status GraphImpl::Connect(const ClusterFile& cluster, const GraphOptions& options) {
  ConnectionOptions connection;
  connection.connect_timeout = options.connect_timeout;
  connection.call_timeout = options.call_timeout;
  connection.channels = options.channels_per_server;
  connection.precision = ToProto(options.wire_precision);
  connection.client_name = options.client_name.empty() ? DefaultClientName() : options.client_name;
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<ClientCredentials> credentials,
                            ClientCredentials::Load(options.credentials, &cluster));
  for (const ClusterServer& server : cluster.servers) {
    ServerEndpoint endpoint{server.name, server.advertise, {}};
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
    connections_.push_back(
        std::make_unique<ServerConnection>(std::move(endpoint), connection, &traffic_));
  }
  FanOut hellos;
  for (const auto& server : connections_) server->Connect(hellos.Add());
  const absl::Status met = hellos.Wait();
  for (const auto& server : connections_) {
    const std::string& address = server->endpoint().address;
    if (met.ok() || !absl::StrContains(met.message(), address)) continue;
    return credentials->Explain(address, met, kExplainLimit);
  }
  return met;
}

absl::Status GraphImpl::CheckOneDataset(const ClusterFile& cluster) const {
  const uint64_t expected =
      dataset_ != nullptr ? dataset_->fingerprint() : connections_.front()->hello().fingerprint();
  const std::string whose = dataset_ != nullptr
                                ? dataset_->directory()
                                : absl::StrCat("server ", connections_.front()->endpoint().name);
  for (const auto& connection : connections_) {
    const ServerEndpoint& endpoint = connection->endpoint();
    const proto::HelloReply& hello = connection->hello();
    if (hello.fingerprint() != expected) {
      return absl::FailedPreconditionError(
          absl::StrFormat("shard %d at %s (server %s) is of dataset %016x, %s of %016x",
                          endpoint.shards.front().value, endpoint.address, endpoint.name,
                          hello.fingerprint(), whose, expected));
    }
    for (const ShardId shard : endpoint.shards) {
      const auto& served = hello.shards();
      if (std::find(served.begin(), served.end(), shard.value) == served.end()) {
        return absl::NotFoundError(absl::StrCat("shard ", shard.value, " is not served at ",
                                                endpoint.address, " (server ", endpoint.name,
                                                "), where ", cluster.path, " says it is"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status GraphImpl::MakeRouter(const ClusterFile& cluster) {
  proto::DescribeReply description;
  if (dataset_ != nullptr) {
    *description.mutable_schema() = dataset_->manifest().schema();
    *description.mutable_book() = dataset_->manifest().book();
    description.set_dataset(dataset_->manifest().name());
    description.set_fingerprint(dataset_->fingerprint());
  } else {
    VICINITY_RETURN_IF_ERROR(connections_.front()->Describe(&description));
  }
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
  book_ = std::make_unique<const Book>(std::move(book));
  std::vector<std::unique_ptr<ShardAccess>> shards(cluster.num_shards);
  for (const auto& connection : connections_) {
    for (const ShardId shard : connection->endpoint().shards) {
      shards[shard.value] =
          std::make_unique<RemoteShard>(shard, fingerprint_, connection.get(), *schema_, *book_);
    }
  }
  if (dataset_ != nullptr) {
    for (const std::unique_ptr<Shard>& shard : dataset_->shards()) {
      shards[shard->id().value] = std::make_unique<MappedShard>(*dataset_, *shard, &traffic_);
    }
  }
  router_ = std::make_unique<ShardRouter>(*schema_, *book_, std::move(shards));
  return absl::OkStatus();
}

}  // namespace vicinity
