// Which seeds make which batch, for every trainer alike: what decides that all of them make the
// same number of steps.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace vicinity {

struct ScheduleOptions {
  int64_t batch_size = 1;
  bool shuffle = true;
  bool drop_last = false;  // only full batches, and none twice
  int32_t trainer = 0;     // this one, of
  int32_t num_trainers = 1;
  uint64_t run_seed = 0;
};

// One epoch's seeds of one trainer, in order.
class EpochOrder {
 public:
  EpochOrder(std::vector<int64_t> order, int64_t batch_size, int64_t first, int64_t stride);

  // Positions in the trainer's list of seeds: a full batch, or what the list's end leaves.
  absl::Span<const int64_t> Batch(int64_t step, int64_t dealt_from = 0) const;

 private:
  const std::vector<int64_t> order_;
  const int64_t batch_size_;
  const int64_t first_;   // batch of step 0
  const int64_t stride_;  // batches between two steps
};

// Threads: immutable; any number may read.
class SeedSchedule {
 public:
  // One list of `num_seeds` dealt to all trainers batch by batch: step s of trainer t is batch
  // dealt_from + s * num_trainers + t of the epoch's permutation. Batches past the last begin again
  // with the first; with drop_last there are only as many steps as all trainers have full batches
  // for. dealt_from is 0, but for an epoch that other numbers of trainers began and that goes on
  // with this one: so that it goes on with the batch behind the last that was trained on.
  static SeedSchedule Global(const ScheduleOptions& options, int64_t num_seeds);

  // A list for each trainer; as many steps as the longest needs, and shorter ones begin again; with
  // drop_last as many as the shortest has full batches. InvalidArgument naming a trainer whose list
  // is empty while others' are not.
  static absl::StatusOr<SeedSchedule> ByTrainer(const ScheduleOptions& options,
                                                absl::Span<const int64_t> num_seeds);

  int64_t num_seeds() const { return num_seeds_; }  // in this trainer's list
  int64_t steps(int64_t dealt_from = 0) const;
  // Of a list for each trainer it is 0.
  bool may_deal_from(int64_t batch) const { return dealt_ || batch == 0; }

  // Cost: O(seeds) time and memory.
  EpochOrder Epoch(int64_t epoch) const;

  // What the draws of this trainer's step are keyed with: no two of an epoch are the same.
  uint64_t DrawBatch(int64_t step, int64_t dealt_from = 0) const;
  // How many batches of the epoch all trainers together are through with when this one has made a
  // step: where an epoch would go on.
  int64_t BatchesDone(int64_t step, int64_t dealt_from = 0) const;

 private:
  SeedSchedule(const ScheduleOptions& options, bool dealt, int64_t num_seeds, int64_t batches);
  const ScheduleOptions options_;
  const bool dealt_;  // one list for all trainers
  const int64_t num_seeds_;
  const int64_t batches_;  // to deal to all, or else this trainer's
};

// InvalidArgument unless `homes` has a list of rising shards for each trainer and, where these give
// the trainers their seeds, none is empty and every shard is in one.
absl::Status CheckHomes(absl::Span<const std::vector<int32_t>> homes, int32_t num_shards,
                        int32_t num_trainers, bool give_seeds);

// Which seeds of each shard each trainer gets: shared[shard] counts a shard's trainers; trainer
// t is number place[t][i] of those of its i-th shard and takes that seed of every shared[shard].
struct SharedSeeds {
  std::vector<int64_t> sharers;             // by shard
  std::vector<std::vector<int64_t>> place;  // by trainer and position in its home

  // How many of a shard's seeds fall to the trainer with this place.
  int64_t Share(int32_t shard, int64_t place_in_shard, int64_t num_seeds) const;
};
SharedSeeds ShareSeeds(absl::Span<const std::vector<int32_t>> homes, int32_t num_shards);

}  // namespace vicinity
