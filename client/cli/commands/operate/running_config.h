// What servers run with, as they say it themselves, and how that differs from their cluster file.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/cluster/cluster_file.h"
#include "proto/service.pb.h"

namespace vicinity::cli {

struct Setting {
  std::string name;   // "version", "dataset", "shards", ...; of limits the flag
  std::string value;  // as people write it
};

// In a fixed order: version, dataset, fingerprint, shards, live, tls, then the limits.
std::vector<Setting> SettingsOf(const proto::StatusReply& status);

struct Difference {
  std::string server;
  std::string setting;
  std::string runs;    // what the server runs with
  std::string should;  // what the file says, or what most servers run with
  std::string why;     // whose word `should` is: "cluster file" or "other servers"
};

// Of the servers of the file that answered; `answers` are in its order, those that did not are
// passed over. The file says shards, whether there is TLS, and whether the graph is live. What it
// does not say (version, dataset, limits) is compared with most of the other servers.
std::vector<Difference> DifferencesOf(
    const ClusterFile& file, const std::vector<absl::StatusOr<proto::StatusReply>>& answers);

}  // namespace vicinity::cli
