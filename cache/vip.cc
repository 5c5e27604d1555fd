#include "cache/vip.h"

#include <algorithm>
#include <array>
#include <cmath>
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
#include "cache/reverse_edges.h"
#include "cache/threads.h"
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

constexpr int64_t kProgressEvery = 1 << 14;  // targets

// Which thread adds to which nodes: stripes of 64 nodes dealt out in turn, so that the hot nodes,
// which lie together at the front of a shard, are everybody's. One owner a node means no atomics
// and one order of additions, whatever the number of threads.
class Stripes {
 public:
  explicit Stripes(int num_threads) {
    for (size_t i = 0; i < owner_.size(); ++i) owner_[i] = static_cast<uint8_t>(i % num_threads);
  }
  int OwnerOf(uint64_t node) const { return owner_[(node >> 6) % owner_.size()]; }

  static constexpr int kMaxThreads = 256;

 private:
  std::array<uint8_t, kMaxThreads> owner_;
};

// The chance that a target with `degree` in-edges draws a given one of them.
double EdgeChance(int64_t fanout, bool replace, int64_t degree) {
  if (fanout == kAllNeighbors) return 1;
  const double draws = static_cast<double>(fanout);
  if (replace) return -std::expm1(draws * std::log1p(-1.0 / static_cast<double>(degree)));
  return std::min(1.0, draws / static_cast<double>(degree));
}

// What a message along an edge depends on, at one of its ends.
struct End {
  std::array<const float*, kMaxHops> met;  // by hop: c_h, of every home
  std::array<float, kMaxHops> chance;      // by hop: t_(h+1) for the edge type by which it draws
};

// The chance that something happens without a helper whose part in it is `helped`. Where that part
// is near 1 little of the chance is known, and little of it matters: the helper itself is all but
// sure.
double Without(double chance, double helped) {
  return helped < 1 ? std::max(0.0, (chance - helped) / (1 - helped)) : 0;
}

class Analysis {
 public:
  Analysis(const Dataset& dataset, const VipOptions& options, int num_homes)
      : dataset_(dataset),
        schema_(dataset.schema()),
        book_(dataset.book()),
        spec_(options.sampling),
        batch_size_(options.batch_size),
        homes_(num_homes),
        num_threads_(NumThreads(options)),
        stripes_(num_threads_) {}

  absl::StatusOr<VipScores> Run(absl::Span<const HomeSeeds> homes, Progress* progress) {
    VICINITY_RETURN_IF_ERROR(Prepare());
    for (size_t home = 0; home < homes.size(); ++home) {
      if (absl::Status status = SetSeeds(homes[home], static_cast<int>(home)); !status.ok()) {
        return At(absl::StrCat("home ", home), status);
      }
    }
    progress->Begin("inclusion probabilities", CountEdges(), "edges");
    int64_t done = 0;
    for (int hop = 1; hop <= spec_.num_hops(); ++hop) RunHop(hop, progress, &done);
    progress->End();
    VipScores scores;
    scores.num_homes = homes_;
    scores.values = std::move(met_.back());
    return scores;
  }

 private:
  static int NumThreads(const VipOptions& options) {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    const int wanted = options.num_threads > 0 ? options.num_threads : cores;
    return std::clamp(wanted, 1, Stripes::kMaxThreads);
  }

  // Checks the edges, finds reverses, takes memory.
  absl::Status Prepare() {
    const size_t num_types = schema_.edge_types.size();
    std::vector<uint8_t> followed(num_types);
    for (size_t type = 0; type < num_types; ++type) {
      const EdgeTypeId edge_type{static_cast<int32_t>(type)};
      followed[type] = IsFollowed(edge_type, spec_.num_hops());
      if (!followed[type]) continue;
      for (const auto& shard : dataset_.shards()) {
        VICINITY_RETURN_IF_ERROR(CheckEdges(edge_type, *shard));
      }
    }
    reverses_ = FindReverses(dataset_, followed, num_threads_);
    chance_.resize(spec_.num_hops(), std::vector<std::vector<float>>(num_types));
    met_.resize(spec_.num_hops() + 1);
    for (int32_t type = 0; type < book_.num_node_types(); ++type) {
      const size_t size = static_cast<size_t>(book_.num_nodes({type})) * homes_;
      for (std::vector<std::vector<float>>& met : met_) met.emplace_back(size);
      log_missed_.emplace_back(size);
    }
    return absl::OkStatus();
  }

  bool IsFollowed(EdgeTypeId edge_type, int num_hops) const {
    for (int hop = 0; hop < num_hops; ++hop) {
      if (spec_.fanouts[hop][edge_type.value] != 0) return true;
    }
    return false;
  }

  // Edges added up over all hops.
  int64_t CountEdges() const {
    int64_t edges = 0;
    for (int hop = 1; hop <= spec_.num_hops(); ++hop) {
      for (int32_t type = 0; type < static_cast<int32_t>(schema_.edge_types.size()); ++type) {
        if (!IsFollowed({type}, hop)) continue;
        for (const auto& shard : dataset_.shards()) edges += shard->edges({type}).sources.size();
      }
    }
    return edges;
  }

  NodeTypeId TargetType(EdgeTypeId type) const {
    return {schema_.edge_types[type.value].target_type};
  }
  NodeTypeId SourceType(EdgeTypeId type) const {
    return {schema_.edge_types[type.value].source_type};
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
    for (int64_t i = 0; i < edges.sources.size(); ++i) {
      const int64_t source = edges.sources[i];
      if (source >= 0 && source < num_sources) continue;
      return lost(absl::StrCat("edge ", i, " comes from node ", source, " of ", num_sources));
    }
    return absl::OkStatus();
  }

  absl::Status SetSeeds(const HomeSeeds& seeds, int home) {
    if (seeds.nodes.empty()) return absl::OkStatus();
    if (seeds.type.value < 0 || seeds.type.value >= book_.num_node_types()) {
      return absl::InvalidArgumentError(absl::StrCat("there is no node type ", seeds.type.value));
    }
    const double all = static_cast<double>(seeds.nodes.size());
    const double chance = std::min(static_cast<double>(batch_size_), all) / all;
    for (const int64_t node : seeds.nodes) {
      if (!book_.Contains(seeds.type, {node})) {
        return absl::InvalidArgumentError(absl::StrCat(
            "seed ", node, " is not one of ", book_.num_nodes(seeds.type), " nodes of its type"));
      }
      float& met = met_[0][seeds.type.value][node * homes_ + home];
      if (met != 0) {
        return absl::InvalidArgumentError(absl::StrCat("seed ", node, " is given twice"));
      }
      met = static_cast<float>(chance);
    }
    return absl::OkStatus();
  }

  void RunHop(int hop, Progress* progress, int64_t* done) {
    const int32_t num_types = static_cast<int32_t>(schema_.edge_types.size());
    for (int32_t type = 0; type < num_types; ++type) SetChances({type}, hop);
    for (size_t type = 0; type < log_missed_.size(); ++type) {
      std::transform(met_[0][type].begin(), met_[0][type].end(), log_missed_[type].begin(),
                     [](float seed) { return std::log1p(-static_cast<double>(seed)); });
    }
    for (int32_t type = 0; type < num_types; ++type) {
      if (!IsFollowed({type}, hop)) continue;
      for (const auto& shard : dataset_.shards()) {
        RunThreads(num_threads_, [&](int thread) {
          AddMessages({type}, *shard, hop, thread, thread == 0 ? progress : NoProgress(), *done);
        });
        *done += shard->edges({type}).sources.size();
      }
    }
    for (size_t type = 0; type < log_missed_.size(); ++type) {
      std::transform(log_missed_[type].begin(), log_missed_[type].end(), met_[hop][type].begin(),
                     [](double missed) { return static_cast<float>(-std::expm1(missed)); });
    }
  }

  void SetChances(EdgeTypeId edge_type, int hop) {
    std::vector<float>& chances = chance_[hop - 1][edge_type.value];
    const int64_t fanout = spec_.fanouts[hop - 1][edge_type.value];
    chances.resize(book_.num_nodes(TargetType(edge_type)));
    if (fanout == 0) return;
    for (const auto& shard : dataset_.shards()) {
      const int64_t base = book_.First(TargetType(edge_type), shard->id()).value;
      const int64_t num_rows = book_.num_nodes(TargetType(edge_type), shard->id());
      for (int64_t row = 0; row < num_rows; ++row) {
        const int64_t degree = shard->edges(edge_type).degree(row);
        if (degree == 0) continue;
        chances[base + row] = static_cast<float>(EdgeChance(fanout, spec_.replace, degree));
      }
    }
  }

  // `node` as an end of an edge, drawing by `edge_type`.
  void SetEnd(EdgeTypeId edge_type, int64_t node, int num_hops, End* end) const {
    for (int hop = 0; hop < num_hops; ++hop) {
      end->met[hop] = &met_[hop][TargetType(edge_type).value][node * homes_];
      end->chance[hop] = chance_[hop][edge_type.value][node];
    }
  }

  // m_h(v, u) for one home; u is null where it has no way to v.
  double Message(const End& v, const End* u, int num_hops, int home) const {
    const bool only_new = spec_.expansion == Expansion::kNewNodes;
    double from_v = 0, from_u = 0, v_before = 0, u_before = 0;
    for (int hop = 0; hop < num_hops; ++hop) {
      const double v_met = Without(v.met[hop][home], from_u);
      if (u != nullptr) {
        const double u_met = Without(u->met[hop][home], from_v);
        from_u += u->chance[hop] * std::max(0.0, u_met - (only_new ? u_before : from_u));
        u_before = u_met;
      }
      from_v += v.chance[hop] * std::max(0.0, v_met - (only_new ? v_before : from_v));
      v_before = v_met;
    }
    return std::min(from_v, 1.0);
  }

  // Adds log(1 - m_h(v, u)), for all targets v of the shard, to the sources u that this thread
  // owns.
  void AddMessages(EdgeTypeId edge_type, const Shard& shard, int hop, int thread,
                   Progress* progress, int64_t done) {
    const EdgeTable& edges = shard.edges(edge_type);
    const EdgeTypeId reverse{reverses_[edge_type.value]};
    const int64_t base = book_.First(TargetType(edge_type), shard.id()).value;
    const int64_t num_targets = book_.num_nodes(TargetType(edge_type), shard.id());
    double* const sums = log_missed_[SourceType(edge_type).value].data();
    // A node that draws itself meets nobody.
    const bool one_type = SourceType(edge_type) == TargetType(edge_type);
    const auto is_loop = [&](int64_t source, int64_t target) {
      return one_type && source == target;
    };
    std::vector<double> terms(homes_);
    const auto set_terms = [&](const End& v, const End* u) {
      for (int home = 0; home < homes_; ++home) {
        terms[home] = std::log1p(-Message(v, u, hop, home));
      }
    };
    End v, u;
    for (int64_t row = 0; row < num_targets; ++row) {
      if (row % kProgressEvery == 0) progress->Update(done + edges.offsets[row]);
      if (edges.degree(row) == 0) continue;
      SetEnd(edge_type, base + row, hop, &v);
      const float* const met = v.met[hop - 1];
      if (std::all_of(met, met + homes_, [](float chance) { return chance == 0; })) continue;
      if (reverse.value < 0) set_terms(v, nullptr);
      for (uint64_t i = edges.offsets[row]; i < edges.offsets[row + 1]; ++i) {
        const int64_t source = edges.sources[static_cast<int64_t>(i)];
        if (stripes_.OwnerOf(source) != thread) continue;
        if (is_loop(source, base + row)) continue;
        if (reverse.value >= 0) {
          SetEnd(reverse, source, hop, &u);
          set_terms(v, &u);
        }
        double* const sum = sums + source * homes_;
        for (int home = 0; home < homes_; ++home) sum[home] += terms[home];
      }
    }
  }

  const Dataset& dataset_;
  const Schema& schema_;
  const Book& book_;
  const SamplingSpec& spec_;
  const int64_t batch_size_;
  const int homes_;
  const int num_threads_;
  const Stripes stripes_;

  std::vector<int32_t> reverses_;                        // by edge type
  std::vector<std::vector<std::vector<float>>> chance_;  // by hop - 1, edge type, target: t_h
  // By node type, then node x homes + home.
  std::vector<std::vector<std::vector<float>>> met_;  // by hop first: c_h
  std::vector<std::vector<double>> log_missed_;       // log(1 - c_h), the hop's sums so far
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
  return Analysis(dataset, options, static_cast<int>(homes.size())).Run(homes, progress);
}

}  // namespace vicinity
