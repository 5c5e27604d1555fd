#include "client/planning/seed_batches.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "client/loading/seed_schedule.h"
#include "client/planning/link_plan.h"
#include "client/planning/seed_times.h"
#include "partition/dataset/book.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/random.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// Of a home's seeds, those that fall to the first of the trainers that share it.
std::vector<int64_t> FirstShare(const Book& book, const HomeSeeds& seeds, int64_t num_trainers) {
  if (num_trainers == 1) return seeds.nodes;
  std::vector<int64_t> share, num_seen(book.num_shards());
  for (const int64_t node : seeds.nodes) {
    const ShardId shard = book.OwnerOf(seeds.type, GlobalNode{node});
    if (num_seen[shard.value]++ % num_trainers == 0) share.push_back(node);
  }
  return share;
}

// Trainers are numbered home by home; homes without seeds have none.
struct TrainerNumbers {
  int32_t trainer = 0;
  int32_t num_trainers = 0;
};

TrainerNumbers NumbersOf(const HomePlan& plan, int32_t home, int64_t trainers_per_home) {
  int64_t before = 0, all = 0;
  for (int32_t other = 0; other < static_cast<int32_t>(plan.homes.size()); ++other) {
    if (plan.num_seeds(other) == 0) continue;
    if (other < home) before += trainers_per_home;
    all += trainers_per_home;
  }
  return {static_cast<int32_t>(before), static_cast<int32_t>(all)};
}

class NodeBatches final : public SeedBatches {
 public:
  // `times`: of all nodes of the type; none: seeds have none.
  NodeBatches(NodeTypeId type, std::vector<int64_t> seeds, absl::Span<const int64_t> times,
              uint64_t run_seed, SeedSchedule schedule)
      : type_(type),
        seeds_(std::move(seeds)),
        times_(times),
        run_seed_(run_seed),
        schedule_(std::move(schedule)) {}

  int64_t steps() const override { return schedule_.steps(); }

  SeedBatch Next() override {
    const int64_t epoch = done_ / steps(), step = done_ % steps();
    if (step == 0) order_.emplace(schedule_.Epoch(epoch));
    SeedBatch batch;
    TypedSeeds& nodes = batch.seeds.emplace_back(TypedSeeds{type_, {}});
    for (const int64_t i : order_->Batch(step)) nodes.ids.push_back(seeds_[i]);
    if (!times_.empty()) {
      for (const int64_t node : nodes.ids) nodes.times.push_back(times_[node]);
    }
    batch.draw = {run_seed_, static_cast<uint64_t>(epoch), schedule_.DrawBatch(step)};
    ++done_;
    return batch;
  }

 private:
  const NodeTypeId type_;
  const std::vector<int64_t> seeds_;
  const absl::Span<const int64_t> times_;
  const uint64_t run_seed_;
  const SeedSchedule schedule_;
  std::optional<EpochOrder> order_;
  int64_t done_ = 0;
};

absl::StatusOr<std::unique_ptr<SeedBatches>> NodeBatchesOf(const Dataset& dataset,
                                                           const HomePlan& plan, int32_t home,
                                                           int64_t trainers_per_home,
                                                           uint64_t run_seed) {
  const TrainerNumbers numbers = NumbersOf(plan, home, trainers_per_home);
  const NodeTypeId type = plan.seeds[home].type;
  ScheduleOptions options;
  options.batch_size = plan.options.batch_size;
  options.run_seed = run_seed;
  options.trainer = numbers.trainer;
  options.num_trainers = numbers.num_trainers;
  if (plan.seeds_from_all) {
    const std::vector<int64_t>& seeds = plan.seeds[home].nodes;
    return std::make_unique<NodeBatches>(
        type, seeds, plan.node_times, run_seed,
        SeedSchedule::Global(options, static_cast<int64_t>(seeds.size())));
  }
  std::vector<int64_t> list_sizes;
  std::vector<int64_t> own;
  for (int32_t other = 0; other < static_cast<int32_t>(plan.homes.size()); ++other) {
    if (plan.num_seeds(other) == 0) continue;
    std::vector<int64_t> share = FirstShare(dataset.book(), plan.seeds[other], trainers_per_home);
    // The first's is the longest, and it is the longest that steps go by.
    list_sizes.insert(list_sizes.end(), trainers_per_home, static_cast<int64_t>(share.size()));
    if (other == home) own = std::move(share);
  }
  VICINITY_ASSIGN_OR_RETURN(SeedSchedule schedule, SeedSchedule::ByTrainer(options, list_sizes));
  return std::make_unique<NodeBatches>(type, std::move(own), plan.node_times, run_seed,
                                       std::move(schedule));
}

// The shards that the links of a home lead to.
std::vector<int32_t> ShardsOfLinks(const HomePlan& plan, int32_t home) {
  if (!plan.seeds_from_all) return plan.homes[home];
  std::vector<int32_t> shards;
  for (const std::vector<int32_t>& each : plan.homes) {
    shards.insert(shards.end(), each.begin(), each.end());
  }
  return shards;
}

class LinkBatches final : public SeedBatches {
 public:
  // `times`: of the home's links by number; none: they have none.
  LinkBatches(const Dataset& dataset, const HomePlan& plan, int32_t home, int64_t trainers_per_home,
              std::vector<int64_t> times, uint64_t run_seed)
      : source_type_{dataset.schema().edge_types[plan.link_edges.type.value].source_type},
        target_type_{dataset.schema().edge_types[plan.link_edges.type.value].target_type},
        index_(dataset, plan.link_edges.type, ShardsOfLinks(plan, home)),
        links_(plan.links[home]),
        times_(std::move(times)),
        num_nodes_(dataset.book().num_nodes(links_.negative_type)),
        batch_size_(std::min(plan.options.batch_size, index_.num_links())),
        steps_(StepsOf(plan, home, trainers_per_home)),
        run_seed_(run_seed) {
    // All trainers' batches are of the same links then, and each has its own of them.
    if (plan.seeds_from_all) numbers_ = NumbersOf(plan, home, trainers_per_home);
  }

  int64_t steps() const override { return steps_; }

  SeedBatch Next() override {
    const auto number = static_cast<uint64_t>(done_++ * numbers_.num_trainers + numbers_.trainer);
    return {Seeds(number), {run_seed_, 0, number}};
  }

 private:
  // Of an epoch, in which the trainers that share the links take each once.
  int64_t StepsOf(const HomePlan& plan, int32_t home, int64_t trainers_per_home) const {
    const int64_t sharing = plan.seeds_from_all
                                ? NumbersOf(plan, home, trainers_per_home).num_trainers
                                : trainers_per_home;
    return (index_.num_links() + batch_size_ * sharing - 1) / (batch_size_ * sharing);
  }

  std::vector<TypedSeeds> Seeds(uint64_t number) const {
    NodeDraws draws(run_seed_, number);
    std::vector<TypedSeeds> batch = {
        {source_type_, {}}, {target_type_, {}}, {links_.negative_type, {}}};
    // Floyd's choice without replacement.
    absl::flat_hash_set<int64_t> taken;
    for (int64_t last = index_.num_links() - batch_size_; last < index_.num_links(); ++last) {
      int64_t link = static_cast<int64_t>(draws.Below(static_cast<uint64_t>(last) + 1));
      if (!taken.insert(link).second) taken.insert(link = last);
      const auto [source, target] = index_.EndsOf(link);
      batch[0].ids.push_back(source);
      batch[1].ids.push_back(target);
      for (int64_t i = 0; i < links_.negatives_per_link; ++i) {
        batch[2].ids.push_back(Negative(&draws));
      }
      if (!times_.empty()) AddTimes(times_[link], &batch);
    }
    return batch;
  }

  // Of a link's ends and its negatives, which are the last that were added.
  static void AddTimes(int64_t time, std::vector<TypedSeeds>* batch) {
    for (TypedSeeds& list : *batch) list.times.resize(list.ids.size(), time);
  }

  int64_t Negative(NodeDraws* draws) const {
    if (links_.negatives.empty()) return static_cast<int64_t>(draws->Below(num_nodes_));
    return links_.negatives[draws->Below(links_.negatives.size())];
  }

  const NodeTypeId source_type_;
  const NodeTypeId target_type_;
  const LinkIndex index_;
  const LinkSeeds& links_;
  const std::vector<int64_t> times_;
  const int64_t num_nodes_;
  const int64_t batch_size_;
  const int64_t steps_;
  const uint64_t run_seed_;
  TrainerNumbers numbers_{0, 1};
  int64_t done_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SeedBatches>> BatchesOf(const Dataset& dataset, const HomePlan& plan,
                                                       int32_t home, int64_t trainers_per_home,
                                                       uint64_t run_seed) {
  if (plan.links.empty()) {
    return NodeBatchesOf(dataset, plan, home, trainers_per_home, run_seed);
  }
  std::vector<int64_t> times;
  if (!plan.link_times.empty()) {
    VICINITY_ASSIGN_OR_RETURN(times, TimesOfLinks(dataset, plan.link_edges.type, plan.link_times,
                                                  ShardsOfLinks(plan, home)));
  }
  return std::make_unique<LinkBatches>(dataset, plan, home, trainers_per_home, std::move(times),
                                       run_seed);
}

}  // namespace vicinity
