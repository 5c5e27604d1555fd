// Everything that a shard can be asked, as bytes to compare: of mapped files and of a server.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "partition/dataset.h"
#include "proto/common/ids.h"
#include "proto/service.grpc.pb.h"

namespace vicinity::testing {

using Answer = absl::StatusOr<std::string>;

// The answers to one fixed list of questions about shard `shard` of a dataset with this schema and
// book, rankings of home {shard} included: rows of every column, keys, names, ids, lists of every
// kind. Each says on its own whether it could be had.
// `shape`, sound and of another directory with the same content, tells what to ask.
std::vector<Answer> MappedAnswers(const Dataset& shape, const Dataset& dataset, ShardId shard);
std::vector<Answer> ServedAnswers(const Dataset& shape, ShardId shard, proto::Graph::Stub* server);

// "" if every answer is the expected one or an error of a damaged shard: DataLoss, or Unavailable.
// Else what is wrong with the first. `*num_errors` counts the errors.
std::string CompareAnswers(const std::vector<Answer>& expected, const std::vector<Answer>& found,
                           int* num_errors);

}  // namespace vicinity::testing
