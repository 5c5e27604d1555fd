#include "cache/vip/vip.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cache/vip/seed_chances.h"
#include "cache/vip/vip_analysis.h"
#include "cache/vip/vip_graph.h"
#include "cache/vip/vip_kernel.h"
#include "cache/vip/vip_scatter.h"
#include "cache/vip/vip_state.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/whole_read.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/machine.h"
#include "proto/common/progress.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

int NumThreads(const VipOptions& options) {
  const int wanted = options.num_threads > 0 ? options.num_threads : NumCores();
  return std::clamp(wanted, 1, kMaxVipThreads);
}

absl::Status CheckQuestion(const Dataset& dataset, const VipOptions& options) {
  if (const std::string problem = SpecProblem(dataset.schema(), options.sampling);
      !problem.empty()) {
    return absl::InvalidArgumentError(problem);
  }
  if (options.batch_size < 1) {
    return absl::InvalidArgumentError(absl::StrCat("batch size ", options.batch_size));
  }
  if (dataset.whole()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(dataset.directory(), ": only ", dataset.shards().size(), " of ",
                   dataset.book().num_shards(), " shards are mapped"));
}

absl::Status CheckLinkEdges(const Dataset& dataset, const LinkEdges& edges, size_t num_homes) {
  if (edges.type.value < 0) return absl::OkStatus();
  const std::vector<EdgeTypeSpec>& types = dataset.schema().edge_types;
  if (edges.type.value >= static_cast<int32_t>(types.size())) {
    return absl::InvalidArgumentError(absl::StrCat("there is no edge type ", edges.type.value));
  }
  const int64_t num_targets =
      dataset.book().num_nodes(NodeTypeId{types[edges.type.value].target_type});
  const bool known = std::all_of(edges.home_of.begin(), edges.home_of.end(), [&](int32_t home) {
    return home < static_cast<int32_t>(num_homes);
  });
  if (known && static_cast<int64_t>(edges.home_of.size()) == num_targets) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("homes of ", edges.home_of.size(), " nodes for ",
                                                 num_targets, " targets and ", num_homes,
                                                 " homes"));
}

// A byte for each edge that may not be there.
int64_t FilterBytes(const Dataset& dataset, const SamplingSpec& sampling) {
  int64_t bytes = 0;
  for (int32_t type = 0; type < static_cast<int32_t>(dataset.schema().edge_types.size()); ++type) {
    if (!IsFollowed(sampling, type)) continue;
    if (sampling.where.empty() && TimeColumnOf(dataset.schema(), sampling, type) < 0) continue;
    for (const auto& shard : dataset.shards()) bytes += BaseLists(*shard, {type}).num_edges();
  }
  return bytes;
}

// `links` may be null.
template <typename Seeds>
absl::StatusOr<VipScores> Compute(const Dataset& dataset, absl::Span<const Seeds> homes,
                                  const LinkEdges* links, std::vector<float> link_chances,
                                  const VipOptions& options, Progress* progress) {
  VICINITY_RETURN_IF_ERROR(CheckQuestion(dataset, options));
  if (homes.empty()) {
    VipScores none;
    none.values.resize(dataset.schema().node_types.size());
    return none;
  }
  const auto chances_of = [&](int home) {
    return ChancesOf(homes[home], options.batch_size, dataset.book());
  };
  VipScores scores;
  VICINITY_RETURN_IF_ERROR(ReadWhole(ListFiles(dataset), progress, [&]() -> absl::Status {
    VICINITY_ASSIGN_OR_RETURN(
        const VipGraph graph,
        VipGraph::Create(dataset, options.sampling, NumThreads(options),
                         links == nullptr ? EdgeTypeId{-1} : links->type, options.filter));
    VipAnalysis analysis(graph, static_cast<int32_t>(homes.size()), links, std::move(link_chances));
    VICINITY_ASSIGN_OR_RETURN(scores, analysis.Run(chances_of, progress));
    return absl::OkStatus();
  }));
  return scores;
}

}  // namespace

absl::StatusOr<VipScores> ComputeVip(const Dataset& dataset, absl::Span<const HomeSeeds> homes,
                                     const VipOptions& options, Progress* progress) {
  return Compute(dataset, homes, nullptr, {}, options, progress);
}

absl::StatusOr<VipScores> ComputeLinkVip(const Dataset& dataset, absl::Span<const LinkSeeds> homes,
                                         const LinkEdges& edges, const VipOptions& options,
                                         Progress* progress) {
  VICINITY_RETURN_IF_ERROR(CheckLinkEdges(dataset, edges, homes.size()));
  std::vector<float> chances;
  for (const LinkSeeds& seeds : homes) {
    const double all = static_cast<double>(std::max<int64_t>(1, seeds.num_links));
    chances.push_back(
        static_cast<float>(std::min(static_cast<double>(options.batch_size), all) / all));
  }
  return Compute(dataset, homes, edges.type.value < 0 ? nullptr : &edges, std::move(chances),
                 options, progress);
}

int64_t VipMemoryBytes(const Dataset& dataset, const SamplingSpec& sampling, int64_t num_homes) {
  const Schema& schema = dataset.schema();
  const int lanes = LanesFor(num_homes);
  int64_t bytes = 0;
  for (int32_t type = 0; type < dataset.book().num_node_types(); ++type) {
    int num_lists = 0;
    bool is_source = false;
    for (const EdgeTypeSpec& edges : schema.edge_types) {
      num_lists += edges.target_type == type;
      is_source = is_source || edges.source_type == type;
    }
    VipRecords records;
    records.lanes = lanes;
    records.num_hops = sampling.num_hops();
    records.head = VipRecords::HeadFor(num_lists, records.num_hops, lanes);
    const int64_t scattered = is_source ? 8 * lanes : 0;  // unless every edge type has a reverse
    bytes +=
        dataset.book().num_nodes({type}) * (4 * records.stride() + scattered + 4 * num_homes + 1);
  }
  return bytes + FilterBytes(dataset, sampling);
}

}  // namespace vicinity
