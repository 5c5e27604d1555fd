#include "client/cli/commands/operate/running_config.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace vicinity::cli {
namespace {

constexpr char kFile[] = "cluster file";
constexpr char kOthers[] = "other servers";

std::string ShardsText(const std::set<int32_t>& shards) {
  return shards.empty() ? "none" : absl::StrJoin(shards, ",");
}

std::string ShardsOf(const proto::StatusReply& status) {
  std::set<int32_t> shards;
  for (const proto::ShardStatus& shard : status.shards()) shards.insert(shard.shard());
  return ShardsText(shards);
}

bool IsLive(const proto::StatusReply& status) {
  return std::any_of(status.shards().begin(), status.shards().end(),
                     [](const proto::ShardStatus& shard) { return shard.has_position(); });
}

const char* YesNo(bool yes) { return yes ? "yes" : "no"; }

std::string ValueOf(const proto::StatusReply& status, const std::string& name) {
  for (const Setting& setting : SettingsOf(status)) {
    if (setting.name == name) return setting.value;
  }
  return "";
}

// What the file says; empty: nothing.
std::string InFile(const ClusterFile& file, const ClusterServer& server, const std::string& name) {
  if (name == "shards") {
    std::set<int32_t> shards;
    for (const ShardId shard : server.shards) shards.insert(shard.value);
    return ShardsText(shards);
  }
  if (name == "live") return YesNo(!server.changes.empty());
  if (name == "tls") return YesNo(!file.tls.certificate.empty());
  return "";
}

// The value that most servers have; of as many, that of the first.
std::string MostCommon(const std::vector<absl::StatusOr<proto::StatusReply>>& answers,
                       const std::string& name) {
  std::map<std::string, int> servers;
  std::string common;
  for (const auto& answer : answers) {
    if (answer.ok()) ++servers[ValueOf(*answer, name)];
  }
  for (const auto& answer : answers) {
    if (!answer.ok()) continue;
    const std::string value = ValueOf(*answer, name);
    if (common.empty() || servers[value] > servers[common]) common = value;
  }
  return common;
}

}  // namespace

std::vector<Setting> SettingsOf(const proto::StatusReply& status) {
  std::vector<Setting> settings = {
      {"version", status.version()},
      {"dataset", status.dataset()},
      {"fingerprint", absl::StrFormat("%016x", status.fingerprint())},
      {"shards", ShardsOf(status)},
      {"live", YesNo(IsLive(status))},
      {"tls", YesNo(status.certificate_expires() != 0)},
  };
  for (const proto::LimitStatus& limit : status.limits()) {
    settings.push_back({limit.name(), absl::StrFormat("%.15g", limit.limit())});
  }
  return settings;
}

std::vector<Difference> DifferencesOf(
    const ClusterFile& file, const std::vector<absl::StatusOr<proto::StatusReply>>& answers) {
  std::vector<Difference> differences;
  for (size_t i = 0; i < file.servers.size(); ++i) {
    if (!answers[i].ok()) continue;
    for (const Setting& setting : SettingsOf(*answers[i])) {
      const std::string in_file = InFile(file, file.servers[i], setting.name);
      const std::string should = in_file.empty() ? MostCommon(answers, setting.name) : in_file;
      if (setting.value == should) continue;
      differences.push_back({file.servers[i].name, setting.name, setting.value, should,
                             in_file.empty() ? kOthers : kFile});
    }
  }
  return differences;
}

}  // namespace vicinity::cli
