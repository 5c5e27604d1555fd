#include "server/server_metrics.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/overlay/live_dataset.h"
#include "proto/common/ids.h"
#include "proto/security/certificates.h"
#include "proto/telemetry/metric.h"
#include "server/connections/connection_acceptor.h"
#include "server/connections/connection_guard.h"
#include "server/health/serving_states.h"
#include "server/logging/log_sink.h"

namespace vicinity {
namespace {

// Adds metrics without labels, but for those that are given.
class Adder {
 public:
  explicit Adder(MetricRegistry::Group* group) : group_(group) {}

  template <typename Read>
  void Gauge(const char* name, const char* help, Read read, MetricLabels labels = {}) const {
    group_->Add({name, help, MetricKind::kGauge}, std::move(labels),
                [read] { return static_cast<double>(read()); });
  }
  template <typename Read>
  void Counter(const char* name, const char* help, Read read) const {
    group_->Add({name, help, MetricKind::kCounter}, {},
                [read] { return static_cast<double>(read()); });
  }

 private:
  MetricRegistry::Group* const group_;
};

void AddConnections(ConnectionAcceptor* connections, const Adder& adder) {
  ConnectionGuard* const guard = connections->guard();
  adder.Gauge("vicinity_server_connections", "Connections for calls",
              [guard] { return guard->num_open(); });
  adder.Gauge("vicinity_server_max_connections", "Connections for calls that there may be",
              [guard] { return guard->limits().max_connections; });
  adder.Counter("vicinity_server_refused_connections_total", "Connections that were reset at once",
                [connections] { return connections->refused(); });
  adder.Counter("vicinity_server_offending_connections_total",
                "Connections cut off for what they did", [guard] { return guard->num_cut_off(); });
}

void AddCertificate(const std::function<TlsState()>& tls, const Adder& adder) {
  adder.Gauge("vicinity_server_certificate_expiry_timestamp_seconds",
              "When the server's certificate ends, in Unix seconds",
              [&tls] { return absl::ToUnixSeconds(tls().expires); });
  adder.Gauge("vicinity_server_certificate_faulty",
              "1 if changed files of TLS have a fault and are not taken",
              [&tls] { return tls().fault.empty() ? 0 : 1; });
}

void AddReplicas(const Dataset& dataset, const std::vector<ClusterServer>& cluster,
                 const Adder& adder) {
  for (const ShardId shard : dataset.wanted()) {
    int64_t replicas = 0;
    for (const ClusterServer& server : cluster) {
      replicas += std::count_if(server.shards.begin(), server.shards.end(),
                                [shard](ShardId other) { return other.value == shard.value; });
    }
    adder.Gauge("vicinity_server_shard_replicas",
                "Servers that the cluster file names for a shard, this one included",
                [replicas] { return replicas; }, {{"shard", absl::StrCat(shard.value)}});
  }
}

// Files may go while they are counted.
int64_t BytesUnder(const std::string& folder) {
  std::error_code failed;
  int64_t bytes = 0;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    std::error_code gone;
    const auto size = at->file_size(gone);
    if (!gone) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

void AddChanges(const Dataset& dataset, const LiveDataset& live, const Adder& adder) {
  for (const ShardId shard : dataset.wanted()) {
    adder.Gauge("vicinity_server_changes_open",
                "1 if the changes of a shard are open, 0 if it is left out for their damage",
                [&live, shard] { return live.Find(shard).ok() ? 1 : 0; },
                {{"shard", absl::StrCat(shard.value)}});
    const std::string folder = absl::StrFormat("%s/shard-%05d", live.folder(), shard.value);
    adder.Gauge("vicinity_server_changes_disk_bytes", "Disk for the changes of a shard",
                [folder] { return BytesUnder(folder); }, {{"shard", absl::StrCat(shard.value)}});
  }
  adder.Gauge("vicinity_server_changes_free_bytes", "Free on the disk of the changes",
              [folder = live.folder()] {
                std::error_code failed;
                const auto space = std::filesystem::space(folder, failed);
                return failed ? uintmax_t{0} : space.available;
              });
}

}  // namespace

void AddServerMetrics(const ServerState& state, const std::vector<ClusterServer>& cluster,
                      MetricRegistry::Group* group) {
  const Adder adder(group);
  adder.Gauge("vicinity_server_serving", "1 if clients should be sent here",
              [serving = state.serving] { return serving->Of("").value_or(false) ? 1 : 0; });
  adder.Gauge(
      "vicinity_server_dataset_info", "1, by the dataset that is served", [] { return 1; },
      {{"dataset", state.dataset->manifest().name()},
       {"fingerprint", absl::StrCat(absl::Hex(state.dataset->fingerprint(), absl::kZeroPad16))}});
  if (state.connections != nullptr) AddConnections(state.connections, adder);
  if (state.tls != nullptr) AddCertificate(state.tls, adder);
  if (state.log_sink != nullptr) {
    adder.Counter("vicinity_server_log_dropped_lines_total",
                  "Lines of the log that there was no room for",
                  [sink = state.log_sink] { return sink->counts().dropped; });
  }
  if (!cluster.empty()) AddReplicas(*state.dataset, cluster, adder);
  if (state.live != nullptr) AddChanges(*state.dataset, *state.live, adder);
}

}  // namespace vicinity
