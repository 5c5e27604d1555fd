#include "proto/cluster/cluster_file.h"

#include <arpa/inet.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/cluster.pb.h"
#include "proto/cluster/text_proto.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

using google::protobuf::TextFormat;

// The host and port of an address may be anything that a resolver could take; what is refused here
// is what is certainly a slip.
bool PlausibleHost(absl::string_view host) {
  if (host.empty() || host.size() > 253) return false;
  return std::all_of(host.begin(), host.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_';
  });
}

bool PlausibleIpv6(absl::string_view host) {
  in6_addr address;
  // The zone of a link-local address is a name of the host's own.
  return inet_pton(AF_INET6, std::string(host.substr(0, host.find('%'))).c_str(), &address) == 1;
}

// What the text format's grammar cannot check. Lines count from 0, as the parser counts them.
class Checker {
 public:
  Checker(std::string path, const proto::Cluster& cluster, const TextFormat::ParseInfoTree& lines)
      : path_(std::move(path)), cluster_(cluster), lines_(lines) {}

  absl::StatusOr<ClusterFile> Check() {
    ClusterFile file;
    file.path = path_;
    file.num_shards = cluster_.num_shards();
    if (cluster_.data().empty()) return Fault(-1, "`data`, the dataset directory, is missing");
    file.data = Beside(cluster_.data());
    if (file.num_shards < 1 || file.num_shards > kMostShards) {
      return Fault(
          ClusterLine("num_shards", -1),
          absl::StrCat("num_shards is ", file.num_shards, ", should be from 1 to ", kMostShards));
    }
    if (cluster_.servers().empty()) return Fault(-1, "there are no servers");
    last_server_of_.resize(file.num_shards, -1);
    for (int i = 0; i < cluster_.servers_size(); ++i) {
      VICINITY_ASSIGN_OR_RETURN(ClusterServer server, CheckServer(i));
      file.servers.push_back(std::move(server));
    }
    VICINITY_RETURN_IF_ERROR(CheckAllServed());
    VICINITY_ASSIGN_OR_RETURN(file.tls, CheckTls());
    file.access = Beside(cluster_.access());
    file.open = cluster_.open();
    return file;
  }

 private:
  static constexpr int32_t kMostShards = 1 << 20;

  absl::StatusOr<ClusterServer> CheckServer(int i) {
    const proto::Server& stored = cluster_.servers(i);
    if (stored.name().empty()) {
      return Fault(ServerLine(i), absl::StrCat("server ", i + 1, " has no name"));
    }
    if (!names_.insert(stored.name()).second) {
      return Fault(FieldLine(i, "name", -1), absl::StrCat(Named(i), " is there twice"));
    }
    ClusterServer server;
    server.name = stored.name();
    VICINITY_ASSIGN_OR_RETURN(server.listen, CheckListen(i));
    VICINITY_ASSIGN_OR_RETURN(server.advertise, CheckAdvertise(i, server.listen));
    VICINITY_ASSIGN_OR_RETURN(server.shards, CheckShards(i));
    VICINITY_ASSIGN_OR_RETURN(server.admin, CheckAdmin(i));
    return server;
  }

  absl::StatusOr<std::string> CheckAdmin(int i) {
    const std::string& text = cluster_.servers(i).admin();
    if (text.empty()) return std::string();
    const absl::StatusOr<HostPort> address = ParseHostPort(text);
    if (!address.ok()) return Fault(FieldLine(i, "admin", -1), i, address.status());
    return address->ToString();
  }

  absl::StatusOr<ClusterTls> CheckTls() {
    ClusterTls tls;
    if (!cluster_.has_tls()) return tls;
    const proto::Tls& stored = cluster_.tls();
    if (stored.certificate().empty() || stored.ca().empty()) {
      return Fault(ClusterLine("tls", -1), "`tls` needs certificate and ca");
    }
    tls.certificate = Beside(stored.certificate());
    tls.key = Beside(stored.key());
    tls.ca = Beside(stored.ca());
    tls.revoked = Beside(stored.revoked());
    return tls;
  }

  // A path of the file, counted from the folder that the file is in.
  std::string Beside(const std::string& path) const {
    if (path.empty()) return path;
    return (std::filesystem::path(path_).parent_path() / path).string();
  }

  absl::StatusOr<HostPort> CheckListen(int i) {
    const std::string& text = cluster_.servers(i).listen();
    if (text.empty()) return Fault(ServerLine(i), absl::StrCat(Named(i), " has no `listen`"));
    absl::StatusOr<HostPort> address = ParseHostPort(text);
    if (!address.ok()) return Fault(FieldLine(i, "listen", -1), i, address.status());
    return address;
  }

  absl::StatusOr<std::string> CheckAdvertise(int i, const HostPort& listen) {
    const std::string& text = cluster_.servers(i).advertise();
    const int line = FieldLine(i, text.empty() ? "listen" : "advertise", -1);
    if (text.empty()) {
      if (listen.wildcard()) {
        return Fault(line, absl::StrCat(Named(i), " listens on ", listen.ToString(),
                                        ", every address of its host, so `advertise` must say "
                                        "what clients dial"));
      }
      return listen.port == 0 ? std::string() : listen.ToString();
    }
    const absl::StatusOr<HostPort> address = ParseHostPort(text);
    if (!address.ok()) return Fault(line, i, address.status());
    if (address->port == 0 || address->wildcard()) {
      return Fault(line, absl::StrCat(Named(i), ": nobody can dial ", text));
    }
    return address->ToString();
  }

  absl::StatusOr<std::vector<ShardId>> CheckShards(int i) {
    const proto::Server& stored = cluster_.servers(i);
    if (stored.shards().empty()) {
      return Fault(ServerLine(i), absl::StrCat(Named(i), " serves no shards"));
    }
    std::vector<ShardId> shards;
    for (int k = 0; k < stored.shards_size(); ++k) {
      const int32_t shard = stored.shards(k);
      const int line = FieldLine(i, "shards", k);
      if (shard < 0 || shard >= cluster_.num_shards()) {
        return Fault(line, absl::StrCat(Named(i), " serves shard ", shard, ", but num_shards is ",
                                        cluster_.num_shards()));
      }
      if (std::exchange(last_server_of_[shard], i) == i) {
        return Fault(
            line, absl::StrCat(Named(i), " serves shard ", shard, ", which it has listed already"));
      }
      shards.push_back(ShardId{shard});
    }
    std::sort(shards.begin(), shards.end(), [](ShardId a, ShardId b) { return a.value < b.value; });
    return shards;
  }

  absl::Status CheckAllServed() const {
    constexpr size_t kMostNamed = 10;
    std::vector<size_t> missing;
    for (size_t shard = 0; shard < last_server_of_.size() && missing.size() < kMostNamed; ++shard) {
      if (last_server_of_[shard] < 0) missing.push_back(shard);
    }
    if (missing.empty()) return absl::OkStatus();
    return Fault(ClusterLine("num_shards", -1),
                 absl::StrCat("num_shards is ", cluster_.num_shards(),
                              ", but no server serves shard ", absl::StrJoin(missing, ", ")));
  }

  std::string Named(int i) const {
    return absl::StrCat("server \"", cluster_.servers(i).name(), "\"");
  }

  int ClusterLine(const char* field, int index) const {
    return lines_.GetLocation(proto::Cluster::descriptor()->FindFieldByName(field), index).line;
  }
  int ServerLine(int i) const { return ClusterLine("servers", i); }
  int FieldLine(int i, const char* field, int index) const {
    const TextFormat::ParseInfoTree* tree =
        lines_.GetTreeForNested(proto::Cluster::descriptor()->FindFieldByName("servers"), i);
    if (tree == nullptr) return ServerLine(i);
    const auto* descriptor = proto::Server::descriptor()->FindFieldByName(field);
    int line = tree->GetLocation(descriptor, index).line;
    // A list in brackets has one place for all its values.
    while (line < 0 && index > 0) line = tree->GetLocation(descriptor, --index).line;
    return line < 0 ? ServerLine(i) : line;
  }

  absl::Status Fault(int line, const std::string& text) const {
    return absl::InvalidArgumentError(line < 0 ? absl::StrCat(path_, ": ", text)
                                               : absl::StrCat(path_, ":", line + 1, ": ", text));
  }
  absl::Status Fault(int line, int i, const absl::Status& why) const {
    return Fault(line, absl::StrCat(Named(i), ": ", why.message()));
  }

  const std::string path_;
  const proto::Cluster& cluster_;
  const TextFormat::ParseInfoTree& lines_;
  std::set<std::string> names_;
  std::vector<int> last_server_of_;  // by shard, the last in the file: a position in servers
};

}  // namespace

std::string HostPort::ToString() const {
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port)
                                      : absl::StrCat(host, ":", port);
}

bool HostPort::loopback() const {
  in_addr v4;
  // Parsed, not compared: "127.example.org" is a name that may be anywhere.
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  return host == "localhost" || host == "::1";
}

bool HostPort::wildcard() const { return host == "0.0.0.0" || host == "::"; }

absl::StatusOr<HostPort> ParseHostPort(absl::string_view text) {
  const auto fault = [text](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not an address (host:port): ", why));
  };
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return fault("it has no port");
  const absl::string_view port = text.substr(colon + 1);
  absl::string_view host = text.substr(0, colon);
  HostPort address;
  const bool digits = !port.empty() && std::all_of(port.begin(), port.end(), absl::ascii_isdigit);
  if (!digits || !absl::SimpleAtoi(port, &address.port) || address.port > 65535) {
    return fault(absl::StrCat("\"", port, "\" is not a port"));
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (!PlausibleIpv6(host)) return fault("the brackets hold no IPv6 address");
  } else if (!PlausibleHost(host)) {
    return fault(absl::StrCat("\"", host, "\" is not a host"));
  }
  address.host = std::string(host);
  return address;
}

const ClusterServer* ClusterFile::FindServer(absl::string_view name) const {
  for (const ClusterServer& server : servers) {
    if (server.name == name) return &server;
  }
  return nullptr;
}

std::vector<int> ClusterFile::ServersOf(ShardId shard) const {
  std::vector<int> found;
  for (size_t i = 0; i < servers.size(); ++i) {
    const std::vector<ShardId>& shards = servers[i].shards;
    if (std::find(shards.begin(), shards.end(), shard) != shards.end()) {
      found.push_back(static_cast<int>(i));
    }
  }
  return found;
}

absl::StatusOr<ClusterFile> ReadClusterFile(const std::string& path) {
  VICINITY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseClusterFile(path, text);
}

absl::StatusOr<ClusterFile> ParseClusterFile(const std::string& path, absl::string_view text) {
  proto::Cluster cluster;
  VICINITY_RETURN_IF_ERROR(ParseTextProto(path, std::string(text), &cluster));
  // Once more, for the places of the fields: what has been parsed can be.
  TextFormat::ParseInfoTree lines;
  TextFormat::Parser parser;
  parser.WriteLocationsTo(&lines);
  parser.ParseFromString(std::string(text), &cluster);
  return Checker(path, cluster, lines).Check();
}

}  // namespace vicinity
