#include "client/planning/calibrated_scores.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cache/vip/calibration.h"
#include "client/planning/batch_nodes.h"
#include "client/planning/distinct_nodes.h"
#include "client/planning/query_batches.h"
#include "client/planning/seed_batches.h"
#include "partition/dataset/book.h"
#include "partition/dataset/whole_read.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "proto/common/parallel.h"
#include "proto/common/status.h"
#include "sampler/sampled_graph.h"

namespace vicinity {
namespace {

// No user's run has these draws.
constexpr uint64_t kRunSeed = 0x63616c6962726174;
constexpr int64_t kFirstBatches = 4;  // tell how large all of them are

// Nodes of all types in one numbering.
std::vector<int64_t> FirstOfTypes(const Book& book) {
  std::vector<int64_t> firsts = {0};
  for (int32_t type = 0; type < book.num_node_types(); ++type) {
    firsts.push_back(firsts.back() + book.num_nodes(NodeTypeId{type}));
  }
  return firsts;
}

// Samples one home's batches and counts what they need.
class HomeCounts {
 public:
  HomeCounts(const Dataset& dataset, const HomePlan& plan, SeedBatches* seeds)
      : dataset_(dataset), plan_(plan), seeds_(seeds), firsts_(FirstOfTypes(dataset.book())) {}

  absl::StatusOr<UseCounts> Count(int64_t most_epochs, int64_t most_rows) {
    std::vector<SeedBatch> batches = NextBatches(kFirstBatches);
    UseCounts counts;
    for (std::vector<uint32_t>& half : counts.halves) half.resize(firsts_.back());
    const int64_t all = seeds_->steps() * most_epochs;
    VICINITY_ASSIGN_OR_RETURN(const int64_t rows, CountInto(batches, nullptr));
    const int64_t mean = std::max<int64_t>(1, rows / kFirstBatches);
    const int64_t half = std::max<int64_t>(1, std::min(all, most_rows / mean) / 2);
    batches.resize(std::min<int64_t>(kFirstBatches, half));
    for (std::vector<uint32_t>& uses : counts.halves) {
      const auto more = half - static_cast<int64_t>(batches.size());
      for (SeedBatch& batch : NextBatches(more)) batches.push_back(std::move(batch));
      VICINITY_RETURN_IF_ERROR(CountInto(batches, &uses).status());
      batches.clear();
    }
    counts.num_batches = 2 * half;
    return counts;
  }

 private:
  std::vector<SeedBatch> NextBatches(int64_t count) {
    std::vector<SeedBatch> batches;
    for (int64_t i = 0; i < count; ++i) batches.push_back(seeds_->Next());
    return batches;
  }

  // How many nodes all of them need. `uses`: by node, in how many it is; null: not asked.
  absl::StatusOr<int64_t> CountInto(const std::vector<SeedBatch>& batches,
                                    std::vector<uint32_t>* uses) {
    const auto num_batches = static_cast<int64_t>(batches.size());
    const int64_t num_pieces =
        (num_batches + CalibrationOptions::kBatchesATime - 1) / CalibrationOptions::kBatchesATime;
    Mutex mu;
    int64_t num_rows = 0;
    VICINITY_RETURN_IF_ERROR(
        ForEachInParallel(num_pieces, NoProgress(), [&](int64_t piece) -> absl::StatusOr<int64_t> {
          const std::unique_ptr<BatchNodes> nodes =
              NewBatchNodes(dataset_, plan_.options.sampling, plan_.query.get());
          const int64_t end =
              std::min(num_batches, (piece + 1) * CalibrationOptions::kBatchesATime);
          for (int64_t i = piece * CalibrationOptions::kBatchesATime; i < end; ++i) {
            VICINITY_ASSIGN_OR_RETURN(const std::vector<SampledNodes> needed,
                                      nodes->Of(batches[i]));
            const MutexLock lock(&mu);
            num_rows += Add(needed, uses);
          }
          return 1;
        }));
    return num_rows;
  }

  int64_t Add(const std::vector<SampledNodes>& nodes, std::vector<uint32_t>* uses) const {
    int64_t num_rows = 0;
    std::vector<int64_t> scratch;
    for (size_t type = 0; type < nodes.size(); ++type) {
      num_rows += static_cast<int64_t>(nodes[type].ids.size());
      if (uses == nullptr) continue;
      for (const int64_t id : DistinctNodes(nodes[type], &scratch)) {
        ++(*uses)[firsts_[type] + id];
      }
    }
    return num_rows;
  }

  const Dataset& dataset_;
  const HomePlan& plan_;
  SeedBatches* const seeds_;
  const std::vector<int64_t> firsts_;
};

// What is known of a query's rows of a type, before what batches needed corrects it: the formula,
// but where they needed a node that its minibatches never meet. Draws from all nodes lead there,
// and walks beyond its hops; then any such node is as likely as the others.
void MakePrior(bool needed, const UseCounts& counts, int64_t first, absl::Span<float> scores) {
  constexpr float kUnmet = 1e-30F;  // below any other
  if (!needed) return std::fill(scores.begin(), scores.end(), 0.0F);
  bool met = false;
  for (size_t i = 0; i < scores.size() && !met; ++i) {
    met = scores[i] == 0 && counts.halves[0][first + i] + counts.halves[1][first + i] > 0;
  }
  if (met) std::replace(scores.begin(), scores.end(), 0.0F, kUnmet);
}

// Corrects what a home's scores are among those of all homes.
// `query`: whose batches are counted; null: minibatches.
void CalibrateHome(const UseCounts& counts, int32_t home, const QueryBatches* query,
                   VipScores* scores) {
  std::vector<float> flat;
  for (const std::vector<float>& of_type : scores->values) {
    const auto first = static_cast<int64_t>(flat.size());
    const NodeTypeId type{static_cast<int32_t>(&of_type - scores->values.data())};
    for (size_t i = home; i < of_type.size(); i += scores->num_homes) flat.push_back(of_type[i]);
    if (query == nullptr) continue;
    MakePrior(query->needs(type), counts, first, absl::MakeSpan(flat).subspan(first));
  }
  Calibrate(counts, &flat);
  auto next = flat.begin();
  for (std::vector<float>& of_type : scores->values) {
    for (size_t i = home; i < of_type.size(); i += scores->num_homes) of_type[i] = *next++;
  }
}

absl::Status CalibrateAll(const Dataset& dataset, const HomePlan& plan,
                          const CalibrationOptions& options, Progress* progress,
                          CalibratedScores* result) {
  std::vector<int32_t> homes;
  for (int32_t home = 0; home < static_cast<int32_t>(plan.homes.size()); ++home) {
    if (plan.num_seeds(home) > 0) homes.push_back(home);
  }
  const auto num_homes = static_cast<int64_t>(homes.size());
  const int64_t most_rows = std::max(options.most_rows, FirstOfTypes(dataset.book()).back());
  progress->Begin("sampled batches", num_homes, "homes");
  for (int64_t i = 0; i < num_homes; ++i) {
    VICINITY_ASSIGN_OR_RETURN(
        const std::unique_ptr<SeedBatches> seeds,
        BatchesOf(dataset, plan, homes[i], /*trainers_per_home=*/1, kRunSeed));
    HomeCounts home(dataset, plan, seeds.get());
    VICINITY_ASSIGN_OR_RETURN(const UseCounts counts,
                              home.Count(options.most_epochs, most_rows / num_homes));
    CalibrateHome(counts, homes[i], plan.query.get(), &result->scores);
    result->num_batches += counts.num_batches;
    progress->Update(i + 1);
  }
  progress->End();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CalibratedScores> CalibratedScoresOf(const Dataset& dataset, const HomePlan& plan,
                                                    const CalibrationOptions& options,
                                                    Progress* progress) {
  if (options.most_epochs < 0) {
    return absl::InvalidArgumentError(absl::StrCat(options.most_epochs, " sampled epochs"));
  }
  if (plan.query != nullptr && options.most_epochs == 0) {
    return absl::InvalidArgumentError(
        "0 sampled epochs: a query's batches have no formula, they are counted");
  }
  CalibratedScores result;
  VICINITY_ASSIGN_OR_RETURN(result.scores, ScoresOf(dataset, plan, progress));
  if (options.most_epochs == 0) return result;
  VICINITY_RETURN_IF_ERROR(ReadWhole(ListFiles(dataset), progress, [&] {
    return CalibrateAll(dataset, plan, options, progress, &result);
  }));
  return result;
}

}  // namespace vicinity
