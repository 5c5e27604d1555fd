#include "cache/policies/trainer_view.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/book.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

absl::Status CheckSeeds(const Book& book, const HomeSeeds& seeds) {
  if (seeds.type.value < 0 || seeds.type.value >= book.num_node_types()) {
    return absl::InvalidArgumentError(absl::StrCat("node type ", seeds.type.value));
  }
  for (const int64_t node : seeds.nodes) {
    if (!book.Contains(seeds.type, {node})) {
      return absl::InvalidArgumentError(absl::StrCat("seed ", node));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrainerView> TrainerView::Create(const Dataset* dataset, std::vector<int32_t> home,
                                                HomeSeeds seeds, const VipOptions& options) {
  const Book& book = dataset->book();
  if (!dataset->whole()) return absl::FailedPreconditionError("the dataset is not whole");
  const std::string problem = SpecProblem(dataset->schema(), options.sampling);
  if (!problem.empty()) return absl::InvalidArgumentError(problem);
  if (options.batch_size < 1) {
    return absl::InvalidArgumentError(absl::StrCat("batch size ", options.batch_size));
  }
  VICINITY_RETURN_IF_ERROR(CheckSeeds(book, seeds));
  TrainerView view(dataset, std::move(seeds), options);
  for (const int32_t shard : home) {
    if (shard < 0 || shard >= book.num_shards()) {
      return absl::InvalidArgumentError(absl::StrCat("home shard ", shard));
    }
    for (int32_t t = 0; t < book.num_node_types(); ++t) {
      const NodeTypeId type{t};
      const auto begin =
          view.is_remote_.begin() + view.first(type) + book.First(type, ShardId{shard}).value;
      std::fill_n(begin, book.num_nodes(type, ShardId{shard}), 0);
    }
  }
  return view;
}

TrainerView::TrainerView(const Dataset* dataset, HomeSeeds seeds, const VipOptions& options)
    : dataset_(dataset), seeds_(std::move(seeds)), options_(options), firsts_{0} {
  for (int32_t t = 0; t < dataset->book().num_node_types(); ++t) {
    firsts_.push_back(firsts_.back() + dataset->book().num_nodes(NodeTypeId{t}));
  }
  is_remote_.assign(num_nodes(), 1);
}

std::vector<int32_t> TrainerView::Followed(int hop) const {
  std::vector<int32_t> edge_types;
  const std::vector<int64_t>& fanouts = options_.sampling.fanouts[hop];
  for (size_t e = 0; e < fanouts.size(); ++e) {
    if (fanouts[e] != 0) edge_types.push_back(static_cast<int32_t>(e));
  }
  return edge_types;
}

std::vector<int32_t> TrainerView::FollowedByAny() const {
  std::vector<int32_t> edge_types;
  for (int hop = 0; hop < options_.sampling.num_hops(); ++hop) {
    for (const int32_t e : Followed(hop)) edge_types.push_back(e);
  }
  std::sort(edge_types.begin(), edge_types.end());
  edge_types.erase(std::unique(edge_types.begin(), edge_types.end()), edge_types.end());
  return edge_types;
}

std::vector<double> TrainerView::SeedMarks() const {
  std::vector<double> marks(num_nodes());
  for (const int64_t node : seeds_.nodes) marks[first(seeds_.type) + node] = 1;
  return marks;
}

absl::Status TrainerView::SpreadToSources(absl::Span<const int32_t> edge_types,
                                          absl::Span<const double> from,
                                          std::vector<double>* to) const {
  for (const int32_t e : edge_types) {
    const EdgeTypeSpec& spec = dataset_->schema().edge_types[e];
    const NodeTypeId source_type{spec.source_type};
    const NodeTypeId target_type{spec.target_type};
    for (const std::unique_ptr<Shard>& shard : dataset_->shards()) {
      const BaseLists edges(*shard, EdgeTypeId{e});
      const double* const values =
          from.data() + first(target_type) + dataset_->book().First(target_type, shard->id()).value;
      for (int64_t row = 0; row < edges.num_targets(); ++row) {
        if (values[row] == 0) continue;
        const int64_t begin = edges.begin(row);
        for (int64_t i = begin; i < begin + edges.degree(row); ++i) {
          const int64_t source = edges.source(i);
          if (!dataset_->book().Contains(source_type, {source})) {
            return absl::DataLossError(absl::StrCat("edge type ", e, " of shard ",
                                                    shard->id().value, " has source ", source));
          }
          (*to)[first(source_type) + source] += values[row];
        }
      }
    }
  }
  return absl::OkStatus();
}

std::vector<double> TrainerView::InDegrees(absl::Span<const int32_t> edge_types) const {
  std::vector<double> degrees(num_nodes());
  for (const int32_t e : edge_types) {
    const NodeTypeId target_type{dataset_->schema().edge_types[e].target_type};
    for (const std::unique_ptr<Shard>& shard : dataset_->shards()) {
      const BaseLists edges(*shard, EdgeTypeId{e});
      double* const out = degrees.data() + first(target_type) +
                          dataset_->book().First(target_type, shard->id()).value;
      for (int64_t row = 0; row < edges.num_targets(); ++row) {
        out[row] += static_cast<double>(edges.degree(row));
      }
    }
  }
  return degrees;
}

void TrainerView::KeepRemote(std::vector<double>* scores) const {
  for (int64_t node = 0; node < num_nodes(); ++node) {
    if (!is_remote(node)) (*scores)[node] = 0;
  }
}

}  // namespace vicinity
