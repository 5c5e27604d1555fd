// A live graph that is written at random and whose past is kept: what each shard was at each of its
// versions, and which versions of the shards fit together, said naively.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "proto/live.pb.h"
#include "tests/testing/graphs/live_graph.h"
#include "tests/testing/graphs/live_model.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::testing {

// Lifetime: the graph outlives it. What cannot be written ends the test.
class WrittenHistory {
 public:
  struct Version {
    LiveModel model;
    proto::WriteBatch batch;
  };

  // As LiveGraph.
  WrittenHistory(const MemoryGraph& graph, const Placement& placement, const std::string& data,
                 const std::string& changes, uint64_t seed);

  // Some write, or none: random batches; edges from any shard's nodes, new ones too; nodes that go
  // in two parts, with other writes in between; keys that come again.
  void Step();

  LiveGraph& live() { return live_; }
  const LiveGraph& live() const { return live_; }
  int32_t num_shards() const { return live_.dataset().book().num_shards(); }
  const Version& at(int32_t shard, uint64_t version) const { return versions_[shard][version]; }
  uint64_t last(int32_t shard) const { return versions_[shard].size() - 1; }
  std::vector<uint64_t> AnyVersions();
  // The least versions from these on at which no edge has a source that its shard does not have.
  std::vector<uint64_t> FittingVersions(std::vector<uint64_t> versions) const;

 private:
  int32_t AnyShard() { return static_cast<int32_t>(live_.Below(num_shards())); }
  void Apply(int32_t shard, const proto::WriteBatch& batch);
  void AddEdgesFromAnywhere();
  void RemoveNode();
  void GoOn();  // with a removal that is begun
  void AddAgain();
  bool Fits(const std::vector<uint64_t>& versions, int32_t shard) const;

  LiveGraph live_;
  std::vector<std::vector<Version>> versions_;               // by shard
  std::deque<std::pair<int32_t, proto::WriteBatch>> begun_;  // and the shards that they are for
};

}  // namespace vicinity::testing
