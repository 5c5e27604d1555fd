// What a stored VIP ranking says that a trainer will fetch, to be held against what it does fetch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/graph.h"
#include "client/result.h"

namespace vicinity {

struct TrafficQuestion {
  std::string ranking;         // its name
  std::vector<int32_t> home;   // the trainer's home shards
  std::vector<int32_t> types;  // node types whose rows are asked for
  int64_t cache_rows = 0;      // likeliest remote rows that the trainer keeps
};

// Rows a batch that come neither from mapped shards nor from the cache: the sum of the
// probabilities of the others. It holds for seeds of the home shards, and for batches sampled as
// the ranking assumes. kNotFound if there is no such ranking, or none for this home.
Result<double> ExpectedRemoteRows(const Graph& graph, const TrafficQuestion& question);

}  // namespace vicinity
