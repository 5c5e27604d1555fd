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

const char* SourceName(proto::FlagSource source) {
  switch (source) {
    case proto::FLAG_SOURCE_DEFAULT:
      return "default";
    case proto::FLAG_SOURCE_COMMAND_LINE:
      return "command line";
    case proto::FLAG_SOURCE_CLUSTER_FILE:
      return "cluster file";
    case proto::FLAG_SOURCE_ENVIRONMENT:
      return "environment";
    case proto::FLAG_SOURCE_ADMIN_CALL:
      return "admin call";
    default:
      return "unknown";  // of a later version
  }
}

// Flags that a server has for itself. `--shards` are compared as what is served.
bool IsOwn(const std::string& name) {
  static const std::set<std::string> kOwn = {
      "--cluster", "--name",  "--shards",     "--changes",         "--tls-certificate",
      "--tls-key", "--force", "--ready-file", "--die-with-parent", "--replica-token-file"};
  return kOwn.count(name) > 0;
}

bool Tells(const Running& running, const std::string& name, std::string* value) {
  if (!running.status.ok()) return false;
  for (const Setting& setting : SettingsOf(running)) {
    if (setting.name != name) continue;
    *value = setting.value;
    return true;
  }
  return false;
}

// What the file says; false: it does not say.
bool InFile(const ClusterFile& file, const ClusterServer& server, const std::string& name,
            std::string* value) {
  if (name == "shards") {
    std::set<int32_t> shards;
    for (const ShardId shard : server.shards) shards.insert(shard.value);
    *value = ShardsText(shards);
  } else if (name == "live") {
    *value = YesNo(!server.changes.empty());
  } else if (name == "tls") {
    *value = YesNo(!file.tls.certificate.empty());
  } else if (name == "--listen") {
    *value = server.listen.ToString();
  } else if (name == "--admin-listen") {
    *value = server.admin;
  } else if (name == "--http") {
    *value = server.http;
  } else if (name == "--bulk" && !server.bulk.empty()) {
    *value = server.bulk;
  } else {
    return false;
  }
  return true;
}

// The value that most servers have; of as many, that of the first.
std::string MostCommon(const std::vector<Running>& answers, const std::string& name) {
  std::map<std::string, int> servers;
  std::string common;
  std::string value;
  for (const Running& answer : answers) {
    if (Tells(answer, name, &value)) ++servers[value];
  }
  int most = 0;
  for (const Running& answer : answers) {
    if (!Tells(answer, name, &value) || servers[value] <= most) continue;
    most = servers[value];
    common = value;
  }
  return common;
}

}  // namespace

std::vector<Setting> SettingsOf(const Running& running) {
  constexpr char kServer[] = "server";
  const proto::StatusReply& status = *running.status;
  std::vector<Setting> settings = {
      {"version", status.version(), kServer},
      {"dataset", status.dataset(), kServer},
      {"fingerprint", absl::StrFormat("%016x", status.fingerprint()), kServer},
      {"shards", ShardsOf(status), kServer},
      {"live", YesNo(IsLive(status)), kServer},
      {"tls", YesNo(status.certificate_expires() != 0), kServer},
  };
  if (!running.config.ok()) {
    for (const proto::LimitStatus& limit : status.limits()) {
      settings.push_back({limit.name(), absl::StrFormat("%.15g", limit.limit()), kServer});
    }
    return settings;
  }
  for (const proto::FlagValue& flag : running.config->flags()) {
    settings.push_back({flag.name(), flag.value(), SourceName(flag.source())});
  }
  return settings;
}

std::vector<Difference> DifferencesOf(const ClusterFile& file,
                                      const std::vector<Running>& answers) {
  std::vector<Difference> differences;
  for (size_t i = 0; i < file.servers.size(); ++i) {
    if (!answers[i].status.ok()) continue;
    for (const Setting& setting : SettingsOf(answers[i])) {
      if (IsOwn(setting.name)) continue;
      std::string should;
      const bool in_file = InFile(file, file.servers[i], setting.name, &should);
      if (!in_file) should = MostCommon(answers, setting.name);
      if (setting.value == should) continue;
      differences.push_back(
          {file.servers[i].name, setting.name, setting.value, should, in_file ? kFile : kOthers});
    }
  }
  return differences;
}

}  // namespace vicinity::cli
