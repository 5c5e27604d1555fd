// Batches of changes as writers might send them, at random, for one shard whose state a model
// knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "partition/overlay/live_base.h"
#include "partition/schema/schema.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/live_model.h"

namespace vicinity::testing {

// Lifetime: base and model outlive it; the model should have what was applied.
class RandomBatches {
 public:
  RandomBatches(const LiveBase& base, const LiveModel& model, uint64_t seed)
      : base_(base), model_(model), random_(seed) {}

  // Of every kind of change some; perhaps empty.
  proto::WriteBatch Batch();

  void AddNewNodes(int32_t type, int count, proto::NewNodes* nodes);
  void AddNewEdges(int32_t type, int count, proto::NewEdges* edges);
  // False: there is none.
  bool NameEdge(int32_t type, proto::EdgeNames* edges);
  bool HasNodes(int32_t type) const { return !model_.nodes(type).keys.empty(); }
  // One of the shard, which has some; of a row.
  uint64_t Node(int32_t type) {
    return NodeOf(type, static_cast<int64_t>(Below(model_.nodes(type).keys.size())));
  }
  uint64_t NodeOf(int32_t type, int64_t row) const {
    return base_.book.NodeAt({type}, {base_.shard.id(), {row}}).value;
  }
  uint64_t Below(uint64_t limit) { return random_() % limit; }
  std::string Bytes(size_t size);

 private:
  void Values(const EdgeTypeSpec& type, int column, int count, proto::ColumnValues* values);
  std::string Ragged(const RaggedSpec& spec);

  const LiveBase& base_;
  const LiveModel& model_;
  std::mt19937_64 random_;
};

}  // namespace vicinity::testing
