#include "cache/vip.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cache/huge_array.h"
#include "cache/reverse_edges.h"
#include "cache/threads.h"
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
constexpr int64_t kChunkCost = 1 << 16;      // edges, about: a millisecond
constexpr int64_t kNodeCost = 8;             // of a node without edges, in edges
constexpr int64_t kProgressEvery = 1 << 14;  // targets

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

// The chance that a target with `degree` in-edges draws a given one of them.
double EdgeChance(int64_t fanout, bool replace, int64_t degree) {
  if (fanout == 0 || degree == 0) return 0;
  if (fanout == kAllNeighbors) return 1;
  const double draws = static_cast<double>(fanout);
  if (replace) return -std::expm1(draws * std::log1p(-1.0 / static_cast<double>(degree)));
  return std::min(1.0, draws / static_cast<double>(degree));
}

// A stretch of one shard's nodes of a type.
struct Chunk {
  const Shard* shard = nullptr;
  int64_t base = 0;  // the shard's first node
  int64_t begin = 0, end = 0;
};

// Sums of the nodes of one type, for the homes of a group.
struct TypeState {
  HugeArray memory;
  VipRecords records;
  std::vector<uint64_t> is_seed;  // a bit a node
  // What messages from no known way back come to; only where there are such.
  std::vector<double> met;
};

class Analysis {
 public:
  Analysis(const Dataset& dataset, const VipOptions& options, absl::Span<const HomeSeeds> homes)
      : dataset_(dataset),
        schema_(dataset.schema()),
        book_(dataset.book()),
        spec_(options.sampling),
        batch_size_(options.batch_size),
        homes_(homes),
        num_threads_(NumThreads(options)),
        stripes_(num_threads_) {}

  absl::StatusOr<VipScores> Run(Progress* progress) {
    VICINITY_RETURN_IF_ERROR(Prepare());
    const int num_homes = static_cast<int>(homes_.size());
    const int num_groups = (num_homes + kMaxLanes - 1) / kMaxLanes;
    scores_.num_homes = num_homes;
    for (int32_t type = 0; type < book_.num_node_types(); ++type) {
      scores_.values.emplace_back(static_cast<size_t>(book_.num_nodes({type})) * num_homes);
    }
    progress_ = progress;
    progress->Begin("inclusion probabilities", CountEdges() * num_groups, "edges");
    for (int first = 0; first < num_homes; first += kMaxLanes) {
      first_home_ = first;
      group_size_ = std::min(kMaxLanes, num_homes - first);
      VICINITY_RETURN_IF_ERROR(RunGroup());
    }
    progress->End();
    return std::move(scores_);
  }

 private:
  static int NumThreads(const VipOptions& options) {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    const int wanted = options.num_threads > 0 ? options.num_threads : cores;
    return std::clamp(wanted, 1, kMaxThreads);
  }

  int32_t num_edge_types() const { return static_cast<int32_t>(schema_.edge_types.size()); }
  NodeTypeId TargetType(EdgeTypeId type) const {
    return {schema_.edge_types[type.value].target_type};
  }
  NodeTypeId SourceType(EdgeTypeId type) const {
    return {schema_.edge_types[type.value].source_type};
  }
  bool IsFollowed(EdgeTypeId edge_type, int num_hops) const {
    for (int hop = 0; hop < num_hops; ++hop) {
      if (spec_.fanouts[hop][edge_type.value] != 0) return true;
    }
    return false;
  }

  // Checks the edges, finds reverses, cuts the nodes into chunks.
  absl::Status Prepare() {
    std::vector<uint8_t> followed(num_edge_types());
    slots_.resize(num_edge_types());
    num_slots_.resize(book_.num_node_types());
    for (int32_t type = 0; type < num_edge_types(); ++type) {
      followed[type] = IsFollowed({type}, spec_.num_hops());
      if (!followed[type]) continue;
      slots_[type] = num_slots_[TargetType({type}).value]++;
      for (const auto& shard : dataset_.shards()) {
        VICINITY_RETURN_IF_ERROR(CheckEdges({type}, *shard));
      }
    }
    reverses_ = FindReverses(dataset_, followed, num_threads_);
    for (int32_t type = 0; type < book_.num_node_types(); ++type) {
      chunks_.push_back(CutNodes({type}, followed));
    }
    return absl::OkStatus();
  }

  // Edges added up over all hops.
  int64_t CountEdges() const {
    int64_t edges = 0;
    for (int hop = 1; hop <= spec_.num_hops(); ++hop) {
      for (int32_t type = 0; type < num_edge_types(); ++type) {
        if (!IsFollowed({type}, hop)) continue;
        for (const auto& shard : dataset_.shards()) edges += shard->edges({type}).sources.size();
      }
    }
    return edges;
  }

  absl::Status CheckEdges(EdgeTypeId edge_type, const Shard& shard) const {
    const auto lost = [&](const std::string& what) {
      return absl::DataLossError(absl::StrCat("shard ", shard.id().value, ", ",
                                              schema_.EdgeTypeName(edge_type.value), ": ", what));
    };
    const EdgeTable& edges = shard.edges(edge_type);
    const size_t num_targets = book_.num_nodes(TargetType(edge_type), shard.id());
    if (num_targets == 0) return absl::OkStatus();
    if (edges.offsets.size() != num_targets + 1) {
      return lost(absl::StrCat(edges.offsets.size(), " offsets for ", num_targets, " nodes"));
    }
    if (!std::is_sorted(edges.offsets.begin(), edges.offsets.end()) ||
        edges.offsets.back() > static_cast<uint64_t>(edges.sources.size())) {
      return lost("offsets that fall or lie behind the edges");
    }
    const int64_t num_sources = book_.num_nodes(SourceType(edge_type));
    std::vector<uint64_t> highest(num_threads_);
    RunThreads(num_threads_, [&](int thread) {
      highest[thread] = HighestSource(edges.sources, thread, num_threads_);
    });
    const uint64_t most = *std::max_element(highest.begin(), highest.end());
    if (edges.sources.size() > 0 && most >= static_cast<uint64_t>(num_sources)) {
      return lost(absl::StrCat("an edge comes from node ", most, " of ", num_sources));
    }
    return absl::OkStatus();
  }

  static uint64_t HighestSource(const IdArray& ids, int part, int num_parts) {
    const int64_t begin = ids.size() * part / num_parts;
    const int64_t end = ids.size() * (part + 1) / num_parts;
    if (begin == end) return 0;
    if (ids.narrow() != nullptr) return *std::max_element(ids.narrow() + begin, ids.narrow() + end);
    return *std::max_element(ids.wide() + begin, ids.wide() + end);
  }

  // Stretches that cost about the same, for threads to take one by one.
  std::vector<Chunk> CutNodes(NodeTypeId type, const std::vector<uint8_t>& followed) const {
    std::vector<Chunk> chunks;
    for (const auto& shard : dataset_.shards()) {
      const int64_t num_rows = book_.num_nodes(type, shard->id());
      Chunk chunk{shard.get(), book_.First(type, shard->id()).value, 0, 0};
      int64_t cost = 0;
      for (int64_t row = 0; row < num_rows; ++row) {
        cost += kNodeCost;
        for (int32_t edge = 0; edge < num_edge_types(); ++edge) {
          if (followed[edge] && TargetType({edge}) == type)
            cost += shard->edges({edge}).degree(row);
        }
        if (cost < kChunkCost && row + 1 < num_rows) continue;
        chunk.end = row + 1;
        chunks.push_back(chunk);
        chunk.begin = row + 1;
        cost = 0;
      }
    }
    return chunks;
  }

  void ForEachChunk(NodeTypeId type, const std::function<void(const Chunk&, int thread)>& work) {
    const std::vector<Chunk>& chunks = chunks_[type.value];
    std::atomic<size_t> next = 0;
    RunThreads(num_threads_, [&](int thread) {
      for (size_t i = next++; i < chunks.size(); i = next++) work(chunks[i], thread);
    });
  }

  absl::Status RunGroup() {
    lanes_ = LanesFor(group_size_);
    gather_ = FindGather(lanes_);
    for (int32_t type = 0; type < book_.num_node_types(); ++type) {
      VICINITY_RETURN_IF_ERROR(MakeState({type}));
    }
    for (int home = 0; home < group_size_; ++home) {
      if (absl::Status status = SetSeeds(homes_[first_home_ + home], home); !status.ok()) {
        return At(absl::StrCat("home ", first_home_ + home), status);
      }
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
    records.head = VipRecords::HeadFor(num_slots_[type.value], records.num_hops, lanes_);
    VICINITY_ASSIGN_OR_RETURN(state.memory, HugeArray::Create(num_nodes * records.stride()));
    records.data = state.memory.data();
    state.is_seed.resize(num_nodes / 64 + 1);
    for (int32_t edge = 0; edge < num_edge_types(); ++edge) {
      if (!IsFollowed({edge}, spec_.num_hops())) continue;
      if (reverses_[edge] < 0 && SourceType({edge}) == type) state.met.resize(num_nodes * lanes_);
    }
    ForEachChunk(type, [&](const Chunk& chunk, int) { SetChances(type, chunk, records); });
    return absl::OkStatus();
  }

  void SetChances(NodeTypeId type, const Chunk& chunk, const VipRecords& records) const {
    for (int32_t edge = 0; edge < num_edge_types(); ++edge) {
      if (!(TargetType({edge}) == type) || !IsFollowed({edge}, spec_.num_hops())) continue;
      const EdgeTable& edges = chunk.shard->edges({edge});
      for (int64_t row = chunk.begin; row < chunk.end; ++row) {
        for (int hop = 1; hop <= spec_.num_hops(); ++hop) {
          records.chance(chunk.base + row, slots_[edge], hop) = static_cast<float>(
              EdgeChance(spec_.fanouts[hop - 1][edge], spec_.replace, edges.degree(row)));
        }
      }
    }
  }

  absl::Status SetSeeds(const HomeSeeds& seeds, int lane) {
    if (seeds.nodes.empty()) return absl::OkStatus();
    if (seeds.type.value < 0 || seeds.type.value >= book_.num_node_types()) {
      return absl::InvalidArgumentError(absl::StrCat("there is no node type ", seeds.type.value));
    }
    const double all = static_cast<double>(seeds.nodes.size());
    const double chance = std::min(static_cast<double>(batch_size_), all) / all;
    TypeState& state = states_[seeds.type.value];
    for (const int64_t node : seeds.nodes) {
      if (!book_.Contains(seeds.type, {node})) {
        return absl::InvalidArgumentError(absl::StrCat(
            "seed ", node, " is not one of ", book_.num_nodes(seeds.type), " nodes of its type"));
      }
      float& met = state.records.met(node, 0)[lane];
      if (met != 0) {
        return absl::InvalidArgumentError(absl::StrCat("seed ", node, " is given twice"));
      }
      met = static_cast<float>(chance);
      state.records.seed_mark(node) = 1;
      state.is_seed[node / 64] |= uint64_t{1} << node % 64;
    }
    return absl::OkStatus();
  }

  void RunHop(int hop) {
    for (TypeState& state : states_) std::fill(state.met.begin(), state.met.end(), 0.0);
    for (int32_t type = 0; type < num_edge_types(); ++type) {
      if (!IsFollowed({type}, hop) || reverses_[type] >= 0) continue;
      for (const auto& shard : dataset_.shards()) {
        RunThreads(num_threads_, [&](int thread) { Scatter({type}, *shard, hop, thread); });
        done_ += shard->edges({type}).sources.size();
      }
    }
    for (int32_t type = 0; type < book_.num_node_types(); ++type) Finish({type}, hop);
  }

  // Adds the messages of all targets v of the shard to the sources u that this thread owns: the way
  // where no reverse tells u's lists.
  void Scatter(EdgeTypeId edge_type, const Shard& shard, int hop, int thread) {
    const EdgeTable& edges = shard.edges(edge_type);
    const int64_t base = book_.First(TargetType(edge_type), shard.id()).value;
    const int64_t num_targets = book_.num_nodes(TargetType(edge_type), shard.id());
    const VipRecords& records = states_[TargetType(edge_type).value].records;
    double* const met = states_[SourceType(edge_type).value].met.data();
    const bool only_new = spec_.expansion == Expansion::kNewNodes;
    const bool one_type = SourceType(edge_type) == TargetType(edge_type);
    double messages[kMaxLanes];
    for (int64_t row = 0; row < num_targets; ++row) {
      if (thread == 0 && row % kProgressEvery == 0) progress_->Update(done_ + edges.offsets[row]);
      if (edges.degree(row) == 0) continue;
      LonelyMessages(records, base + row, slots_[edge_type.value], hop, only_new, messages);
      if (std::all_of(messages, messages + lanes_, [](double m) { return m == 0; })) continue;
      for (uint64_t i = edges.offsets[row]; i < edges.offsets[row + 1]; ++i) {
        const int64_t source = edges.sources[static_cast<int64_t>(i)];
        if (stripes_.OwnerOf(source) != thread) continue;
        if (one_type && source == base + row) continue;  // who draws itself meets nobody
        double* const to = met + source * lanes_;
        for (int lane = 0; lane < lanes_; ++lane) to[lane] += messages[lane] * (1 - to[lane]);
      }
    }
  }

  // The edge types whose messages reach nodes of `type` by the nodes' own lists.
  std::vector<std::pair<VipRelation, EdgeTypeId>> RelationsOf(NodeTypeId type, int hop) const {
    std::vector<std::pair<VipRelation, EdgeTypeId>> relations;
    for (int32_t edge = 0; edge < num_edge_types(); ++edge) {
      if (!(SourceType({edge}) == type) || !IsFollowed({edge}, hop) || reverses_[edge] < 0)
        continue;
      const TypeState& target = states_[TargetType({edge}).value];
      VipRelation relation;
      relation.v = target.records;
      relation.v_slot = slots_[edge];
      relation.u = states_[type.value].records;
      relation.u_slot = slots_[reverses_[edge]];
      relation.v_is_seed = target.is_seed.data();
      relation.only_new = spec_.expansion == Expansion::kNewNodes;
      relation.one_type = TargetType({edge}) == type;
      relations.push_back({relation, EdgeTypeId{reverses_[edge]}});
    }
    return relations;
  }

  // Gathers what is left to gather, and sets c_hop of the nodes of one type.
  void Finish(NodeTypeId type, int hop) {
    const auto relations = RelationsOf(type, hop);
    std::atomic<int64_t> gathered = 0;
    ForEachChunk(type, [&](const Chunk& chunk, int thread) {
      for (int64_t row = chunk.begin; row < chunk.end; ++row) {
        const int64_t u = chunk.base + row;
        double met[kMaxLanes];
        SetMet(type, u, met);
        for (const auto& [relation, list] : relations) {
          const EdgeTable& edges = chunk.shard->edges(list);
          gather_(relation, edges.sources, edges.begin(row), edges.begin(row + 1), u, hop, met);
        }
        Keep(type, u, hop, met);
      }
      for (const auto& [relation, list] : relations) {
        const EdgeTable& edges = chunk.shard->edges(list);
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

  const Dataset& dataset_;
  const Schema& schema_;
  const Book& book_;
  const SamplingSpec& spec_;
  const int64_t batch_size_;
  const absl::Span<const HomeSeeds> homes_;
  const int num_threads_;
  const Stripes stripes_;

  // By edge type.
  std::vector<int32_t> reverses_;
  std::vector<int> slots_;  // its place among those with the same target type

  // By node type.
  std::vector<int> num_slots_;
  std::vector<std::vector<Chunk>> chunks_;
  std::vector<TypeState> states_;

  VipScores scores_;
  Progress* progress_ = nullptr;
  int64_t done_ = 0;  // edges

  // Of the group of homes at work.
  int first_home_ = 0;
  int group_size_ = 0;
  int lanes_ = 0;
  GatherMessages gather_ = nullptr;
};

}  // namespace

absl::StatusOr<VipScores> ComputeVip(const Dataset& dataset, absl::Span<const HomeSeeds> homes,
                                     const VipOptions& options, Progress* progress) {
  if (const std::string problem = SpecProblem(dataset.schema(), options.sampling);
      !problem.empty()) {
    return absl::InvalidArgumentError(problem);
  }
  if (options.batch_size < 1) {
    return absl::InvalidArgumentError(absl::StrCat("batch size ", options.batch_size));
  }
  if (!dataset.whole()) {
    return absl::FailedPreconditionError(
        absl::StrCat(dataset.directory(), ": only ", dataset.shards().size(), " of ",
                     dataset.book().num_shards(), " shards are mapped"));
  }
  if (homes.empty()) {
    VipScores none;
    none.values.resize(dataset.schema().node_types.size());
    return none;
  }
  return Analysis(dataset, options, homes).Run(progress);
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
