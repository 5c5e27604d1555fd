#include "server/config.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/cluster/cluster_file.h"
#include "proto/cluster/shard_list.h"
#include "proto/command_line/help.h"
#include "proto/command_line/nearest_word.h"
#include "proto/command_line/usage_errors.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "server/bulk/bulk_options.h"
#include "server/flag_values.h"
#include "server/flags.h"

namespace vicinity {
namespace {

absl::StatusOr<std::vector<ShardId>> ParseShards(const std::string& text) {
  if (text.empty()) return std::vector<ShardId>();
  absl::StatusOr<std::vector<ShardId>> shards = ParseShardList(text);
  if (!shards.ok()) return At("--shards", shards.status());
  return shards;
}

// What the flags left open, the cluster file says.
void TakeSecurity(const ClusterFile& file, ServerSecurity* security) {
  const auto take = [](const std::string& from, std::string* to) {
    if (to->empty()) *to = from;
  };
  // A certificate of the flags does not have the key of another.
  if (security->tls.certificate.empty()) take(file.tls.key, &security->tls.key);
  take(file.tls.certificate, &security->tls.certificate);
  take(file.tls.ca, &security->tls.ca);
  take(file.tls.revoked, &security->tls.revoked);
  take(file.access, &security->access_file);
  security->open |= file.open;
}

absl::Status TakeAdmin(const std::string& text, ServerConfig* config) {
  if (text.empty()) return absl::OkStatus();
  absl::StatusOr<HostPort> address = ParseHostPort(text);
  if (!address.ok()) return At("--admin-listen", address.status());
  config->server.admin = *std::move(address);
  return absl::OkStatus();
}

absl::Status TakeHttp(const std::string& text, ServerConfig* config) {
  if (text.empty()) return absl::OkStatus();
  absl::StatusOr<HostPort> address = ParseHostPort(text);
  if (!address.ok()) return At("--http", address.status());
  config->server.http = *std::move(address);
  return absl::OkStatus();
}

// What the cluster file says of the server's bulk channel; empty: nothing.
std::string BulkOfFile(const ServerOptions& server) {
  for (const ClusterServer& known : server.cluster) {
    if (known.name == server.name) return known.bulk;
  }
  return "";
}

// After all else that the server is told.
absl::Status TakeBulk(const std::string& text, ServerOptions* server) {
  BulkOptions* const bulk = &server->bulk;
  // Through a proxy no client gets to another port of the server's.
  if (text == "none" || (text == "auto" && server->behind_proxy)) return absl::OkStatus();
  bulk->local = true;
  if (text == "local") return absl::OkStatus();
  if (text == "auto") {
    bulk->tcp = HostPort{server->listen.host, 0};
    return absl::OkStatus();
  }
  absl::StatusOr<HostPort> address = ParseHostPort(text);
  if (!address.ok()) return At("--bulk", address.status());
  bulk->tcp = *std::move(address);
  return absl::OkStatus();
}

// Shards of `self` that other servers have, too.
std::vector<ShardReplicas> ReplicasOf(const ClusterFile& file, const ClusterServer& self) {
  std::vector<ShardReplicas> all;
  for (const ShardId shard : self.shards) {
    ShardReplicas replicas;
    replicas.shard = shard;
    replicas.first = file.servers[file.FirstWriterOf(shard)].name;
    for (const int other : file.ServersOf(shard)) {
      const ClusterServer& server = file.servers[other];
      if (server.name != self.name) replicas.others.push_back({server.name, server.advertise});
    }
    if (!replicas.others.empty()) all.push_back(std::move(replicas));
  }
  return all;
}

absl::Status TakeFromClusterFile(const Flags& flags, ServerConfig* config) {
  VICINITY_ASSIGN_OR_RETURN(const ClusterFile file, ReadClusterFile(flags.cluster));
  const ClusterServer* server = file.FindServer(flags.name);
  if (server == nullptr) {
    std::vector<std::string> names;
    for (const ClusterServer& known : file.servers) names.push_back(known.name);
    return absl::InvalidArgumentError(absl::StrCat(flags.cluster, ": no server \"", flags.name,
                                                   "\", it has ", absl::StrJoin(names, ", "),
                                                   DidYouMean(flags.name, names)));
  }
  config->server.name = server->name;
  config->server.data = file.data;
  config->server.shards = server->shards;
  config->server.num_shards = file.num_shards;
  config->server.cluster = file.servers;
  config->server.changes = server->changes;
  if (!file.changes.empty()) config->server.replicas = ReplicasOf(file, *server);
  config->server.listen = server->listen;
  TakeSecurity(file, &config->server.security);
  VICINITY_RETURN_IF_ERROR(TakeHttp(flags.http.empty() ? server->http : flags.http, config));
  return TakeAdmin(flags.admin_listen.empty() ? server->admin : flags.admin_listen, config);
}

absl::Status TakeFromFlags(const Flags& flags, ServerConfig* config) {
  if (flags.data.empty()) {
    return absl::InvalidArgumentError("one of --cluster (with --name) and --data is needed");
  }
  config->server.data = flags.data;
  VICINITY_ASSIGN_OR_RETURN(config->server.shards, ParseShards(flags.shards));
  absl::StatusOr<HostPort> listen = ParseHostPort(flags.listen);
  if (!listen.ok()) return At("--listen", listen.status());
  config->server.listen = *std::move(listen);
  VICINITY_RETURN_IF_ERROR(TakeHttp(flags.http, config));
  return TakeAdmin(flags.admin_listen, config);
}

// What it may say, and flags, too.
std::vector<FileValue> FileValuesOf(const ServerOptions& server) {
  const auto id = [](std::string* out, ShardId shard) { absl::StrAppend(out, shard.value); };
  const auto address = [](const std::optional<HostPort>& given) {
    return given.has_value() ? given->ToString() : "";
  };
  const ServerSecurity& security = server.security;
  return {{"--data", server.data},
          {"--shards", absl::StrJoin(server.shards, ",", id)},
          {"--changes", server.changes},
          {"--listen", server.listen.ToString()},
          {"--tls-certificate", security.tls.certificate},
          {"--tls-key", security.tls.key},
          {"--tls-ca", security.tls.ca},
          {"--tls-revoked", security.tls.revoked},
          {"--access-file", security.access_file},
          {"--open", security.open ? "true" : ""},
          {"--admin-listen", address(server.admin)},
          {"--http", address(server.http)},
          {"--bulk", BulkOfFile(server)}};
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& args) {
  CommandLine line;
  Flags flags;
  CLI::App app(
      "vicinityd serves shards of a graph: neighbour sampling and feature rows over gRPC.\n"
      "  vicinityd --cluster cluster.textproto --name a\n"
      "  vicinityd --data graph/shards --shards 0,1 --listen 127.0.0.1:7500",
      "vicinityd");
  SetHelp(&app);
  DeclareFlags(&app, &flags, &line.config);
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));  // CLI11 takes them backwards
  } catch (const CLI::CallForVersion& version) {
    line.message = absl::StrCat(version.what(), "\n");
    return line;
  } catch (const CLI::CallForHelp&) {
    line.message = app.help();
    return line;
  } catch (const CLI::ParseError& error) {
    return UsageError(app, error);
  }
  VICINITY_RETURN_IF_ERROR(Convert(flags, &line.config));
  const bool has_file = !flags.cluster.empty();
  VICINITY_RETURN_IF_ERROR(has_file ? TakeFromClusterFile(flags, &line.config)
                                    : TakeFromFlags(flags, &line.config));
  ServerOptions* const server = &line.config.server;
  const std::string of_file = app.count("--bulk") > 0 ? "" : BulkOfFile(*server);
  VICINITY_RETURN_IF_ERROR(TakeBulk(of_file.empty() ? flags.bulk : of_file, server));
  line.config.server.flags =
      ValuesOf(app, has_file ? FileValuesOf(line.config.server) : std::vector<FileValue>());
  return line;
}

}  // namespace vicinity
