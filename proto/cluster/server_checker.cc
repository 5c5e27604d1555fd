#include "proto/cluster/server_checker.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/common/status.h"

namespace vicinity {

ServerChecker::ServerChecker(const proto::Cluster& cluster, const ClusterLines& lines)
    : cluster_(cluster),
      lines_(lines),
      last_server_of_(cluster.num_shards(), -1),
      writer_of_(cluster.num_shards(), -1) {}

absl::StatusOr<ClusterServer> ServerChecker::Check(int server) {
  const proto::Server& stored = cluster_.servers(server);
  if (stored.name().empty()) {
    return lines_.Fault(lines_.OfServer(server),
                        absl::StrCat("server ", server + 1, " has no name"));
  }
  if (!names_.insert(stored.name()).second) {
    return lines_.Fault(lines_.OfServerField(server, "name"),
                        absl::StrCat(Named(server), " is there twice"));
  }
  ClusterServer checked;
  checked.name = stored.name();
  VICINITY_ASSIGN_OR_RETURN(checked.listen, CheckListen(server));
  VICINITY_ASSIGN_OR_RETURN(checked.advertise, CheckAdvertise(server, checked.listen));
  VICINITY_ASSIGN_OR_RETURN(checked.shards, CheckShards(server));
  VICINITY_ASSIGN_OR_RETURN(checked.admin, CheckAddress(server, "admin", stored.admin()));
  VICINITY_ASSIGN_OR_RETURN(checked.http, CheckAddress(server, "http", stored.http()));
  VICINITY_ASSIGN_OR_RETURN(checked.writes, CheckWrites(server));
  VICINITY_ASSIGN_OR_RETURN(checked.bulk, CheckBulk(server));
  return checked;
}

absl::StatusOr<HostPort> ServerChecker::CheckListen(int server) const {
  const std::string& text = cluster_.servers(server).listen();
  if (text.empty()) {
    return lines_.Fault(lines_.OfServer(server), absl::StrCat(Named(server), " has no `listen`"));
  }
  absl::StatusOr<HostPort> address = ParseHostPort(text);
  if (!address.ok()) {
    return Fault(lines_.OfServerField(server, "listen"), server, address.status());
  }
  return address;
}

absl::StatusOr<std::string> ServerChecker::CheckAdvertise(int server,
                                                          const HostPort& listen) const {
  const std::string& text = cluster_.servers(server).advertise();
  const int line = lines_.OfServerField(server, text.empty() ? "listen" : "advertise");
  if (text.empty()) {
    if (listen.wildcard()) {
      return lines_.Fault(line, absl::StrCat(Named(server), " listens on ", listen.ToString(),
                                             ", every address of its host, so `advertise` must "
                                             "say what clients dial"));
    }
    return listen.port == 0 ? std::string() : listen.ToString();
  }
  const absl::StatusOr<HostPort> address = ParseHostPort(text);
  if (!address.ok()) return Fault(line, server, address.status());
  if (address->port == 0 || address->wildcard()) {
    return lines_.Fault(line, absl::StrCat(Named(server), ": nobody can dial ", text));
  }
  return address->ToString();
}

absl::StatusOr<std::vector<ShardId>> ServerChecker::CheckShards(int server) {
  const proto::Server& stored = cluster_.servers(server);
  if (stored.shards().empty()) {
    return lines_.Fault(lines_.OfServer(server), absl::StrCat(Named(server), " serves no shards"));
  }
  std::vector<ShardId> shards;
  for (int k = 0; k < stored.shards_size(); ++k) {
    const int32_t shard = stored.shards(k);
    const int line = lines_.OfServerField(server, "shards", k);
    if (shard < 0 || shard >= cluster_.num_shards()) {
      return lines_.Fault(line, absl::StrCat(Named(server), " serves shard ", shard,
                                             ", but num_shards is ", cluster_.num_shards()));
    }
    if (std::exchange(last_server_of_[shard], server) == server) {
      return lines_.Fault(line, absl::StrCat(Named(server), " serves shard ", shard,
                                             ", which it has listed already"));
    }
    shards.push_back(ShardId{shard});
  }
  std::sort(shards.begin(), shards.end(), [](ShardId a, ShardId b) { return a.value < b.value; });
  return shards;
}

absl::StatusOr<std::string> ServerChecker::CheckAddress(int server, const char* field,
                                                        const std::string& text) const {
  if (text.empty()) return std::string();
  const absl::StatusOr<HostPort> address = ParseHostPort(text);
  if (!address.ok()) {
    return Fault(lines_.OfServerField(server, field), server, address.status());
  }
  return address->ToString();
}

// After its shards.
absl::StatusOr<std::vector<ShardId>> ServerChecker::CheckWrites(int server) {
  const proto::Server& stored = cluster_.servers(server);
  std::vector<ShardId> writes;
  for (int k = 0; k < stored.writes_size(); ++k) {
    const int32_t shard = stored.writes(k);
    const int line = lines_.OfServerField(server, "writes", k);
    const bool has =
        std::find(stored.shards().begin(), stored.shards().end(), shard) != stored.shards().end();
    if (!has) {
      return lines_.Fault(line, absl::StrCat(Named(server), " writes shard ", shard,
                                             ", which is not among its `shards`"));
    }
    if (const int before = std::exchange(writer_of_[shard], server); before >= 0) {
      return lines_.Fault(line, absl::StrCat(Named(server), " writes shard ", shard, ", as ",
                                             Named(before), " does: each has one first writer"));
    }
    writes.push_back(ShardId{shard});
  }
  return writes;
}

absl::StatusOr<std::string> ServerChecker::CheckBulk(int server) const {
  const std::string& own = cluster_.servers(server).bulk();
  const std::string& text = own.empty() ? cluster_.bulk() : own;
  if (text.empty() || text == "none" || text == "local" || text == "auto") return text;
  const absl::StatusOr<HostPort> address = ParseHostPort(text);
  if (address.ok()) return address->ToString();
  const int line = own.empty() ? lines_.OfField("bulk") : lines_.OfServerField(server, "bulk");
  return Fault(line, server,
               absl::InvalidArgumentError(absl::StrCat(
                   "bulk should be none, local, auto or host:port: ", address.status().message())));
}

absl::Status ServerChecker::CheckAllServed() const {
  constexpr size_t kMaxNamed = 10;
  std::vector<size_t> missing;
  for (size_t shard = 0; shard < last_server_of_.size() && missing.size() < kMaxNamed; ++shard) {
    if (last_server_of_[shard] < 0) missing.push_back(shard);
  }
  if (missing.empty()) return absl::OkStatus();
  return lines_.Fault(lines_.OfField("num_shards"),
                      absl::StrCat("num_shards is ", cluster_.num_shards(),
                                   ", but no server serves shard ", absl::StrJoin(missing, ", ")));
}

std::string ServerChecker::Named(int server) const {
  return absl::StrCat("server \"", cluster_.servers(server).name(), "\"");
}

absl::Status ServerChecker::Fault(int line, int server, const absl::Status& why) const {
  return lines_.Fault(line, absl::StrCat(Named(server), ": ", why.message()));
}

}  // namespace vicinity
