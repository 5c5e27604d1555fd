#include "client/cli/commands/operate/server_checks.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/operate/machine_checks.h"
#include "partition/dataset/manifest.h"
#include "proto/access.pb.h"
#include "proto/cluster/host_port.h"
#include "proto/cluster/text_proto.h"
#include "proto/common/human_text.h"
#include "proto/security/certificates.h"
#include "proto/security/guarded_file.h"

namespace vicinity::cli {
namespace {

constexpr int64_t kChangesFree = int64_t{1} << 30;  // --changes-free-mib
constexpr long kNfs = 0x6969;
constexpr long kFuse = 0x65735546;
constexpr long kTmpfs = 0x01021994;

Finding Fault(const std::string& what, const std::string& found, const std::string& remedy) {
  return {what, Verdict::kFault, found, remedy};
}

// Files that are missing or of another size, up to three by name.
Finding CheckFiles(const std::string& directory, const std::vector<const proto::FileEntry*>& files,
                   int64_t* num_bytes) {
  std::vector<std::string> wrong;
  for (const proto::FileEntry* file : files) {
    std::error_code error;
    const uint64_t size =
        std::filesystem::file_size(std::filesystem::path(directory) / file->path(), error);
    *num_bytes += static_cast<int64_t>(file->size());
    if (!error && size == file->size()) continue;
    wrong.push_back(absl::StrCat(
        file->path(), error ? std::string(": ") + error.message()
                            : absl::StrCat(": ", size, " bytes, should be ", file->size())));
  }
  if (wrong.empty()) {
    return {"files of the shards", Verdict::kGood,
            absl::StrCat(files.size(), " of ", HumanBytes(*num_bytes), " in all"), ""};
  }
  const size_t num_wrong = wrong.size();
  wrong.resize(std::min<size_t>(num_wrong, 3));
  return Fault("files of the shards",
               absl::StrCat(num_wrong, " of ", files.size(),
                            " are not as they should be: ", absl::StrJoin(wrong, "; ")),
               absl::StrCat("vicinity repair ", directory, " --cluster FILE"));
}

std::vector<ShardId> ShardsThere(const std::string& directory, const proto::Manifest& manifest) {
  std::vector<ShardId> shards;
  for (int32_t shard = 0; shard < manifest.shards_size(); ++shard) {
    for (const proto::FileEntry* file : FilesOfShard(manifest, ShardId{shard})) {
      std::error_code error;
      const auto path = std::filesystem::path(directory) / file->path();
      if (!std::filesystem::exists(path.parent_path(), error)) continue;
      shards.push_back(ShardId{shard});
      break;
    }
  }
  return shards;
}

// The folder, or what of its path is there.
std::filesystem::path Existing(std::filesystem::path path) {
  std::error_code error;
  while (!std::filesystem::exists(path, error) && path.has_relative_path()) {
    path = path.parent_path();
  }
  return path;
}

Finding CheckChanges(const std::string& folder) {
  const std::filesystem::path there = Existing(std::filesystem::absolute(folder));
  if (access(there.c_str(), W_OK) != 0) {
    return Fault("disk for changes", absl::StrCat(there.string(), ": ", std::strerror(errno)),
                 "let the server's user write there");
  }
  struct statfs disk {};
  if (statfs(there.c_str(), &disk) != 0) {
    return Fault("disk for changes", absl::StrCat(there.string(), ": ", std::strerror(errno)), "");
  }
  const int64_t free = static_cast<int64_t>(disk.f_bavail) * disk.f_bsize;
  const std::string found = absl::StrCat(folder, ": ", HumanBytes(free), " free");
  if (disk.f_type == kNfs || disk.f_type == kFuse || disk.f_type == kTmpfs) {
    return {"disk for changes", Verdict::kWarning,
            absl::StrCat(found, ", on ",
                         disk.f_type == kTmpfs ? "memory: a restart loses all"
                                               : "a network's or a user's file system"),
            "a local disk that keeps what it has synced"};
  }
  if (free >= kChangesFree) return {"disk for changes", Verdict::kGood, found, ""};
  return Fault("disk for changes", found,
               "make room: below --changes-free-mib (1 GiB) writes are refused");
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// What is wrong with the name; empty: nothing.
std::string LookUp(const HostPort& address, Addresses* found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &list);
  if (error != 0) return gai_strerror(error);
  *found = Addresses(list, &freeaddrinfo);
  return "";
}

Finding CheckAddress(const std::string& what, const std::string& text) {
  const absl::StatusOr<HostPort> address = ParseHostPort(text);
  if (!address.ok()) return Fault(what, std::string(address.status().message()), "");
  Addresses found(nullptr, &freeaddrinfo);
  const std::string unknown = LookUp(*address, &found);
  if (!unknown.empty()) {
    return Fault(what, absl::StrCat(text, ": ", unknown), "a name that this machine knows");
  }
  const int one = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (one < 0) return Fault(what, absl::StrCat(text, ": ", std::strerror(errno)), "");
  const int reuse = 1;
  setsockopt(one, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse));
  const bool bound = bind(one, found->ai_addr, found->ai_addrlen) == 0 && listen(one, 1) == 0;
  const int error = errno;
  close(one);
  if (bound) return {what, Verdict::kGood, absl::StrCat(text, " is free"), ""};
  if (error == EADDRINUSE) {
    return {what, Verdict::kWarning, absl::StrCat(text, " is in use"),
            absl::StrCat("good if the server runs; else `ss -ltnp sport = :", address->port,
                         "` tells who has it")};
  }
  return Fault(what, absl::StrCat(text, ": ", std::strerror(error)),
               error == EADDRNOTAVAIL ? "no address of this machine: --name another server"
                                      : "a port that the server's user may bind");
}

void CheckCertificate(const ClusterTls& tls, absl::Time now, std::vector<Finding>* findings) {
  if (tls.certificate.empty()) return;
  const absl::StatusOr<TlsMaterial> material =
      ReadTlsFiles({tls.ca, tls.certificate, tls.key, tls.revoked}, TlsEnd::kServer);
  if (!material.ok()) {
    findings->push_back(Fault("certificate", std::string(material.status().message()),
                              "vicinity certificate server, or renew"));
    return;
  }
  Finding finding{
      "certificate", Verdict::kGood,
      absl::StrCat("good until ",
                   absl::FormatTime("%Y-%m-%d %H:%M UTC", material->expires, absl::UTCTimeZone())),
      ""};
  if (material->expires - now < kExpiryWarning) {
    finding.verdict = Verdict::kWarning;
    finding.remedy = "vicinity certificate renew";
  }
  findings->push_back(std::move(finding));
}

void CheckAccess(const std::string& path, std::vector<Finding>* findings) {
  if (path.empty()) return;
  const absl::StatusOr<std::string> text = ReadTrustedFile(path);
  proto::Access access;
  const absl::Status status = text.ok() ? ParseTextProto(path, *text, &access) : text.status();
  findings->push_back(status.ok() ? Finding{"access file", Verdict::kGood,
                                            absl::StrCat(access.grants_size(), " grants"), ""}
                                  : Fault("access file", std::string(status.message()),
                                          "the server does not start without it"));
}

}  // namespace

std::vector<Finding> CheckDataset(const std::string& directory,
                                  const std::vector<ShardId>& shards) {
  const absl::StatusOr<proto::Manifest> manifest = ReadManifest(directory);
  if (!manifest.ok()) {
    return {Fault("dataset", std::string(manifest.status().message()),
                  "vicinity rebuild fetches it from the other servers")};
  }
  std::vector<const proto::FileEntry*> files;
  for (const ShardId shard : shards.empty() ? ShardsThere(directory, *manifest) : shards) {
    for (const proto::FileEntry* file : FilesOfShard(*manifest, shard)) files.push_back(file);
  }
  int64_t num_bytes = 0;
  std::vector<Finding> findings = {
      {"dataset", Verdict::kGood, absl::StrCat(directory, ": ", manifest->shards_size(), " shards"),
       ""}};
  findings.push_back(CheckFiles(directory, files, &num_bytes));
  findings.push_back(CheckPageCache(num_bytes));
  return findings;
}

std::vector<Finding> CheckServer(const ClusterFile& cluster, const ClusterServer& server,
                                 absl::Time now) {
  std::vector<Finding> findings = CheckDataset(cluster.data, server.shards);
  if (!server.changes.empty()) findings.push_back(CheckChanges(server.changes));
  findings.push_back(CheckAddress("address", server.listen.ToString()));
  if (!server.admin.empty()) findings.push_back(CheckAddress("admin address", server.admin));
  if (!server.http.empty()) findings.push_back(CheckAddress("HTTP address", server.http));
  // The other words have the system pick what is free.
  if (ParseHostPort(server.bulk).ok()) {
    findings.push_back(CheckAddress("address of the bulk channel", server.bulk));
  }
  CheckCertificate(cluster.tls, now, &findings);
  CheckAccess(cluster.access, &findings);
  return findings;
}

std::vector<Finding> CheckNames(const ClusterFile& cluster) {
  std::vector<std::string> unknown;
  std::set<std::string> hosts;
  for (const ClusterServer& server : cluster.servers) {
    const absl::StatusOr<HostPort> address = ParseHostPort(server.advertise);
    if (!address.ok() || !hosts.insert(address->host).second) continue;
    Addresses found(nullptr, &freeaddrinfo);
    const std::string error = LookUp(*address, &found);
    if (!error.empty()) {
      unknown.push_back(absl::StrCat(address->host, " (server ", server.name, "): ", error));
    }
  }
  if (unknown.empty()) {
    return {
        {"names of hosts", Verdict::kGood, absl::StrCat("all ", hosts.size(), " are known"), ""}};
  }
  return {Fault("names of hosts", absl::StrJoin(unknown, "; "), "DNS, or /etc/hosts")};
}

}  // namespace vicinity::cli
