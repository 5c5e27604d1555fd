// The stored indexes of a dataset, as `vicinity describe` shows them.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "proto/manifest.pb.h"
#include "proto/service.pb.h"

namespace vicinity::cli {

// An array of {"type", "column", "kind", "entries", "bytes", "shards"}, by type and column:
// entries are rows of the column, bytes those of the index's files, both of the shards that have
// it. Of a dataset directory that is what its manifest says, of `schema` and counts in it.
nlohmann::ordered_json IndexesAsJson(const proto::Manifest& manifest);
// Likewise what servers have open, as their metrics tell (server/health/index_metrics.h): each
// shard counts once, whatever its replicas.
nlohmann::ordered_json IndexesAsJson(const std::vector<proto::StatusReply>& servers);

// A table, if there are any.
void PrintIndexes(const nlohmann::ordered_json& indexes, std::ostream& out);

}  // namespace vicinity::cli
