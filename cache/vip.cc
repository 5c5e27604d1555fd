#include "cache/vip.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cache/bundled_messages.h"
#include "cache/draw_chance.h"
#include "cache/edge_weights.h"
#include "cache/huge_array.h"
#include "cache/seed_chances.h"
#include "cache/threads.h"
#include "cache/vip_graph.h"
#include "cache/vip_kernel.h"
#include "partition/book.h"
#include "partition/dataset.h"
#include "partition/progress.h"
#include "partition/sampling_spec.h"
#include "partition/schema.h"
#include "partition/shard.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int kMaxThreads = 256;
constexpr int kMaxLanes = 8;                 // homes at a time
constexpr int64_t kProgressEvery = 1 << 14;  // targets

using HomeChances = std::vector<SeedChances>;

// Which thread adds to which nodes, where messages go to any node: stripes of 64 nodes dealt out in
// turn, so that the hot nodes, which lie together at the front of a shard, are everybody's. One
// owner a node means no atomics and one order of additions, whatever the number of threads.
class Stripes {
 public:
  explicit Stripes(int num_threads) {
    for (size_t i = 0; i < owner_.size(); ++i) owner_[i] = static_cast<uint8_t>(i % num_threads);
  }
  int OwnerOf(uint64_t node) const { return owner_[(node >> 6) % owner_.size()]; }

 private:
  std::array<uint8_t, kMaxThreads> owner_;
};

// Homes side by side, of so many.
int LanesFor(int64_t num_homes) { return num_homes > 4 ? kMaxLanes : 4; }

// Sums of the nodes of one type, for the homes of a group.
struct TypeState {
  HugeArray memory;
  VipRecords records;
  std::vector<uint64_t> is_seed;  // a bit a node
  // What messages from no known way back come to; only where there are such.
  std::vector<double> met;
};

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
        stripes_(graph.num_threads()) {
    help_.edges = links;
  }

  // chances_of(home) is the home's HomeChances or an error.
  template <typename ChancesOfHome>
  absl::StatusOr<VipScores> Run(const ChancesOfHome& chances_of, Progress* progress) {
    const int num_groups = (num_homes_ + kMaxLanes - 1) / kMaxLanes;
    scores_.num_homes = num_homes_;
    for (int32_t type = 0; type < book_.num_node_types(); ++type) {
      scores_.values.emplace_back(static_cast<size_t>(book_.num_nodes({type})) * num_homes_);
    }
    progress_ = progress;
    progress->Begin("inclusion probabilities", graph_.CountEdges() * num_groups, "edges");
    for (int first = 0; first < num_homes_; first += kMaxLanes) {
      first_home_ = first;
      group_size_ = std::min(kMaxLanes, num_homes_ - first);
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
      VICINITY_RETURN_IF_ERROR(MakeState({type}));
    }
    for (int lane = 0; lane < group_size_; ++lane) {
      const absl::StatusOr<HomeChances> chances = chances_of(first_home_ + lane);
      if (!chances.ok()) return At(absl::StrCat("home ", first_home_ + lane), chances.status());
      for (const SeedChances& of_type : *chances) SetSeeds(of_type, lane);
    }
    for (int hop = 1; hop <= spec_.num_hops(); ++hop) RunHop(hop);
    states_.clear();
    return absl::OkStatus();
  }

  // Takes memory and sets the chances.
  absl::Status MakeState(NodeTypeId type) {
    const int64_t num_nodes = book_.num_nodes(type);
    TypeState& state = states_.emplace_back();
    VipRecords& records = state.records;
    records.lanes = lanes_;
    records.num_hops = spec_.num_hops();
    records.head = VipRecords::HeadFor(graph_.num_slots(type), records.num_hops, lanes_);
    VICINITY_ASSIGN_OR_RETURN(state.memory, HugeArray::Create(num_nodes * records.stride()));
    records.data = state.memory.data();
    state.is_seed.resize(num_nodes / 64 + 1);
    for (int32_t edge = 0; edge < graph_.num_edge_types(); ++edge) {
      if (!graph_.IsFollowed({edge}, spec_.num_hops())) continue;
      if (graph_.reverse({edge}) < 0 && graph_.SourceType({edge}) == type) {
        state.met.resize(num_nodes * lanes_);
      }
    }
    for (int32_t edge = 0; edge < graph_.num_edge_types(); ++edge) {
      if (!(graph_.TargetType({edge}) == type)) continue;
      if (!graph_.IsFollowed({edge}, spec_.num_hops())) continue;
      graph_.ForEachChunk(
          type, [&](const VipGraph::Chunk& chunk, int) { SetChances({edge}, chunk, records); });
    }
    return absl::OkStatus();
  }

  // Of a node to draw one edge; or, where edges are looked at in bundles, what that is found from.
  void SetChances(EdgeTypeId type, const VipGraph::Chunk& chunk, const VipRecords& records) const {
    const EdgeTable& edges = chunk.shard->edges(type);
    const EdgeWeights weights = graph_.WeightsOf(type, *chunk.shard);
    const std::vector<DrawRule> rules = graph_.RulesOf(type);
    std::vector<double> of_row;
    for (int64_t row = chunk.begin; row < chunk.end; ++row) {
      const int64_t begin = edges.begin(row), degree = edges.degree(row);
      of_row.clear();
      for (int64_t i = begin; weights.is_given() && i < begin + degree; ++i) {
        of_row.push_back(weights[i]);
      }
      for (int hop = 1; hop <= spec_.num_hops(); ++hop) {
        const DrawRule& rule = rules[hop - 1];
        const double rate = weights.is_given() ? DrawRate(rule, of_row) : DrawRate(rule, degree);
        records.chance(chunk.base + row, graph_.slot(type), hop) =
            static_cast<float>(graph_.is_bundled(type) ? rate : DrawChance(rule, rate, 1));
      }
    }
  }

  void SetSeed(TypeState* state, int64_t node, int lane, double chance) const {
    state->records.met(node, 0)[lane] = static_cast<float>(chance);
    state->records.seed_mark(node) = 1;
    state->is_seed[node / 64] |= uint64_t{1} << node % 64;
  }

  void SetSeeds(const SeedChances& seeds, int lane) {
    TypeState& state = states_[seeds.type.value];
    for (int64_t node = 0; seeds.others > 0 && node < book_.num_nodes(seeds.type); ++node) {
      SetSeed(&state, node, lane, seeds.others);
    }
    for (size_t i = 0; i < seeds.nodes.size(); ++i) {
      SetSeed(&state, seeds.nodes[i], lane, seeds.chances[i]);
    }
  }

  void RunHop(int hop) {
    for (TypeState& state : states_) std::fill(state.met.begin(), state.met.end(), 0.0);
    for (int32_t target = 0; target < num_node_types(); ++target) {
      for (int32_t source = 0; source < num_node_types(); ++source) {
        ScatterBetween({target}, {source}, hop);
      }
    }
    for (int32_t type = 0; type < num_node_types(); ++type) Finish({type}, hop);
  }

  // Edge types by which nodes of one type draw the other's, in hops up to this one.
  std::vector<EdgeTypeId> EdgeTypesBetween(NodeTypeId target, NodeTypeId source, int hop,
                                           bool with_reverse) const {
    std::vector<EdgeTypeId> types;
    for (int32_t type = 0; type < graph_.num_edge_types(); ++type) {
      if (graph_.TargetType({type}) == target && graph_.SourceType({type}) == source &&
          graph_.IsFollowed({type}, hop) && (graph_.reverse({type}) >= 0) == with_reverse) {
        types.push_back({type});
      }
    }
    return types;
  }

  // The way of messages where no reverse tells the sources' lists.
  void ScatterBetween(NodeTypeId target, NodeTypeId source, int hop) {
    const std::vector<EdgeTypeId> types = EdgeTypesBetween(target, source, hop, false);
    if (types.empty()) return;
    for (const auto& shard : graph_.dataset().shards()) {
      RunThreads(graph_.num_threads(), [&](int thread) {
        if (graph_.is_bundled(types[0])) {
          ScatterBundles(types, *shard, hop, thread);
        } else {
          for (const EdgeTypeId type : types) Scatter(type, *shard, hop, thread);
        }
      });
      for (const EdgeTypeId type : types) done_ += shard->edges(type).sources.size();
    }
  }

  // Adds a message to a source that this thread owns. Who draws itself meets nobody.
  void Deliver(const double* messages, int64_t source, int64_t self, int thread, double* met) {
    if (source == self || stripes_.OwnerOf(source) != thread) return;
    double* const to = met + source * lanes_;
    for (int lane = 0; lane < lanes_; ++lane) to[lane] += messages[lane] * (1 - to[lane]);
  }

  // Adds the messages of all targets v of the shard.
  void Scatter(EdgeTypeId type, const Shard& shard, int hop, int thread) {
    const EdgeTable& edges = shard.edges(type);
    const int64_t base = book_.First(graph_.TargetType(type), shard.id()).value;
    const int64_t num_targets = book_.num_nodes(graph_.TargetType(type), shard.id());
    const VipRecords& records = states_[graph_.TargetType(type).value].records;
    double* const met = states_[graph_.SourceType(type).value].met.data();
    const bool one_type = graph_.SourceType(type) == graph_.TargetType(type);
    double messages[kMaxLanes];
    for (int64_t row = 0; row < num_targets; ++row) {
      if (thread == 0 && row % kProgressEvery == 0) progress_->Update(done_ + edges.offsets[row]);
      if (edges.degree(row) == 0) continue;
      const int64_t v = base + row;
      LonelyMessages({records, v, &records.chance(v, graph_.slot(type), 1)}, nullptr, hop,
                     only_new(), messages);
      if (std::all_of(messages, messages + lanes_, [](double m) { return m == 0; })) continue;
      for (uint64_t i = edges.offsets[row]; i < edges.offsets[row + 1]; ++i) {
        Deliver(messages, edges.sources[static_cast<int64_t>(i)], one_type ? v : -1, thread, met);
      }
    }
  }

  // The same where each neighbour's edges of all types make one message.
  void ScatterBundles(const std::vector<EdgeTypeId>& types, const Shard& shard, int hop,
                      int thread) {
    const NodeTypeId target = graph_.TargetType(types[0]), source = graph_.SourceType(types[0]);
    const int64_t base = book_.First(target, shard.id()).value;
    const VipRecords& records = states_[target.value].records;
    double* const met = states_[source.value].met.data();
    BundledMessages bundled(graph_, records, types, help_);
    for (int64_t row = 0; row < book_.num_nodes(target, shard.id()); ++row) {
      const int64_t v = base + row;
      if (thread == 0 && row % kProgressEvery == 0) progress_->Update(done_);
      if (!IsMet(records, v, hop - 1)) continue;
      bundled.FromTarget(shard, row, v, hop, only_new(),
                         [&](int64_t neighbor, const double* messages) {
                           Deliver(messages, neighbor, target == source ? v : -1, thread, met);
                         });
    }
  }

  // By any home, in hops 0 .. hop.
  bool IsMet(const VipRecords& records, int64_t node, int hop) const {
    const auto any = [&](int h) {
      const float* const met = records.met(node, h);
      return std::any_of(met, met + lanes_, [](float chance) { return chance > 0; });
    };
    return any(hop) || any(0);
  }

  // By `type` of u and any type of v: what gathers edge by edge.
  std::vector<GatheredList> SingleLists(NodeTypeId type, int hop) const {
    std::vector<GatheredList> lists;
    for (int32_t target = 0; target < num_node_types(); ++target) {
      for (const EdgeTypeId edge : EdgeTypesBetween({target}, type, hop, true)) {
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
      const std::vector<EdgeTypeId> types = EdgeTypesBetween({target}, type, hop, true);
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
        double met[kMaxLanes];
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
    const TypeState& state = states_[type.value];
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
  const Stripes stripes_;
  LinkHelp help_;  // of the group of homes at work

  std::vector<TypeState> states_;  // by node type
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
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int wanted = options.num_threads > 0 ? options.num_threads : cores;
  return std::clamp(wanted, 1, kMaxThreads);
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
  VICINITY_ASSIGN_OR_RETURN(const VipGraph graph,
                            VipGraph::Create(dataset, options.sampling, NumThreads(options),
                                             links == nullptr ? EdgeTypeId{-1} : links->type));
  const auto chances_of = [&](int home) {
    return ChancesOf(homes[home], options.batch_size, dataset.book());
  };
  return Analysis(graph, static_cast<int32_t>(homes.size()), links, std::move(link_chances))
      .Run(chances_of, progress);
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
