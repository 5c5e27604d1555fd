// The cluster file, read and checked in full: which server serves which shards, and where.
// proto/cluster.proto says what each field means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/cluster/cluster_server.h"
#include "proto/cluster/host_port.h"
#include "proto/common/ids.h"

namespace vicinity {

// Paths are joined to the file's folder, like `data`.
struct ClusterTls {
  std::string certificate;  // empty: no TLS
  std::string key;          // empty: in the certificate's file
  std::string ca;
  std::string revoked;  // empty: nothing is
};

struct ClusterFile {
  std::string path;
  // The dataset directory; a relative path is already joined to the file's folder.
  std::string data;
  int32_t num_shards = 0;
  std::vector<ClusterServer> servers;
  ClusterTls tls;
  std::string access;  // the access file; empty: none
  bool open = false;
  std::string changes;  // of servers that have none of their own; joined. Empty: read-only

  // Null if there is no such server.
  const ClusterServer* FindServer(absl::string_view name) const;
  // Positions in `servers` of the shard's replicas, at least one. Empty: no such shard.
  std::vector<int> ServersOf(ShardId shard) const;
  // The position of the one that writes it until another is promoted; -1: no such shard.
  int FirstWriterOf(ShardId shard) const;
};

// NotFound if there is no such file. InvalidArgument, its text beginning "path:line: " where the
// fault has a line, for what is not text format, unknown fields, no `data`, num_shards below 1, no
// servers, a name that is empty or used twice, an address that is none, a shard out of range,
// listed by nobody or twice by one server, one that is written by a server that does not have it,
// or by two, a server that listens on every address, or, where others have a shard of its with
// `changes`, on a port that is not known, and does not say what to dial.
absl::StatusOr<ClusterFile> ReadClusterFile(const std::string& path);

// The same for text that did not come from a file; `path` is for error texts and relative paths.
absl::StatusOr<ClusterFile> ParseClusterFile(const std::string& path, absl::string_view text);

}  // namespace vicinity
