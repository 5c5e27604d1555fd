#include "client/loading/seed_schedule.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/types/loader_values.h"
#include "proto/common/random.h"

namespace vicinity {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Apart from the draws of sampling, whose hops and edge types are small numbers.
constexpr uint32_t kPermutationHop = 0xffffffff;

}  // namespace

std::vector<std::vector<int32_t>> DealHomes(int32_t num_shards, int32_t num_trainers) {
  std::vector<std::vector<int32_t>> homes(num_trainers);
  for (int32_t shard = 0; shard < num_shards; ++shard) {
    homes[shard % num_trainers].push_back(shard);
  }
  for (int32_t trainer = num_shards; trainer < num_trainers; ++trainer) {
    homes[trainer].push_back(trainer % num_shards);
  }
  return homes;
}

EpochOrder::EpochOrder(std::vector<int64_t> order, int64_t batch_size, int64_t first,
                       int64_t stride)
    : order_(std::move(order)), batch_size_(batch_size), first_(first), stride_(stride) {}

absl::Span<const int64_t> EpochOrder::Batch(int64_t step, int64_t dealt_from) const {
  const auto num_seeds = static_cast<int64_t>(order_.size());
  const int64_t batch = (dealt_from + first_ + step * stride_) % CeilDiv(num_seeds, batch_size_);
  const int64_t begin = batch * batch_size_;
  return absl::MakeSpan(order_).subspan(begin, std::min(batch_size_, num_seeds - begin));
}

SeedSchedule::SeedSchedule(const ScheduleOptions& options, bool dealt, int64_t num_seeds,
                           int64_t batches)
    : options_(options), dealt_(dealt), num_seeds_(num_seeds), batches_(batches) {}

int64_t SeedSchedule::steps(int64_t dealt_from) const {
  if (!dealt_) return batches_;
  const int64_t left = std::max<int64_t>(0, batches_ - dealt_from);
  return options_.drop_last ? left / options_.num_trainers : CeilDiv(left, options_.num_trainers);
}

SeedSchedule SeedSchedule::Global(const ScheduleOptions& options, int64_t num_seeds) {
  const int64_t batches =
      options.drop_last ? num_seeds / options.batch_size : CeilDiv(num_seeds, options.batch_size);
  return SeedSchedule(options, true, num_seeds, batches);
}

absl::StatusOr<SeedSchedule> SeedSchedule::ByTrainer(const ScheduleOptions& options,
                                                     absl::Span<const int64_t> num_seeds) {
  const int64_t longest = *std::max_element(num_seeds.begin(), num_seeds.end());
  for (size_t trainer = 0; trainer < num_seeds.size(); ++trainer) {
    if (longest > 0 && num_seeds[trainer] == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("trainer ", trainer, " has no seeds in its home shards, another has ",
                       longest, ": deal the homes otherwise, or the seeds over all shards"));
    }
  }
  const int64_t shortest = *std::min_element(num_seeds.begin(), num_seeds.end());
  const int64_t batches =
      options.drop_last ? shortest / options.batch_size : CeilDiv(longest, options.batch_size);
  return SeedSchedule(options, false, num_seeds[options.trainer], batches);
}

EpochOrder SeedSchedule::Epoch(int64_t epoch) const {
  std::vector<int64_t> order(num_seeds_);
  std::iota(order.begin(), order.end(), 0);
  if (options_.shuffle) {
    DrawKey key;
    key.run_seed = options_.run_seed;
    key.epoch = static_cast<uint64_t>(epoch);
    key.hop = kPermutationHop;
    // A list that all trainers share must be permuted alike by all.
    NodeDraws draws(StreamKey(key), dealt_ ? 0 : uint64_t{1} + options_.trainer);
    for (int64_t i = num_seeds_ - 1; i > 0; --i) {
      std::swap(order[i], order[draws.Below(i + 1)]);
    }
  }
  if (dealt_) {
    return EpochOrder(std::move(order), options_.batch_size, options_.trainer,
                      options_.num_trainers);
  }
  return EpochOrder(std::move(order), options_.batch_size, 0, 1);
}

uint64_t SeedSchedule::DrawBatch(int64_t step, int64_t dealt_from) const {
  return static_cast<uint64_t>(dealt_from + step * options_.num_trainers + options_.trainer);
}

int64_t SeedSchedule::BatchesDone(int64_t step, int64_t dealt_from) const {
  return dealt_from + (step + 1) * options_.num_trainers;
}

absl::Status CheckHomes(absl::Span<const std::vector<int32_t>> homes, int32_t num_shards,
                        int32_t num_trainers, bool give_seeds) {
  if (static_cast<int32_t>(homes.size()) != num_trainers) {
    return absl::InvalidArgumentError(
        absl::StrCat(homes.size(), " homes for ", num_trainers, " trainers"));
  }
  std::vector<bool> owned(num_shards, false);
  for (size_t trainer = 0; trainer < homes.size(); ++trainer) {
    const std::vector<int32_t>& home = homes[trainer];
    const bool rising =
        std::adjacent_find(home.begin(), home.end(), std::greater_equal<int32_t>()) == home.end();
    if (home.empty()) {
      if (!give_seeds) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("trainer ", trainer, " has no home to take its seeds from"));
    }
    if (!rising || home.front() < 0 || home.back() >= num_shards) {
      return absl::InvalidArgumentError(
          absl::StrCat("home {", absl::StrJoin(home, ", "), "} of trainer ", trainer,
                       " is not rising numbers of the ", num_shards, " shards"));
    }
    for (const int32_t shard : home) owned[shard] = true;
  }
  const auto missing = std::find(owned.begin(), owned.end(), false);
  if (missing == owned.end() || !give_seeds) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("shard ", missing - owned.begin(), " is in no trainer's home"));
}

int64_t SharedSeeds::Share(int32_t shard, int64_t place_in_shard, int64_t num_seeds) const {
  return CeilDiv(std::max<int64_t>(0, num_seeds - place_in_shard), sharers[shard]);
}

SharedSeeds ShareSeeds(absl::Span<const std::vector<int32_t>> homes, int32_t num_shards) {
  SharedSeeds shared;
  shared.sharers.resize(num_shards);
  for (const std::vector<int32_t>& home : homes) {
    std::vector<int64_t>& places = shared.place.emplace_back();
    for (const int32_t shard : home) places.push_back(shared.sharers[shard]++);
  }
  return shared;
}

}  // namespace vicinity
