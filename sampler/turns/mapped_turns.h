// node2vec's steps where all lists are mapped here: each walk goes through its candidates one by
// one, at the lists themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/schema.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/walk_sampler.h"
#include "sampler/walk_spec.h"

namespace vicinity {

// Draws, and accepts, as WalkSampler does, number for number. It cannot where lists have changed
// since the files were written.
//
// Threads:  one at a time.
// Lifetime: schema, book and readers must outlive it.
// Memory:   24 bytes a walk.
class MappedTurns final : public TurnTaker {
 public:
  // `readers`: of all shards, in order. `is_gone`: whether anybody still waits; Cancelled if not.
  MappedTurns(const Schema& schema, const Book& book, const MinibatchDraw& draw,
              std::vector<const ShardReader*> readers, std::function<bool()> is_gone);

  // Errors as SampleShard's.
  absl::StatusOr<bool> Take(const WalkSpec& spec, int64_t step, absl::Span<const uint32_t> walks,
                            absl::Span<const int64_t> nodes, absl::Span<const int64_t> previous,
                            bool want_edge_ids, std::vector<Turn>* turns) override;

  // How many steps it has made.
  int64_t num_made() const { return num_made_; }

  // An edge type's lists on one shard.
  struct Lists {
    const EdgeTable* edges = nullptr;
    absl::Span<const uint64_t> keys;  // of its target nodes
  };

 private:
  // Calls read() with the lists of all shards from this one on, in which the offsets and keys of
  // rows_ are verified.
  absl::Status ReadLists(EdgeTypeId type, NodeTypeId node_type, size_t shard,
                         absl::FunctionRef<absl::Status()> read);

  const Schema& schema_;
  const Book& book_;
  const MinibatchDraw draw_;
  const std::vector<const ShardReader*> readers_;
  const std::function<bool()> is_gone_;
  std::vector<std::vector<uint64_t>> rows_;  // by shard: those whose lists are read
  std::vector<Lists> lists_;                 // by shard
  int64_t num_made_ = 0;
};

}  // namespace vicinity
