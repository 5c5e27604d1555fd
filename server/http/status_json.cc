#include "server/http/status_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "proto/common/ids.h"
#include "proto/telemetry/latency_histogram.h"

namespace vicinity {
namespace {

using Json = nlohmann::json;
using Family = MetricRegistry::Family;

const Family* FindFamily(const std::vector<Family>& families, const char* name) {
  for (const Family& family : families) {
    if (family.metric.name == name) return &family;
  }
  return nullptr;
}

// By the value of one label.
std::map<std::string, const Family::Series*> SeriesBy(const std::vector<Family>& families,
                                                      const char* name, const char* label) {
  std::map<std::string, const Family::Series*> found;
  const Family* const family = FindFamily(families, name);
  if (family == nullptr) return found;
  for (const Family::Series& series : family->series) {
    for (const auto& [of, value] : series.labels) {
      if (of == label) found[value] = &series;
    }
  }
  return found;
}

Json ShardsOf(const proto::StatusReply& status, const std::vector<Family>& metrics) {
  const auto versions = SeriesBy(metrics, "vicinity_server_shard_version", "shard");
  const auto bytes = SeriesBy(metrics, "vicinity_server_changes_memory_bytes", "shard");
  Json shards = Json::array();
  for (const proto::ShardStatus& shard : status.shards()) {
    Json shown = {{"shard", shard.shard()},
                  {"file_bytes", shard.mapped_bytes()},
                  {"checked_bytes", shard.checked_bytes()},
                  {"fault", shard.fault()}};
    const std::string id = absl::StrCat(shard.shard());
    if (const auto found = versions.find(id); found != versions.end()) {
      shown["version"] = found->second->value;
    }
    if (const auto found = bytes.find(id); found != bytes.end()) {
      shown["changes_bytes"] = found->second->value;
    }
    shards.push_back(std::move(shown));
  }
  return shards;
}

Json MethodsOf(const proto::StatusReply& status, const std::vector<Family>& metrics) {
  const auto times = SeriesBy(metrics, "grpc_server_handling_seconds", "grpc_method");
  Json methods = Json::array();
  for (const proto::MethodStatus& method : status.methods()) {
    if (method.started() == 0) continue;
    Json shown = {{"method", method.method()},
                  {"started", method.started()},
                  {"failed", method.failed()},
                  {"bytes_sent", method.bytes_sent()},
                  {"bytes_received", method.bytes_received()},
                  {"busy_seconds", method.busy_seconds()}};
    if (const auto found = times.find(method.method()); found != times.end()) {
      shown["within"] = found->second->counts_within;
    }
    methods.push_back(std::move(shown));
  }
  return methods;
}

Json LimitsOf(const proto::StatusReply& status) {
  Json limits = Json::array();
  for (const proto::LimitStatus& limit : status.limits()) {
    limits.push_back({{"name", limit.name()},
                      {"limit", limit.limit()},
                      {"used", limit.used()},
                      {"refused", limit.refused()}});
  }
  return limits;
}

const char* NameOf(PeerWatch::State state) {
  switch (state) {
    case PeerWatch::State::kAnswers:
      return "answers";
    case PeerWatch::State::kSilent:
      return "silent";
    case PeerWatch::State::kUnknown:
      break;
  }
  return "unknown";
}

Json ServersOf(const ClusterView& cluster, const std::string& self) {
  Json servers = Json::array();
  for (size_t i = 0; i < cluster.servers.size(); ++i) {
    const ClusterServer& server = cluster.servers[i];
    const PeerWatch::Peer peer = i < cluster.peers.size() ? cluster.peers[i] : PeerWatch::Peer();
    Json shards = Json::array();
    for (const ShardId shard : server.shards) shards.push_back(shard.value);
    servers.push_back({{"name", server.name},
                       {"address", server.advertise},
                       {"http", server.http},
                       {"shards", std::move(shards)},
                       {"self", server.name == self},
                       {"state", NameOf(peer.state)},
                       {"connect_seconds", peer.connect_seconds},
                       {"fault", peer.fault}});
  }
  return servers;
}

}  // namespace

std::string StatusJson(const proto::StatusReply& status, const std::vector<Family>& metrics,
                       const ClusterView& cluster) {
  const Family* const serving = FindFamily(metrics, "vicinity_server_serving");
  const Family* const disk = FindFamily(metrics, "vicinity_server_changes_disk_level");
  Json shown = {
      {"server", status.server()},
      {"version", status.version()},
      {"dataset", status.dataset()},
      // As text: more bits than a browser's numbers have.
      {"fingerprint", absl::StrCat(absl::Hex(status.fingerprint(), absl::kZeroPad16))},
      {"serving", serving == nullptr || serving->series.front().value != 0},
      {"changes_disk_level", disk == nullptr ? 0 : disk->series.front().value},
      {"uptime_seconds", status.uptime_seconds()},
      {"resident_bytes", status.resident_bytes()},
      {"calls_in_flight", status.calls_in_flight()},
      {"certificate_expires", status.certificate_expires()},
      {"certificate_fault", status.certificate_fault()},
      {"scrub",
       {{"passes", status.scrub().passes()},
        {"done_bytes", status.scrub().done_bytes()},
        {"all_bytes", status.scrub().all_bytes()}}},
      {"shards", ShardsOf(status, metrics)},
      {"methods", MethodsOf(status, metrics)},
      {"bounds", LatencyHistogram::kBounds},
      {"limits", LimitsOf(status)},
      {"servers", ServersOf(cluster, status.server())},
  };
  // Names may be any bytes.
  return shown.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace vicinity
