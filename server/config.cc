#include "server/config.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/cluster/cluster_file.h"
#include "proto/cluster/shard_list.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "proto/version.h"
#include "server/admission/admission_limits.h"

namespace vicinity {
namespace {

// The flags as text and numbers, before anything is checked against anything.
struct Flags {
  std::string cluster;
  std::string name;
  std::string data;
  std::string shards;
  std::string listen = "127.0.0.1:7500";
  std::string log_format = "text";
  std::string log_level = "info";
  ServerSecurity security;  // what is set goes before the cluster file
  std::string admin_listen;
  std::string http;
  std::string bulk = "none";
  double drain_seconds = 5;
  double announce_seconds = 1;
  int64_t check_mib_per_second = 32;
  int64_t changes_cache_mib = 768;
  int64_t changes_free_mib = 1024;
  double keep_retired_seconds = 1800;
  int64_t changes_warn_mib = 4096;
  int64_t changes_reserve_mib = 64;
  int64_t condition_mib = kDefaultMatchingBytes >> 20;
  int64_t reply_mib = 1024;
  int64_t client_reply_mib = 512;
  double client_mib_rate = 0;
  double write_timeout_seconds = 20;
  double slow_call_ms = 10'000;
};

void DeclareSecurityFlags(CLI::App* app, Flags* flags) {
  ServerSecurity* security = &flags->security;
  const auto path = [app](const char* flag, std::string* value, const char* text) {
    app->add_option(flag, *value, text)->group("Security")->type_name("FILE");
  };
  path("--tls-certificate", &security->tls.certificate,
       "the server's certificate, PEM: use TLS, and let in only clients with certificates");
  path("--tls-key", &security->tls.key, "its private key (in the certificate's file)");
  path("--tls-ca", &security->tls.ca, "whose word is taken for client certificates");
  path("--tls-revoked", &security->tls.revoked, "which of them it has taken back (CRL)");
  path("--access-file", &security->access_file, "roles: grants of `vicinity token`");
  app->add_flag("--open", security->open,
                "clients need no certificates, nor TLS if there is none: only for networks whose "
                "hosts are all trusted")
      ->group("Security");
  app->add_option("--admin-listen", flags->admin_listen, "host:port of the admin RPCs (none)")
      ->group("Security");
  app->add_option("--reload-seconds", security->reload_seconds, "between looks at the files of TLS")
      ->group("Security")
      ->capture_default_str();
}

void DeclareHttpFlag(CLI::App* app, Flags* flags) {
  app->add_option("--http", flags->http,
                  "host:port of metrics for Prometheus and of the status page (none)");
}

void DeclareBulkFlag(CLI::App* app, Flags* flags) {
  app->add_option("--bulk", flags->bulk,
                  "a channel beside gRPC that moves rows for less: none, local (a Unix socket, for "
                  "clients on this host), or host:port, which has both")
      ->capture_default_str();
}

void DeclareTraceFlags(CLI::App* app, Flags* flags, TracingOptions* tracing) {
  const auto declare = [app](const char* name, auto* value, const char* help) {
    return app->add_option(name, *value, help)->group("Traces");
  };
  declare("--slow-call-ms", &flags->slow_call_ms,
          "a call that takes longer has a line in the log; 0: none has")
      ->capture_default_str();
  declare("--trace-rate", &tracing->max_calls_per_second,
          "calls recorded a second, of traces that clients sample; 0: none")
      ->capture_default_str();
  declare("--otlp-endpoint", &tracing->otlp_endpoint,
          "where traces are sent, as http://localhost:4318 (OTEL_EXPORTER_OTLP_ENDPOINT)");
}

void DeclareAdmissionFlags(CLI::App* app, Flags* flags, AdmissionLimits* limits) {
  const auto declare = [app](const char* name, auto* value, const char* help) {
    app->add_option(name, *value, help)->group("Limits")->capture_default_str();
  };
  declare("--max-calls", &limits->max_calls,
          "calls for data there at once: running, waiting or not read");
  declare("--max-client-calls", &limits->max_client_calls, "of them, of one client");
  declare("--max-running", &limits->max_running,
          "calls for data worked on at once, others wait; 0: four for each core, at least 16");
  declare("--max-reply-mib", &flags->reply_mib,
          "MiB of replies still to be sent, and as much of those that wait");
  declare("--max-client-reply-mib", &flags->client_reply_mib, "of them, of one client");
  declare("--client-request-rate", &limits->max_client_request_rate,
          "requests a second of one client; 0: any");
  declare("--client-mib-rate", &flags->client_mib_rate,
          "MiB of replies a second of one client; 0: any");
  declare("--write-timeout", &flags->write_timeout_seconds,
          "seconds that a client may leave a reply unread");
}

void DeclareFlags(CLI::App* app, Flags* flags, ServerConfig* config) {
  app->set_version_flag("--version", absl::StrCat("vicinityd ", kVersion));
  auto* cluster = app->add_option("--cluster", flags->cluster, "the cluster file")->group("What");
  auto* name = app->add_option("--name", flags->name, "which server of the cluster file to be");
  name->group("What")->needs(cluster);
  cluster->needs(name);
  app->add_option("--data", flags->data, "instead: a dataset directory")
      ->group("What")
      ->excludes(cluster);
  app->add_option("--shards", flags->shards, "with --data: which shards, as 0,2-5 (all)")
      ->group("What")
      ->excludes(cluster);
  app->add_option("--changes", config->server.changes,
                  "with --data: a directory for what is written to the shards (read-only)")
      ->group("What")
      ->excludes(cluster);
  app->add_option("--listen", flags->listen, "with --data: host:port; port 0 picks one")
      ->group("What")
      ->capture_default_str()
      ->excludes(cluster);
  DeclareSecurityFlags(app, flags);
  app->add_option("--replica-token-file", config->server.replica_token_file,
                  "a token for calls to the other servers of a live graph's shards")
      ->group("Security");
  DeclareHttpFlag(app, flags);
  DeclareBulkFlag(app, flags);
  app->add_option("--ready-file", config->ready_file,
                  "write host:port there once calls are answered");
  app->add_flag("--die-with-parent", config->die_with_parent,
                "stop when the process that started this one ends");
  app->add_flag("--force", config->force,
                "start a server with changes though its last starts have died");
  app->add_option("--drain", flags->drain_seconds, "seconds that calls get to end when stopping")
      ->capture_default_str();
  app->add_option("--announce", flags->announce_seconds,
                  "of them, seconds for clients to hear of it; half of them at most")
      ->capture_default_str();
  app->add_option("--log-format", flags->log_format, "text or json")->capture_default_str();
  app->add_option("--log-level", flags->log_level, "debug, info, warning or error")
      ->capture_default_str();
  app->add_option("--max-ids", config->server.limits.max_ids, "ids in one request")
      ->group("Limits")
      ->capture_default_str();
  app->add_option("--max-sampled", config->server.limits.max_sampled,
                  "targets x fanout in one request")
      ->group("Limits")
      ->capture_default_str();
  app->add_option("--max-chunk-bytes", config->server.limits.max_chunk_bytes,
                  "of one reply message")
      ->group("Limits")
      ->capture_default_str();
  DeclareAdmissionFlags(app, flags, &config->server.admission);
  DeclareTraceFlags(app, flags, &config->server.tracing);
  app->add_option("--write-share", config->server.write_share,
                  "of the work that writes may be while calls for data wait: from 0.01 to 1, any")
      ->group("Limits")
      ->capture_default_str();
  app->add_option("--max-connections", config->server.max_connections,
                  "at once; then those that are not used give way, or new ones are reset")
      ->group("Limits")
      ->capture_default_str();
  app->add_option("--max-host-connections", config->server.max_host_connections,
                  "of them, from one address; 0: a quarter, at least 64")
      ->group("Limits")
      ->capture_default_str();
  app->add_flag("--behind-proxy", config->server.behind_proxy,
                "clients come through a proxy: its address may have all connections, and never has "
                "to wait for what one of them did")
      ->group("Limits");
  app->add_option("--changes-cache-mib", flags->changes_cache_mib,
                  "MiB for rows and lists that were written and are read again")
      ->group("Limits")
      ->capture_default_str();
  app->add_option("--changes-free-mib", flags->changes_free_mib,
                  "MiB to stay free on their disk: with less, writes are refused; 0: any")
      ->group("Limits")
      ->capture_default_str();
  app->add_option("--changes-warn-mib", flags->changes_warn_mib,
                  "MiB free on it below which the log warns; 0: it does not")
      ->group("Limits")
      ->capture_default_str();
  app->add_option("--changes-reserve-mib", flags->changes_reserve_mib,
                  "MiB of it kept, and given up when it is full all the same; 0: none")
      ->group("Limits")
      ->capture_default_str();
  app->add_option(
         "--keep-retired", flags->keep_retired_seconds,
         "seconds that a dataset whose place another has taken is kept after its last read")
      ->group("Limits")
      ->capture_default_str();
  app->add_option(
         "--condition-mib", flags->condition_mib,
         "MiB to remember which edges meet the conditions that draws go by; 0: their lists "
         "are gone through each time")
      ->group("Limits")
      ->capture_default_str();
  app->add_option("--check-rate", flags->check_mib_per_second,
                  "MiB a second that the background check of large files reads")
      ->group("Limits")
      ->capture_default_str();
}

absl::Status RangeError(absl::string_view flag, double value, absl::string_view range) {
  return absl::InvalidArgumentError(absl::StrCat(flag, " is ", value, ", should be ", range));
}

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

absl::Status TakeBulk(const std::string& text, BulkOptions* bulk) {
  if (text == "none") return absl::OkStatus();
  bulk->local = true;
  if (text == "local") return absl::OkStatus();
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
    const auto name = [](std::string* out, const ClusterServer& known) {
      absl::StrAppend(out, known.name);
    };
    return absl::InvalidArgumentError(absl::StrCat(flags.cluster, ": no server \"", flags.name,
                                                   "\", it has ",
                                                   absl::StrJoin(file.servers, ", ", name)));
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
    return absl::InvalidArgumentError("one of --cluster and --data is needed");
  }
  config->server.data = flags.data;
  VICINITY_ASSIGN_OR_RETURN(config->server.shards, ParseShards(flags.shards));
  absl::StatusOr<HostPort> listen = ParseHostPort(flags.listen);
  if (!listen.ok()) return At("--listen", listen.status());
  config->server.listen = *std::move(listen);
  VICINITY_RETURN_IF_ERROR(TakeHttp(flags.http, config));
  return TakeAdmin(flags.admin_listen, config);
}

absl::Status ConvertAdmission(const Flags& flags, AdmissionLimits* limits) {
  constexpr int64_t kMostMib = int64_t{1} << 30;
  for (const auto& [name, mib] : {std::pair("--max-reply-mib", flags.reply_mib),
                                  std::pair("--max-client-reply-mib", flags.client_reply_mib)}) {
    if (mib < 1 || mib > kMostMib) {
      return RangeError(name, static_cast<double>(mib), "from 1 to 2^30 MiB");
    }
  }
  if (!(flags.write_timeout_seconds >= 0.1 && flags.write_timeout_seconds <= 3600)) {
    return RangeError("--write-timeout", flags.write_timeout_seconds, "from 0.1 to 3600 seconds");
  }
  limits->max_reply_bytes = flags.reply_mib << 20;
  limits->max_client_reply_bytes = flags.client_reply_mib << 20;
  limits->max_client_byte_rate = flags.client_mib_rate * (1 << 20);
  limits->write_timeout =
      std::chrono::milliseconds(std::llround(flags.write_timeout_seconds * 1000));
  return limits->Validate();
}

absl::Status CheckAndConvert(const Flags& flags, ServerConfig* config) {
  // Not below 0 is what not-a-number is not.
  if (!(flags.drain_seconds >= 0 && flags.drain_seconds <= 3600)) {
    return RangeError("--drain", flags.drain_seconds, "from 0 to 3600 seconds");
  }
  config->drain = absl::Seconds(flags.drain_seconds);
  if (!(flags.slow_call_ms >= 0 && flags.slow_call_ms <= 3'600'000)) {
    return RangeError("--slow-call-ms", flags.slow_call_ms, "from 0 to 3600000 milliseconds");
  }
  TracingOptions& tracing = config->server.tracing;
  tracing.slow_call = std::chrono::milliseconds(std::llround(std::ceil(flags.slow_call_ms)));
  if (tracing.max_calls_per_second < 0 || tracing.max_calls_per_second > 1'000'000) {
    return RangeError("--trace-rate", static_cast<double>(tracing.max_calls_per_second),
                      "from 0 to 1000000 calls a second");
  }
  if (flags.check_mib_per_second < 1 || flags.check_mib_per_second > 1 << 20) {
    return RangeError("--check-rate", static_cast<double>(flags.check_mib_per_second),
                      "from 1 to 1048576 MiB a second");
  }
  config->server.check_bytes_per_second = flags.check_mib_per_second << 20;
  if (flags.condition_mib < 0 || flags.condition_mib > 1 << 30) {
    return RangeError("--condition-mib", static_cast<double>(flags.condition_mib),
                      "from 0 to 2^30 MiB");
  }
  for (const auto& [name, mib] : {std::pair("--changes-cache-mib", flags.changes_cache_mib),
                                  std::pair("--changes-free-mib", flags.changes_free_mib),
                                  std::pair("--changes-warn-mib", flags.changes_warn_mib),
                                  std::pair("--changes-reserve-mib", flags.changes_reserve_mib)}) {
    if (mib < 0 || mib > 1 << 30) {
      return RangeError(name, static_cast<double>(mib), "from 0 to 2^30 MiB");
    }
  }
  config->server.changes_cache_bytes = flags.changes_cache_mib << 20;
  config->server.changes_least_free_bytes = flags.changes_free_mib << 20;
  config->server.changes_warn_free_bytes = flags.changes_warn_mib << 20;
  config->server.changes_reserve_bytes = flags.changes_reserve_mib << 20;
  config->server.condition_bytes = flags.condition_mib << 20;
  if (!(flags.keep_retired_seconds >= 0 && flags.keep_retired_seconds <= 30.0 * 86'400)) {
    return RangeError("--keep-retired", flags.keep_retired_seconds, "from 0 to 2592000 seconds");
  }
  config->server.keep_retired = absl::Seconds(flags.keep_retired_seconds);
  if (!(flags.announce_seconds >= 0 && flags.announce_seconds <= 3600)) {
    return RangeError("--announce", flags.announce_seconds, "from 0 to 3600 seconds");
  }
  config->server.announce = absl::Seconds(flags.announce_seconds);
  if (config->server.max_connections < 1 || config->server.max_connections > 1'000'000) {
    return RangeError("--max-connections", static_cast<double>(config->server.max_connections),
                      "from 1 to 1000000");
  }
  if (config->server.max_host_connections < 0 || config->server.max_host_connections > 1'000'000) {
    return RangeError("--max-host-connections",
                      static_cast<double>(config->server.max_host_connections),
                      "from 0 to 1000000");
  }
  if (!(config->server.write_share >= 0.01 && config->server.write_share <= 1)) {
    return RangeError("--write-share", config->server.write_share, "from 0.01 to 1");
  }
  VICINITY_RETURN_IF_ERROR(ConvertAdmission(flags, &config->server.admission));
  VICINITY_RETURN_IF_ERROR(TakeBulk(flags.bulk, &config->server.bulk));
  if (flags.security.reload_seconds < 1 || flags.security.reload_seconds > 86'400) {
    return RangeError("--reload-seconds", flags.security.reload_seconds, "from 1 to 86400");
  }
  config->server.security = flags.security;
  VICINITY_RETURN_IF_ERROR(config->server.limits.Validate());
  VICINITY_ASSIGN_OR_RETURN(config->log_format, ParseLogFormat(flags.log_format));
  VICINITY_ASSIGN_OR_RETURN(config->log_level, ParseLogLevel(flags.log_level));
  return flags.cluster.empty() ? TakeFromFlags(flags, config) : TakeFromClusterFile(flags, config);
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
    return absl::InvalidArgumentError(error.what());
  }
  VICINITY_RETURN_IF_ERROR(CheckAndConvert(flags, &line.config));
  return line;
}

}  // namespace vicinity
