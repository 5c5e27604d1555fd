#include "server/handlers/status_handler.h"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "proto/common/ids.h"
#include "proto/security/certificates.h"
#include "proto/telemetry/metric.h"
#include "proto/telemetry/registry.h"
#include "proto/version.h"
#include "server/admission/admission.h"
#include "server/admission/admission_limits.h"
#include "server/admission/call_counters.h"
#include "server/admission/call_gate.h"
#include "server/admission/work_share.h"
#include "server/connections/connection_acceptor.h"
#include "server/connections/connection_guard.h"
#include "server/health/shard_health.h"
#include "server/logging/log_sink.h"

namespace vicinity {
namespace {

// Resident memory of this process, mapped files included; 0 if the kernel does not tell.
uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total_pages = 0;
  uint64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void AddLimit(const char* name, double limit, double used, int64_t refused,
              proto::StatusReply* reply) {
  proto::LimitStatus* status = reply->add_limits();
  status->set_name(name);
  status->set_limit(limit);
  status->set_used(used);
  status->set_refused(static_cast<uint64_t>(refused));
}

// Of a lane whose limits nobody sets, all in one.
void AddSmallLimits(const char* name, const CallGate& gate, Lane lane, proto::StatusReply* reply) {
  const AdmissionGauges gauges = gate.gauges(lane);
  int64_t refused = 0;
  for (const int64_t count : gauges.refused) refused += count;
  AddLimit(name, static_cast<double>(gate.limits(lane).max_calls),
           static_cast<double>(gauges.running + gauges.waiting + gauges.stalled), refused, reply);
}

void AddLimits(const CallGate& gate, proto::StatusReply* reply) {
  constexpr double kMib = 1 << 20;
  const AdmissionLimits& limits = gate.limits();
  const AdmissionGauges gauges = gate.gauges();
  const auto add = [&](Refusal why, auto limit, auto used) {
    AddLimit(kRefusalNames[static_cast<size_t>(why)], static_cast<double>(limit),
             static_cast<double>(used), gauges.refused[static_cast<size_t>(why)], reply);
  };
  add(Refusal::kCalls, limits.max_calls, gauges.running + gauges.waiting + gauges.stalled);
  add(Refusal::kClientCalls, limits.max_client_calls, 0);
  add(Refusal::kReplyBytes, static_cast<double>(limits.max_reply_bytes) / kMib,
      static_cast<double>(gauges.reply_bytes) / kMib);
  add(Refusal::kClientReplyBytes, static_cast<double>(limits.max_client_reply_bytes) / kMib, 0);
  add(Refusal::kClientRequestRate, limits.max_client_request_rate, 0);
  add(Refusal::kClientByteRate, limits.max_client_byte_rate / kMib, 0);
  add(Refusal::kQueueDelay, 0, gauges.overloaded);
  add(Refusal::kExpired, 0, 0);
  AddLimit("max-running", static_cast<double>(gate.max_running()),
           static_cast<double>(gauges.running), 0, reply);
  AddSmallLimits("small-calls", gate, Lane::kSmall, reply);
  AddSmallLimits("health-checks", gate, Lane::kHealth, reply);
  AddSmallLimits("writes", gate, Lane::kWrites, reply);
  AddSmallLimits("copied-writes", gate, Lane::kReplicas, reply);
  const WorkShare::Use use = gate.work_share().use();
  const double work = use.reads_seconds + use.writes_seconds;
  AddLimit("write-share", gate.work_share().share(), work > 0 ? use.writes_seconds / work : 0,
           gate.work_share().held_back(), reply);
  AddLimit("write-timeout", std::chrono::duration<double>(limits.write_timeout).count(),
           static_cast<double>(gauges.stalled), gate.cut_off(), reply);
}

void AddMetrics(const MetricRegistry& registry, proto::StatusReply* reply) {
  for (const MetricRegistry::Reading& reading : registry.Read()) {
    proto::MetricStatus* const metric = reply->add_metrics();
    metric->set_name(reading.metric.name);
    metric->set_help(reading.metric.help);
    metric->set_is_counter(reading.metric.kind == MetricKind::kCounter);
    metric->set_value(reading.value);
    for (const auto& [name, value] : reading.labels) {
      proto::MetricLabel* const label = metric->add_labels();
      label->set_name(name);
      label->set_value(value);
    }
  }
}

void AddWriter(const LiveDataset& live, ShardId id, proto::ShardStatus* status) {
  const absl::StatusOr<std::shared_ptr<LiveShard>> shard = live.Find(id);
  if (!shard.ok()) {
    status->set_fault(std::string(shard.status().message()));
    return;
  }
  const LogPosition position = (*shard)->position();
  status->mutable_position()->set_version(position.version);
  status->mutable_position()->set_term(position.term);
  const WriterTerm writer = (*shard)->writer();
  status->mutable_writer()->set_term(writer.term);
  status->mutable_writer()->set_writer(writer.writer);
  status->set_refuses(std::string((*shard)->refusal().message()));
}

}  // namespace

absl::StatusOr<proto::StatusReply> ReportStatus(const ServerState& state,
                                                const proto::StatusRequest& request) {
  proto::StatusReply reply;
  reply.set_server(state.name);
  reply.set_version(kVersion);
  reply.set_dataset(state.dataset->manifest().name());
  reply.set_fingerprint(state.dataset->fingerprint());
  const std::chrono::duration<double> uptime = std::chrono::steady_clock::now() - state.started;
  reply.set_uptime_seconds(uptime.count());
  reply.set_resident_bytes(ResidentBytes());
  reply.set_calls_in_flight(static_cast<uint32_t>(state.counters->in_flight()));
  for (const ShardHealth::State& shard : state.health->states()) {
    proto::ShardStatus* status = reply.add_shards();
    status->set_shard(shard.shard.value);
    status->set_mapped_bytes(shard.file_bytes);
    status->set_checked_bytes(shard.checked_bytes);
    status->set_fault(shard.fault);
    if (state.live != nullptr && shard.fault.empty()) AddWriter(*state.live, shard.shard, status);
  }
  const ShardHealth::Scrubbed scrubbed = state.health->scrubbed();
  reply.mutable_scrub()->set_passes(static_cast<uint64_t>(scrubbed.passes));
  reply.mutable_scrub()->set_done_bytes(static_cast<uint64_t>(scrubbed.done_bytes));
  reply.mutable_scrub()->set_all_bytes(static_cast<uint64_t>(scrubbed.all_bytes));
  for (size_t i = 0; i < state.counters->methods().size(); ++i) {
    if (state.counters->methods()[i].method.empty()) continue;
    const MethodCounts counts = state.counters->counts(i);
    proto::MethodStatus* status = reply.add_methods();
    status->set_method(state.counters->methods()[i].method);
    status->set_started(counts.started);
    status->set_failed(counts.failed);
    status->set_bytes_sent(counts.bytes_sent);
    status->set_bytes_received(counts.bytes_received);
    status->set_bytes_copied(counts.bytes_copied);
    status->set_busy_seconds(counts.busy_seconds);
  }
  if (state.gate != nullptr) AddLimits(*state.gate, &reply);
  if (ConnectionAcceptor* const connections = state.connections) {
    ConnectionGuard* const guard = connections->guard();
    AddLimit("max-connections", static_cast<double>(guard->limits().max_connections),
             static_cast<double>(guard->num_open()), connections->refused(), &reply);
    AddLimit("offending-connections", 0, 0, guard->num_cut_off(), &reply);
  }
  if (state.log_sink != nullptr) {
    const LogSink::Counts log = state.log_sink->counts();
    AddLimit("log-queue-bytes", static_cast<double>(log.queue_bytes),
             static_cast<double>(log.queued_bytes), log.dropped, &reply);
  }
  if (state.tls != nullptr) {
    const TlsState tls = state.tls();
    reply.set_certificate_expires(absl::ToUnixSeconds(tls.expires));
    reply.set_certificate_fault(tls.fault);
  }
  if (request.want_metrics() && state.metrics != nullptr) AddMetrics(*state.metrics, &reply);
  return reply;
}

}  // namespace vicinity
