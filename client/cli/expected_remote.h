// How many rows a batch will fetch from other machines, by the size of the trainer's cache.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <vector>

#include "cache/vip.h"
#include "client/cli/home_plan.h"
#include "partition/cut/assigner.h"

namespace vicinity::cli {

struct ExpectedRemote {
  struct Point {
    double share = 0;  // of N / K, the nodes of a mean shard; -1: every remote node
    int64_t cache_rows = 0;
    double remote_rows = 0;  // fetched a batch
  };
  double rows = 0;  // input rows a batch, near and remote
  std::vector<Point> points;
};

// Means over the homes that have seeds: a static cache that holds the likeliest remote rows.
ExpectedRemote ExpectRemote(const VipScores& scores, const HomePlan& plan,
                            const Assignment& assignment);

void PrintExpectedRemote(const ExpectedRemote& expected, std::ostream& out);
nlohmann::ordered_json ExpectedRemoteJson(const ExpectedRemote& expected);

}  // namespace vicinity::cli
