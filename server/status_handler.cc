#include "server/status_handler.h"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>

#include "partition/dataset.h"
#include "proto/version.h"
#include "server/call_counters.h"
#include "server/shard_health.h"

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

}  // namespace

absl::StatusOr<proto::StatusReply> ReportStatus(const ServerState& state,
                                                const proto::StatusRequest&) {
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
  }
  for (size_t i = 0; i < kMethodNames.size(); ++i) {
    const MethodCounts counts = state.counters->counts(static_cast<Method>(i));
    proto::MethodStatus* status = reply.add_methods();
    status->set_method(kMethodNames[i]);
    status->set_started(counts.started);
    status->set_failed(counts.failed);
    status->set_bytes_sent(counts.bytes_sent);
    status->set_bytes_received(counts.bytes_received);
    status->set_bytes_copied(counts.bytes_copied);
    status->set_busy_seconds(counts.busy_seconds);
  }
  return reply;
}

}  // namespace vicinity
