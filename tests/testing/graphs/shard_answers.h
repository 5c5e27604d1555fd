// Everything that can be read of a shard, as bytes to compare, by whichever way to it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client/shards/call_context.h"
#include "client/shards/shard_access.h"
#include "partition/schema/schema.h"

namespace vicinity::testing {

// What was asked, for people, and the answer or its error. Of a graph of TypedGraph's schema: rows
// of every column, keys, ragged rows and names of all rows that the shard has, also new ones; of
// every edge type degrees, hops of every kind with ids and rows of edges, edge ids; keys that it
// lists
// (`keys`, of each node type), walks, and users found by a condition.
using ShardAnswers = std::vector<std::pair<std::string, std::string>>;
ShardAnswers AnswersOf(const Schema& schema, ShardAccess* shard,
                       const std::vector<std::vector<uint64_t>>& keys,
                       const CallContext& context = nullptr);

// Where they differ first; "" if nowhere.
std::string Difference(const ShardAnswers& a, const ShardAnswers& b);

}  // namespace vicinity::testing
