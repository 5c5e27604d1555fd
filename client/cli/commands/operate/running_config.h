// What servers run with, as they say it themselves, and how that differs from their cluster file.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/admin.pb.h"
#include "proto/cluster/cluster_file.h"
#include "proto/service.pb.h"

namespace vicinity::cli {

// One server's answers.
struct Running {
  absl::StatusOr<proto::StatusReply> status;
  absl::StatusOr<proto::ConfigReply> config;  // an error where its admin port gave none
};

struct Setting {
  std::string name;    // "version", "dataset", "shards", ...; of flags with their dashes
  std::string value;   // as people write it; empty: none
  std::string source;  // of flags: "default", "command line", "cluster file", "environment",
                       // "admin call"; of all else "server"
};

// Of a server whose status is known, in a fixed order: version, dataset, fingerprint, shards, live,
// tls, then all flags; where those are not known, the limits that the status names, without dashes.
std::vector<Setting> SettingsOf(const Running& running);

struct Difference {
  std::string server;
  std::string setting;
  std::string runs;    // what the server runs with
  std::string should;  // what the file says, or what most servers run with
  std::string why;     // whose word `should` is: "cluster file" or "other servers"
};

// Of the servers of the file whose status is known; `answers` are in its order. The file says
// shards, whether there is TLS, whether the graph is live, and at which addresses a server listens.
// All else (version, dataset, flags) is compared with most of the other servers that tell it, but
// for what is each server's own: its name, and paths of files that are its own.
std::vector<Difference> DifferencesOf(const ClusterFile& file, const std::vector<Running>& answers);

}  // namespace vicinity::cli
