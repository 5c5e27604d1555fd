// A dataset's types, columns, shards and rankings, for people and for scripts.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/manifest.pb.h"
#include "proto/service.pb.h"

namespace vicinity::cli {

// What a server would say of the dataset of this manifest, but for the shards it serves.
proto::DescribeReply DescriptionOf(const proto::Manifest& manifest);

// Keys: dataset, fingerprint, provenance, num_shards, node_types, edge_types, rankings. Internal if
// the description does not make sense.
absl::StatusOr<nlohmann::ordered_json> DescriptionAsJson(const proto::DescribeReply& description);

// Prints what DescriptionAsJson gave.
void PrintDescription(const nlohmann::ordered_json& description, std::ostream& out);

}  // namespace vicinity::cli
