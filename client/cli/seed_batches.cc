#include "client/cli/seed_batches.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/cli/link_plan.h"
#include "client/seed_schedule.h"
#include "partition/schema.h"
#include "proto/common/random.h"

namespace vicinity::cli {
namespace {

class NodeBatches final : public SeedBatches {
 public:
  NodeBatches(const HomeSeeds& seeds, int64_t batch_size, uint64_t run_seed)
      : seeds_(seeds),
        batch_size_(std::min(batch_size, static_cast<int64_t>(seeds.nodes.size()))),
        batches_(static_cast<int64_t>(seeds.nodes.size()) / batch_size_),
        schedule_(SeedSchedule::Global(Options(batch_size_, run_seed),
                                       static_cast<int64_t>(seeds.nodes.size()))) {}

  NodeTypeId type() const override { return seeds_.type; }

  std::vector<int64_t> Next() override {
    if (done_ % batches_ == 0) order_.emplace(schedule_.Epoch(done_ / batches_));
    std::vector<int64_t> batch;
    for (const int64_t i : order_->Batch(done_ % batches_)) batch.push_back(seeds_.nodes[i]);
    ++done_;
    return batch;
  }

 private:
  static ScheduleOptions Options(int64_t batch_size, uint64_t run_seed) {
    ScheduleOptions options;
    options.batch_size = batch_size;
    options.run_seed = run_seed;
    return options;
  }

  const HomeSeeds& seeds_;
  const int64_t batch_size_;
  const int64_t batches_;  // full ones an epoch
  const SeedSchedule schedule_;
  std::optional<EpochOrder> order_;
  int64_t done_ = 0;
};

class LinkBatches final : public SeedBatches {
 public:
  LinkBatches(const Dataset& dataset, const HomePlan& plan, int32_t home, uint64_t run_seed)
      : index_(dataset, plan.link_edges.type, plan.homes[home]),
        links_(plan.links[home]),
        num_nodes_(dataset.book().num_nodes(links_.negative_type)),
        batch_size_(std::min(plan.options.batch_size, index_.num_links())),
        run_seed_(run_seed) {}

  NodeTypeId type() const override { return links_.ends[0].type; }

  std::vector<int64_t> Next() override {
    NodeDraws draws(run_seed_, static_cast<uint64_t>(done_++));
    std::vector<int64_t> batch;
    // Floyd's choice without replacement.
    absl::flat_hash_set<int64_t> taken;
    for (int64_t last = index_.num_links() - batch_size_; last < index_.num_links(); ++last) {
      int64_t link = static_cast<int64_t>(draws.Below(static_cast<uint64_t>(last) + 1));
      if (!taken.insert(link).second) taken.insert(link = last);
      const auto [source, target] = index_.EndsOf(link);
      batch.push_back(source);
      batch.push_back(target);
      for (int64_t i = 0; i < links_.negatives_per_link; ++i) batch.push_back(Negative(&draws));
    }
    return batch;
  }

 private:
  int64_t Negative(NodeDraws* draws) const {
    if (links_.negatives.empty()) return static_cast<int64_t>(draws->Below(num_nodes_));
    return links_.negatives[draws->Below(links_.negatives.size())];
  }

  const LinkIndex index_;
  const LinkSeeds& links_;
  const int64_t num_nodes_;
  const int64_t batch_size_;
  const uint64_t run_seed_;
  int64_t done_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SeedBatches>> BatchesOf(const Dataset& dataset, const HomePlan& plan,
                                                       int32_t home, uint64_t run_seed) {
  if (plan.links.empty()) {
    return std::make_unique<NodeBatches>(plan.seeds[home], plan.options.batch_size, run_seed);
  }
  const LinkSeeds& links = plan.links[home];
  if (links.ends.size() > 1 ||
      (links.negatives_per_link > 0 && !(links.negative_type == links.ends[0].type))) {
    return absl::FailedPreconditionError(
        absl::StrCat("batches of ", dataset.schema().EdgeTypeName(plan.link_edges.type.value),
                     " links have seeds of more than one node type, which cannot be sampled"));
  }
  return std::make_unique<LinkBatches>(dataset, plan, home, run_seed);
}

}  // namespace vicinity::cli
