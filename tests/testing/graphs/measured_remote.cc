#include "tests/testing/graphs/measured_remote.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/planning/batch_nodes.h"
#include "client/planning/distinct_nodes.h"
#include "client/planning/seed_batches.h"
#include "partition/dataset/whole_read.h"
#include "proto/common/status.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/sampled_graph.h"

namespace vicinity::testing {
namespace {

constexpr uint32_t kLocal = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kUnlikely = kLocal - 1;  // in no cache

struct Node {
  float score;
  int32_t type;
  int64_t id;
};

// By node type and node: its place among the home's remote nodes, likeliest first.
class Places {
 public:
  Places(const VipScores& scores, const HomePlan& plan, const Assignment& assignment,
         absl::Span<const NodeTypeId> types, int32_t home) {
    std::vector<Node> remote;
    for (int32_t type = 0; type < static_cast<int32_t>(scores.values.size()); ++type) {
      const int64_t num_nodes = static_cast<int64_t>(assignment.shard_of[type].size());
      places_.emplace_back(num_nodes, kLocal);
      if (!types.empty() &&
          std::find(types.begin(), types.end(), NodeTypeId{type}) == types.end()) {
        continue;  // rows that nobody asks for
      }
      for (int64_t id = 0; id < num_nodes; ++id) {
        if (plan.home_of[assignment.shard_of[type][id]] == home) continue;
        places_[type][id] = kUnlikely;
        const float score = scores.at({type}, {id}, home);
        if (score > 0) remote.push_back({score, type, id});
      }
    }
    std::sort(remote.begin(), remote.end(), [](const Node& a, const Node& b) {
      if (a.score != b.score) return a.score > b.score;
      return a.type != b.type ? a.type < b.type : a.id < b.id;
    });
    for (size_t i = 0; i < remote.size() && i < kUnlikely; ++i) {
      places_[remote[i].type][remote[i].id] = static_cast<uint32_t>(i);
    }
  }

  void Count(const std::vector<SampledNodes>& nodes, absl::Span<const int64_t> cache_rows,
             std::vector<double>* rows) const {
    std::vector<double> cached(cache_rows.size() + 1);  // by none of the caches, by the last, ...
    std::vector<int64_t> scratch;
    for (size_t type = 0; type < nodes.size(); ++type) {
      for (const int64_t id : DistinctNodes(nodes[type], &scratch)) {
        const uint32_t place = places_[type][id];
        if (place == kLocal) continue;
        const auto larger = std::upper_bound(cache_rows.begin(), cache_rows.end(), int64_t{place});
        ++cached[cache_rows.end() - larger];
      }
    }
    double missed = 0;
    for (size_t c = cache_rows.size(); c > 0; --c) {
      missed += cached[cache_rows.size() - c];
      (*rows)[c - 1] += missed;
    }
  }

 private:
  std::vector<std::vector<uint32_t>> places_;
};

// Samples batches of one home.
class HomeBatches {
 public:
  HomeBatches(const Dataset& dataset, const HomePlan& plan, std::unique_ptr<SeedBatches> seeds)
      : seeds_(std::move(seeds)),
        nodes_(NewBatchNodes(dataset, plan.options.sampling, plan.query.get())) {}

  // Counts at least `least` batches, and until the count of the first cache size is precise or
  // there are `most`. Sets `rows` to means.
  absl::StatusOr<int64_t> Count(int64_t least, int64_t most, double precision, const Places& places,
                                absl::Span<const int64_t> cache_rows, std::vector<double>* rows) {
    double squares = 0;
    int64_t done = 0;
    while (done < least || (done < most && !IsPrecise((*rows)[0], squares, done, precision))) {
      const double before = (*rows)[0];
      VICINITY_RETURN_IF_ERROR(CountBatch(places, cache_rows, rows));
      squares += ((*rows)[0] - before) * ((*rows)[0] - before);
      ++done;
    }
    for (double& sum : *rows) sum /= static_cast<double>(done);
    return done;
  }

 private:
  // The standard error of the mean of `count` numbers, relative to it.
  static bool IsPrecise(double sum, double squares, int64_t count, double precision) {
    if (sum == 0) return true;
    const double n = static_cast<double>(count);
    const double variance = std::max(0.0, squares / n - sum / n * (sum / n));
    return std::sqrt(variance / n) <= precision * (sum / n);
  }

  // An epoch's last batch may be smaller, and is left out.
  SeedBatch NextFull() {
    SeedBatch batch = seeds_->Next();
    if (most_seeds_ == 0) most_seeds_ = CountSeeds(batch.seeds);
    while (CountSeeds(batch.seeds) < most_seeds_) batch = seeds_->Next();
    return batch;
  }

  absl::Status CountBatch(const Places& places, absl::Span<const int64_t> cache_rows,
                          std::vector<double>* rows) {
    const SeedBatch batch = NextFull();
    VICINITY_ASSIGN_OR_RETURN(const std::vector<SampledNodes> nodes, nodes_->Of(batch));
    places.Count(nodes, cache_rows, rows);
    return absl::OkStatus();
  }

  const std::unique_ptr<SeedBatches> seeds_;
  const std::unique_ptr<BatchNodes> nodes_;
  int64_t most_seeds_ = 0;  // of a batch
};

}  // namespace

absl::StatusOr<MeasuredRemote> MeasureRemote(const Dataset& dataset, const VipScores& scores,
                                             const HomePlan& plan, const Assignment& assignment,
                                             absl::Span<const NodeTypeId> types,
                                             absl::Span<const int64_t> cache_rows,
                                             const MeasureOptions& options, Progress* progress) {
  std::vector<int32_t> homes;
  for (int32_t home = 0; home < scores.num_homes; ++home) {
    if (plan.num_seeds(home) > 0) homes.push_back(home);
  }
  MeasuredRemote measured;
  if (homes.empty() || cache_rows.empty() || options.least_batches < 1) return measured;
  measured.rows.resize(cache_rows.size());
  const int64_t num_homes = static_cast<int64_t>(homes.size());
  const int64_t least = (options.least_batches + num_homes - 1) / num_homes;
  const int64_t most = std::max(least, options.most_batches / num_homes);
  VICINITY_RETURN_IF_ERROR(ReadWhole(ListFiles(dataset), progress, [&]() -> absl::Status {
    progress->Begin("sampled batches", num_homes, "homes");
    for (size_t i = 0; i < homes.size(); ++i) {
      const Places places(scores, plan, assignment, types, homes[i]);
      VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<SeedBatches> seeds,
                                BatchesOf(dataset, plan, homes[i],
                                          /*trainers_per_home=*/1, options.run_seed));
      HomeBatches batches(dataset, plan, std::move(seeds));
      std::vector<double> rows(cache_rows.size());
      VICINITY_ASSIGN_OR_RETURN(const int64_t counted, batches.Count(least, most, options.precision,
                                                                     places, cache_rows, &rows));
      measured.num_batches += counted;
      for (size_t c = 0; c < rows.size(); ++c) {
        measured.rows[c] += rows[c] / static_cast<double>(num_homes);
      }
      progress->Update(static_cast<int64_t>(i) + 1);
    }
    progress->End();
    return absl::OkStatus();
  }));
  return measured;
}

}  // namespace vicinity::testing
