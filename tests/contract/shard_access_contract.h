// What every ShardAccess must do, wherever its shard is: run on each way to one.
//
// The oracle is the graph in memory, which knows nothing of how it is stored or sent. Where the
// graph allows several answers, as to draws, all ways to a shard must give the same one.
#pragma once

#include <string>
#include <vector>

#include "client/shards/shard_access.h"
#include "partition/dataset/ranking.h"
#include "sampler/one_hop.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::testing {

// All shards of a dataset, by one way to shards. The graph is TypedGraph's.
struct ShardsUnderTest {
  const MemoryGraph* graph = nullptr;
  const Placement* placement = nullptr;
  std::vector<ShardAccess*> shards;  // by number
};

// Rows of nodes: scattered with repeats, in order, as a range, to places of their own; keys.
void CheckNodeRows(const ShardsUnderTest& under_test);
// Rows of edges, by the positions that a hop tells.
void CheckEdgeRows(const ShardsUnderTest& under_test);
void CheckRagged(const ShardsUnderTest& under_test);
// Of users by a condition on their labels.
void CheckFind(const ShardsUnderTest& under_test);
// Keys that nodes have, and some that none has.
void CheckKeys(const ShardsUnderTest& under_test);
// Of every list its length.
void CheckDegrees(const ShardsUnderTest& under_test);
void CheckEdgeIds(const ShardsUnderTest& under_test);
void CheckWalks(const ShardsUnderTest& under_test);
// Of edge type 0, in trees of several times, all that a fanout can be, less some excluded edges,
// with the times and the condition of each rule.
std::vector<Neighbors> SampleByRules(const ShardsUnderTest& under_test,
                                     const std::vector<DrawSpec>& rules);
// Every way to draw gives neighbours that the graph has, as many as it should.
void CheckHops(const ShardsUnderTest& under_test);
// The head of a stored ranking of shard 0's users, and all of it; one that is not there.
void CheckRankings(const ShardsUnderTest& under_test, const std::string& name,
                   const RankedNodes& ranked);
// Requests for nothing are answered with nothing.
void CheckEmptyRequests(const ShardsUnderTest& under_test);
// Rows that a shard does not have are refused with InvalidArgument, and fanouts that make no sense.
void CheckRefusals(const ShardsUnderTest& under_test);
// A request that is cancelled ends, once, with its answer or with Cancelled; one that was cancelled
// before it was asked is Cancelled.
void CheckCancelling(const ShardsUnderTest& under_test);

// Hops in every way to draw, in one order: equal for all ways to a shard.
std::vector<Neighbors> SampleEveryWay(const ShardsUnderTest& under_test);
// Where they differ first; "" if nowhere.
std::string Difference(const std::vector<Neighbors>& a, const std::vector<Neighbors>& b);

}  // namespace vicinity::testing
