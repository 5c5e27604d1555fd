#include "server/flags.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "proto/command_line/choices.h"
#include "proto/common/status.h"
#include "proto/version.h"
#include "server/admission/admission_limits.h"

namespace vicinity {
namespace {

constexpr int64_t kMostMib = int64_t{1} << 30;
constexpr int64_t kMostCalls = 100'000;
constexpr double kMostRate = 1e15;
constexpr double kMostSeconds = 3600;

// Flags under a heading of the help.
class Group {
 public:
  Group(CLI::App* app, const char* heading) : app_(*app), heading_(heading) {}

  template <typename Value>
  CLI::Option* Add(const char* flag, Value* value, const char* text) const {
    return app_.add_option(flag, *value, text)->group(heading_)->capture_default_str();
  }
  template <typename Value>
  CLI::Option* Add(const char* flag, Value* value, Value least, Value most,
                   const char* text) const {
    return Add(flag, value, text)->check(InRange(least, most));
  }
  CLI::Option* AddSwitch(const char* flag, bool* value, const char* text) const {
    return app_.add_flag(flag, *value, text)->group(heading_)->disable_flag_override();
  }

 private:
  CLI::App& app_;
  const char* const heading_;
};

void DeclareWhat(CLI::App* app, Flags* flags, ServerConfig* config) {
  const Group what(app, "What");
  CLI::Option* const cluster = what.Add("--cluster", &flags->cluster, "the cluster file");
  cluster->type_name("FILE");
  CLI::Option* const name =
      what.Add("--name", &flags->name, "which server of the cluster file to be");
  name->type_name("NAME")->needs(cluster);
  cluster->needs(name);
  what.Add("--data", &flags->data, "instead: a dataset directory")
      ->type_name("DIR")
      ->excludes(cluster);
  what.Add("--shards", &flags->shards, "with --data: which shards, as 0,2-5 (all)")
      ->type_name("N,N-M,...")
      ->excludes(cluster);
  what.Add("--changes", &config->server.changes,
           "with --data: a directory for what is written to the shards (read-only)")
      ->type_name("DIR")
      ->excludes(cluster);
  what.Add("--listen", &flags->listen, "with --data: host:port; port 0 picks one")
      ->type_name("HOST:PORT")
      ->excludes(cluster);
}

void DeclareSecurity(CLI::App* app, Flags* flags, ServerConfig* config) {
  const Group group(app, "Security");
  ServerSecurity* const security = &flags->security;
  const auto file = [&group](const char* flag, std::string* value, const char* text) {
    group.Add(flag, value, text)->type_name("FILE");
  };
  file("--tls-certificate", &security->tls.certificate,
       "the server's certificate, PEM: use TLS, and let in only clients with certificates");
  file("--tls-key", &security->tls.key, "its private key (in the certificate's file)");
  file("--tls-ca", &security->tls.ca, "whose word is taken for client certificates");
  file("--tls-revoked", &security->tls.revoked, "which of them it has taken back (CRL)");
  file("--access-file", &security->access_file, "roles: grants of `vicinity token`");
  group.AddSwitch("--open", &security->open,
                  "clients need no certificates, nor TLS if there is none: only for networks whose "
                  "hosts are all trusted");
  group.Add("--admin-listen", &flags->admin_listen, "host:port of the admin RPCs (none)")
      ->type_name("HOST:PORT");
  group.Add("--reload-seconds", &security->reload_seconds, "between looks at the files of TLS")
      ->check(InRange(1, 86'400));
  file("--replica-token-file", &config->server.replica_token_file,
       "a token for calls to the other servers of a live graph's shards");
}

void DeclareProcess(CLI::App* app, Flags* flags, ServerConfig* config) {
  const Group group(app, "Process");
  group
      .Add("--http", &flags->http,
           "host:port of metrics for Prometheus and of the status page (none)")
      ->type_name("HOST:PORT");
  group
      .Add(
          "--bulk", &flags->bulk,
          "a channel beside gRPC that moves rows for less: none, local (a Unix socket, for clients "
          "on this host), auto (that, and TCP on a port that the system picks; behind a proxy "
          "none), "
          "or host:port, which has both")
      ->type_name("none|local|auto|HOST:PORT");
  group.Add("--ready-file", &config->ready_file, "write host:port there once calls are answered")
      ->type_name("FILE");
  group.AddSwitch("--die-with-parent", &config->die_with_parent,
                  "stop when the process that started this one ends");
  group.AddSwitch("--force", &config->force,
                  "start a server with changes though its last starts have died");
  group.Add("--drain", &flags->drain_seconds, 0.0, kMostSeconds,
            "seconds that calls get to end when stopping");
  group.Add("--announce", &flags->announce_seconds, 0.0, kMostSeconds,
            "of them, seconds for clients to hear of it; half of them at most");
  group.Add("--log-format", &flags->log_format, "text or json")->check(OneOf({"text", "json"}));
  group.Add("--log-level", &flags->log_level, "debug, info, warning or error")
      ->check(OneOf({"debug", "info", "warning", "error"}));
}

void DeclareCallLimits(CLI::App* app, Flags* flags, ServerConfig* config) {
  const Group group(app, "Limits");
  Limits* const of_request = &config->server.limits;
  group.Add("--max-ids", &of_request->max_ids, int64_t{1}, Limits::kMostIds, "ids in one request");
  group.Add("--max-sampled", &of_request->max_sampled, int64_t{1}, int64_t{1'000'000'000},
            "targets x fanout in one request");
  group.Add("--max-chunk-bytes", &of_request->max_chunk_bytes, int64_t{64}, int64_t{2} << 20,
            "of one reply message");
  AdmissionLimits* const limits = &config->server.admission;
  group.Add("--max-calls", &limits->max_calls, int64_t{1}, kMostCalls,
            "calls for data there at once: running, waiting or not read");
  group.Add("--max-client-calls", &limits->max_client_calls, int64_t{1}, kMostCalls,
            "of them, of one client");
  group.Add("--max-running", &limits->max_running, int64_t{0}, kMostCalls,
            "calls for data worked on at once, others wait; 0: four for each core, at least 16");
  group.Add("--max-reply-mib", &flags->reply_mib, int64_t{1}, kMostMib,
            "MiB of replies still to be sent, and as much of those that wait");
  group.Add("--max-client-reply-mib", &flags->client_reply_mib, int64_t{1}, kMostMib,
            "of them, of one client");
  group.Add("--client-request-rate", &limits->max_client_request_rate, 0.0, kMostRate,
            "requests a second of one client; 0: any");
  group.Add("--client-mib-rate", &flags->client_mib_rate, 0.0, kMostRate / (1 << 20),
            "MiB of replies a second of one client; 0: any");
  group.Add("--write-timeout", &flags->write_timeout_seconds, 0.1, kMostSeconds,
            "seconds that a client may leave a reply unread");
  group.Add("--write-share", &config->server.write_share, 0.01, 1.0,
            "of the work that writes may be while calls for data wait: from 0.01 to 1, any");
  group.Add("--max-connections", &config->server.max_connections, int64_t{1}, int64_t{1'000'000},
            "at once; then those that are not used give way, or new ones are reset");
  group.Add("--max-host-connections", &config->server.max_host_connections, int64_t{0},
            int64_t{1'000'000}, "of them, from one address; 0: a quarter, at least 64");
  group.AddSwitch("--behind-proxy", &config->server.behind_proxy,
                  "clients come through a proxy: its address may have all connections, and never "
                  "has to wait for what one of them did");
}

void DeclareStoreLimits(CLI::App* app, Flags* flags) {
  const Group group(app, "Limits");
  group.Add("--changes-cache-mib", &flags->changes_cache_mib, int64_t{0}, kMostMib,
            "MiB for rows and lists that were written and are read again");
  group.Add("--changes-free-mib", &flags->changes_free_mib, int64_t{0}, kMostMib,
            "MiB to stay free on their disk: with less, writes are refused; 0: any");
  group.Add("--changes-warn-mib", &flags->changes_warn_mib, int64_t{0}, kMostMib,
            "MiB free on it below which the log warns; 0: it does not");
  group.Add("--changes-reserve-mib", &flags->changes_reserve_mib, int64_t{0}, kMostMib,
            "MiB of it kept, and given up when it is full all the same; 0: none");
  group.Add("--keep-retired", &flags->keep_retired_seconds, 0.0, 30.0 * 86'400,
            "seconds that a dataset whose place another has taken is kept after its last read");
  group.Add("--condition-mib", &flags->condition_mib, int64_t{0}, kMostMib,
            "MiB to remember which edges meet the conditions that draws go by; 0: their lists are "
            "gone through each time");
  group.Add("--check-rate", &flags->check_mib_per_second, int64_t{1}, int64_t{1} << 20,
            "MiB a second that the background check of large files reads");
}

void DeclareTraces(CLI::App* app, Flags* flags, TracingOptions* tracing) {
  const Group group(app, "Traces");
  group.Add("--slow-call-ms", &flags->slow_call_ms, 0.0, 3'600'000.0,
            "a call that takes longer has a line in the log; 0: none has");
  group.Add("--trace-rate", &tracing->max_calls_per_second, int64_t{0}, int64_t{1'000'000},
            "calls recorded a second, of traces that clients sample; 0: none");
  group
      .Add("--otlp-endpoint", &tracing->otlp_endpoint,
           "where traces are sent, as http://localhost:4318 (OTEL_EXPORTER_OTLP_ENDPOINT)")
      ->type_name("URL");
}

void ConvertAdmission(const Flags& flags, AdmissionLimits* limits) {
  limits->max_reply_bytes = flags.reply_mib << 20;
  limits->max_client_reply_bytes = flags.client_reply_mib << 20;
  limits->max_client_byte_rate = flags.client_mib_rate * (1 << 20);
  limits->write_timeout =
      std::chrono::milliseconds(std::llround(flags.write_timeout_seconds * 1000));
}

}  // namespace

void DeclareFlags(CLI::App* app, Flags* flags, ServerConfig* config) {
  app->set_version_flag("--version", absl::StrCat("vicinityd ", kVersion),
                        "show the version and do nothing else");
  DeclareWhat(app, flags, config);
  DeclareSecurity(app, flags, config);
  DeclareProcess(app, flags, config);
  DeclareCallLimits(app, flags, config);
  DeclareStoreLimits(app, flags);
  DeclareTraces(app, flags, &config->server.tracing);
}

absl::Status Convert(const Flags& flags, ServerConfig* config) {
  VICINITY_ASSIGN_OR_RETURN(config->log_format, ParseLogFormat(flags.log_format));
  VICINITY_ASSIGN_OR_RETURN(config->log_level, ParseLogLevel(flags.log_level));
  config->drain = absl::Seconds(flags.drain_seconds);
  ServerOptions* const server = &config->server;
  server->announce = absl::Seconds(flags.announce_seconds);
  server->keep_retired = absl::Seconds(flags.keep_retired_seconds);
  server->tracing.slow_call =
      std::chrono::milliseconds(std::llround(std::ceil(flags.slow_call_ms)));
  server->check_bytes_per_second = flags.check_mib_per_second << 20;
  server->changes_cache_bytes = flags.changes_cache_mib << 20;
  server->changes_least_free_bytes = flags.changes_free_mib << 20;
  server->changes_warn_free_bytes = flags.changes_warn_mib << 20;
  server->changes_reserve_bytes = flags.changes_reserve_mib << 20;
  server->condition_bytes = flags.condition_mib << 20;
  server->security = flags.security;
  ConvertAdmission(flags, &server->admission);
  return absl::OkStatus();
}

}  // namespace vicinity
