#include "cache/vip/vip.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cache/vip/bundled_messages.h"
#include "cache/vip/seed_chances.h"
#include "cache/vip/vip_graph.h"
#include "cache/vip/vip_kernel.h"
#include "cache/vip/vip_scatter.h"
#include "cache/vip/vip_state.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/sampling_spec.h"
#include "partition/dataset/schema.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/whole_read.h"
#include "proto/common/ids.h"
#include "proto/common/machine.h"
#include "proto/common/progress.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

using HomeChances = std::vector<SeedChances>;

// An edge type whose messages reach nodes by their own lists, and those lists.
struct GatheredList {
  VipRelation relation;
  EdgeTypeId list;
};

class Analysis {
 public:
  // `links`: what the homes' seeds are, or null; `link_chances`, by home: of one to be chosen.
  Analysis(const VipGraph& graph, int32_t num_homes, const LinkEdges* links,
           std::vector<float> link_chances)
      : graph_(graph),
        book_(graph.dataset().book()),
        spec_(graph.spec()),
        num_homes_(num_homes),
        link_chances_(std::move(link_chances)),
        scatter_(graph, help_, &states_) {
    help_.edges = links;
  }

  // chances_of(home) is the home's HomeChances or an error.
  template <typename ChancesOfHome>
  absl::StatusOr<VipScores> Run(const ChancesOfHome& chances_of, Progress* progress) {
    const int num_groups = (num_homes_ + kMaxVipLanes - 1) / kMaxVipLanes;
    scores_.num_homes = num_homes_;
    for (int32_t type = 0; type < book_.num_node_types(); ++type) {
      scores_.values.emplace_back(static_cast<size_t>(book_.num_nodes({type})) * num_homes_);
    }
    progress_ = progress;
    progress->Begin("inclusion probabilities", graph_.CountEdges() * num_groups, "edges");
    for (int first = 0; first < num_homes_; first += kMaxVipLanes) {
      first_home_ = first;
      group_size_ = std::min(kMaxVipLanes, num_homes_ - first);
      VICINITY_RETURN_IF_ERROR(RunGroup(chances_of));
    }
    progress->End();
    return std::move(scores_);
  }

 private:
  int32_t num_node_types() const { return book_.num_node_types(); }
  bool only_new() const { return spec_.expansion == Expansion::kNewNodes; }

  template <typename ChancesOfHome>
  absl::Status RunGroup(const ChancesOfHome& chances_of) {
    lanes_ = LanesFor(group_size_);
    gather_ = FindGather(lanes_);
    help_.first_home = first_home_;
    if (help_.edges != nullptr) {
      const auto first = link_chances_.begin() + first_home_;
      help_.chances.assign(first, first + group_size_);
    }
    for (int32_t type = 0; type < num_node_types(); ++type) {
      VICINITY_ASSIGN_OR_RETURN(VipState state, MakeVipState(graph_, {type}, lanes_));
      states_.push_back(std::move(state));
    }
    for (int lane = 0; lane < group_size_; ++lane) {
      const absl::StatusOr<HomeChances> chances = chances_of(first_home_ + lane);
      if (!chances.ok()) return At(absl::StrCat("home ", first_home_ + lane), chances.status());
      for (const SeedChances& of_type : *chances) {
        SetSeeds(of_type, book_.num_nodes(of_type.type), lane, &states_[of_type.type.value]);
      }
    }
    for (int hop = 1; hop <= spec_.num_hops(); ++hop) RunHop(hop);
    states_.clear();
    return absl::OkStatus();
  }

  void RunHop(int hop) {
    for (VipState& state : states_) std::fill(state.met.begin(), state.met.end(), 0.0);
    for (int32_t target = 0; target < num_node_types(); ++target) {
      for (int32_t source = 0; source < num_node_types(); ++source) {
        done_ += scatter_.Run({target}, {source}, hop,
                              [&](int64_t edges) { progress_->Update(done_ + edges); });
      }
    }
    for (int32_t type = 0; type < num_node_types(); ++type) Finish({type}, hop);
  }

  // By `type` of u and any type of v: what gathers edge by edge.
  std::vector<GatheredList> SingleLists(NodeTypeId type, int hop) const {
    std::vector<GatheredList> lists;
    for (int32_t target = 0; target < num_node_types(); ++target) {
      for (const EdgeTypeId edge : graph_.EdgeTypesBetween({target}, type, hop, true)) {
        if (graph_.is_bundled(edge)) continue;
        const EdgeTypeId list{graph_.reverse(edge)};
        VipRelation relation;
        relation.v = states_[target].records;
        relation.v_slot = graph_.slot(edge);
        relation.u = states_[type.value].records;
        relation.u_slot = graph_.slot(list);
        relation.v_is_seed = states_[target].is_seed.data();
        relation.only_new = only_new();
        relation.one_type = target == type.value;
        lists.push_back({relation, list});
      }
    }
    return lists;
  }

  // What gathers bundle by bundle, for each type of v.
  std::vector<BundledMessages> BundledLists(NodeTypeId type, int hop) const {
    std::vector<BundledMessages> all;
    for (int32_t target = 0; target < num_node_types(); ++target) {
      const std::vector<EdgeTypeId> types = graph_.EdgeTypesBetween({target}, type, hop, true);
      if (types.empty() || !graph_.is_bundled(types[0])) continue;
      all.emplace_back(graph_, states_[target].records, types, help_);
      all.back().SetSources(states_[type.value].records);
    }
    return all;
  }

  // Gathers what is left to gather, and sets c_hop of the nodes of one type.
  void Finish(NodeTypeId type, int hop) {
    const std::vector<GatheredList> lists = SingleLists(type, hop);
    std::vector<std::vector<BundledMessages>> bundled(graph_.num_threads(),
                                                      BundledLists(type, hop));
    std::atomic<int64_t> gathered = 0;
    graph_.ForEachChunk(type, [&](const VipGraph::Chunk& chunk, int thread) {
      for (int64_t row = chunk.begin; row < chunk.end; ++row) {
        const int64_t u = chunk.base + row;
        double met[kMaxVipLanes];
        SetMet(type, u, met);
        for (const GatheredList& gathers : lists) {
          const EdgeTable& edges = chunk.shard->edges(gathers.list);
          gather_(gathers.relation, edges.sources, edges.begin(row), edges.begin(row + 1), u, hop,
                  met);
        }
        for (BundledMessages& messages : bundled[thread]) {
          messages.Gather(*chunk.shard, row, u, hop, only_new(), met);
        }
        Keep(type, u, hop, met);
      }
      for (const GatheredList& gathers : lists) {
        const EdgeTable& edges = chunk.shard->edges(gathers.list);
        gathered += edges.begin(chunk.end) - edges.begin(chunk.begin);
      }
      if (thread == 0) progress_->Update(done_ + gathered);
    });
    done_ += gathered;
  }

  // What is known of c_hop before anything is gathered.
  void SetMet(NodeTypeId type, int64_t node, double* met) const {
    const VipState& state = states_[type.value];
    const float* const seed = state.records.met(node, 0);
    std::copy(seed, seed + lanes_, met);
    if (state.met.empty()) return;
    const double* const scattered = &state.met[node * lanes_];
    for (int lane = 0; lane < lanes_; ++lane) met[lane] += scattered[lane] * (1 - met[lane]);
  }

  void Keep(NodeTypeId type, int64_t node, int hop, const double* met) {
    if (hop < spec_.num_hops()) {
      std::copy(met, met + lanes_, states_[type.value].records.met(node, hop));
    } else {
      float* const row = scores_.values[type.value].data() + node * scores_.num_homes;
      std::copy(met, met + group_size_, row + first_home_);
    }
  }

  const VipGraph& graph_;
  const Book& book_;
  const SamplingSpec& spec_;
  const int32_t num_homes_;
  const std::vector<float> link_chances_;
  LinkHelp help_;                 // of the group of homes at work
  std::vector<VipState> states_;  // by node type
  VipScatter scatter_;
  VipScores scores_;
  Progress* progress_ = nullptr;
  int64_t done_ = 0;  // edges

  // Of the group of homes at work.
  int first_home_ = 0;
  int group_size_ = 0;
  int lanes_ = 0;
  GatherMessages gather_ = nullptr;
};

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
    VICINITY_ASSIGN_OR_RETURN(const VipGraph graph,
                              VipGraph::Create(dataset, options.sampling, NumThreads(options),
                                               links == nullptr ? EdgeTypeId{-1} : links->type));
    Analysis analysis(graph, static_cast<int32_t>(homes.size()), links, std::move(link_chances));
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
  return bytes;
}

}  // namespace vicinity
