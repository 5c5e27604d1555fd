#include "cache/vip.h"

#include <algorithm>
#include <array>
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

// Runs work(0) here and work(1) .. work(n - 1) on threads of their own.
void RunThreads(int num_threads, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 1; i < num_threads; ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
}

// The chance that a target with `degree` in-edges draws a given one of them.
double EdgeChance(int64_t fanout, bool replace, int64_t degree) {
  if (fanout == kAllNeighbors) return 1;
  const double draws = static_cast<double>(fanout);
  if (replace) return -std::expm1(draws * std::log1p(-1.0 / static_cast<double>(degree)));
  return std::min(1.0, draws / static_cast<double>(degree));
}

class Analysis {
 public:
  Analysis(const Dataset& dataset, const VipOptions& options, int num_homes)
      : dataset_(dataset),
        schema_(dataset.schema()),
        book_(dataset.book()),
        options_(options),
        homes_(num_homes),
        num_threads_(NumThreads(options)),
        stripes_(num_threads_) {}

  absl::StatusOr<VipScores> Run(absl::Span<const HomeSeeds> homes, Progress* progress) {
    Allocate();
    for (size_t home = 0; home < homes.size(); ++home) {
      if (absl::Status status = SetSeeds(homes[home], static_cast<int>(home)); !status.ok()) {
        return At(absl::StrCat("home ", home), status);
      }
    }
    progress->Begin("inclusion probabilities", CountEdges(), "edges");
    int64_t done = 0;
    absl::Status status = absl::OkStatus();
    for (int hop = 0; hop < options_.sampling.num_hops() && status.ok(); ++hop) {
      status = RunHop(hop, progress, &done);
    }
    progress->End();
    VICINITY_RETURN_IF_ERROR(status);
    VipScores scores;
    scores.num_homes = homes_;
    scores.values = std::move(met_);
    return scores;
  }

 private:
  static int NumThreads(const VipOptions& options) {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    const int wanted = options.num_threads > 0 ? options.num_threads : cores;
    return std::clamp(wanted, 1, Stripes::kMaxThreads);
  }

  bool only_new() const { return options_.sampling.expansion == Expansion::kNewNodes; }

  void Allocate() {
    const size_t num_types = schema_.node_types.size();
    met_.resize(num_types);
    newly_met_.resize(num_types);
    log_missed_.resize(num_types);
    for (size_t type = 0; type < num_types; ++type) {
      const size_t size = book_.num_nodes({static_cast<int32_t>(type)}) * homes_;
      met_[type].resize(size);
      if (only_new()) newly_met_[type].resize(size);
      log_missed_[type].resize(size);
    }
    drawn_.resize(schema_.edge_types.size());
    for (size_t type = 0; type < drawn_.size(); ++type) {
      if (!Used(type)) continue;
      drawn_[type].resize(book_.num_nodes({schema_.edge_types[type].target_type}) * homes_);
      log_term_.resize(std::max(log_term_.size(), drawn_[type].size()));
    }
  }

  bool Used(size_t edge_type) const {
    for (const std::vector<int64_t>& hop : options_.sampling.fanouts) {
      if (hop[edge_type] != 0) return true;
    }
    return false;
  }

  int64_t CountEdges() const {
    int64_t edges = 0;
    for (const std::vector<int64_t>& hop : options_.sampling.fanouts) {
      for (size_t type = 0; type < hop.size(); ++type) {
        if (hop[type] == 0) continue;
        for (const auto& shard : dataset_.shards()) {
          edges += shard->edges({static_cast<int32_t>(type)}).sources.size();
        }
      }
    }
    return edges;
  }

  absl::Status SetSeeds(const HomeSeeds& seeds, int home) {
    if (seeds.nodes.empty()) return absl::OkStatus();
    if (seeds.type.value < 0 || seeds.type.value >= book_.num_node_types()) {
      return absl::InvalidArgumentError(absl::StrCat("there is no node type ", seeds.type.value));
    }
    const double all = static_cast<double>(seeds.nodes.size());
    const double chance = std::min(static_cast<double>(options_.batch_size), all) / all;
    for (const int64_t node : seeds.nodes) {
      if (!book_.Contains(seeds.type, {node})) {
        return absl::InvalidArgumentError(absl::StrCat(
            "seed ", node, " is not one of ", book_.num_nodes(seeds.type), " nodes of its type"));
      }
      const size_t i = node * homes_ + home;
      if (met_[seeds.type.value][i] != 0) {
        return absl::InvalidArgumentError(absl::StrCat("seed ", node, " is given twice"));
      }
      met_[seeds.type.value][i] = static_cast<float>(chance);
      if (only_new()) newly_met_[seeds.type.value][i] = static_cast<float>(chance);
      log_missed_[seeds.type.value][i] = std::log1p(-chance);
    }
    return absl::OkStatus();
  }

  absl::Status RunHop(int hop, Progress* progress, int64_t* done) {
    for (size_t type = 0; type < schema_.edge_types.size(); ++type) {
      const int64_t fanout = options_.sampling.fanouts[hop][type];
      if (fanout == 0) continue;
      const EdgeTypeId edge_type{static_cast<int32_t>(type)};
      for (const auto& shard : dataset_.shards()) {
        VICINITY_RETURN_IF_ERROR(CheckOffsets(edge_type, *shard));
        RunThreads(num_threads_,
                   [&](int thread) { ComputeTerms(edge_type, fanout, *shard, thread); });
      }
      for (const auto& shard : dataset_.shards()) {
        std::vector<absl::Status> statuses(num_threads_);
        RunThreads(num_threads_, [&](int thread) {
          statuses[thread] = AddTerms(edge_type, *shard, thread, progress, *done);
        });
        for (const absl::Status& status : statuses) VICINITY_RETURN_IF_ERROR(status);
        *done += shard->edges(edge_type).sources.size();
      }
    }
    for (size_t type = 0; type < met_.size(); ++type) {
      RunThreads(num_threads_, [&](int thread) { UpdateMet(type, thread); });
    }
    return absl::OkStatus();
  }

  absl::Status Lost(EdgeTypeId edge_type, const Shard& shard, std::string what) const {
    return absl::DataLossError(absl::StrCat("shard ", shard.id().value, ", ",
                                            schema_.EdgeTypeName(edge_type.value), ": ", what));
  }

  absl::Status CheckOffsets(EdgeTypeId edge_type, const Shard& shard) const {
    const EdgeTable& edges = shard.edges(edge_type);
    const NodeTypeId target{schema_.edge_types[edge_type.value].target_type};
    const size_t num_targets = book_.num_nodes(target, shard.id());
    if (num_targets == 0) return absl::OkStatus();
    if (edges.offsets.size() != num_targets + 1) {
      return Lost(
          edge_type, shard,
          absl::StrCat(edges.offsets.size(), " offsets for ", num_targets, " target nodes"));
    }
    if (!std::is_sorted(edges.offsets.begin(), edges.offsets.end()) ||
        edges.offsets.back() > static_cast<uint64_t>(edges.sources.size())) {
      return Lost(edge_type, shard, "offsets that fall or lie behind the edges");
    }
    return absl::OkStatus();
  }

  // log_term_[v] = log(1 - the chance that v draws a given in-edge in this hop, if not before).
  void ComputeTerms(EdgeTypeId edge_type, int64_t fanout, const Shard& shard, int thread) {
    const NodeTypeId target{schema_.edge_types[edge_type.value].target_type};
    const EdgeTable& edges = shard.edges(edge_type);
    const int64_t num_targets = book_.num_nodes(target, shard.id());
    const int64_t base = book_.First(target, shard.id()).value;
    const std::vector<float>& expanded = only_new() ? newly_met_[target.value] : met_[target.value];
    std::vector<float>& drawn = drawn_[edge_type.value];
    for (int64_t row = num_targets * thread / num_threads_;
         row < num_targets * (thread + 1) / num_threads_; ++row) {
      const int64_t degree = edges.degree(row);
      if (degree == 0) continue;
      const double chance = EdgeChance(fanout, options_.sampling.replace, degree);
      for (size_t i = (base + row) * homes_; i < static_cast<size_t>(base + row + 1) * homes_;
           ++i) {
        const double before = drawn[i];
        const double open = only_new() ? expanded[i] : std::max(0.0, expanded[i] - before);
        const double now = std::min(chance * open, 1 - before);
        drawn[i] = static_cast<float>(before + now);
        // Given that it was not drawn before; what was certain before adds nothing.
        const double term = before < 1 ? now / (1 - before) : 0;
        log_term_[i] = static_cast<float>(std::log1p(-std::min(term, 1.0)));
      }
    }
  }

  // Adds the terms of the shard's targets to the sources that this thread owns.
  absl::Status AddTerms(EdgeTypeId edge_type, const Shard& shard, int thread, Progress* progress,
                        int64_t done) {
    const EdgeTypeSpec& spec = schema_.edge_types[edge_type.value];
    const EdgeTable& edges = shard.edges(edge_type);
    const int64_t num_targets = book_.num_nodes({spec.target_type}, shard.id());
    const int64_t base = book_.First({spec.target_type}, shard.id()).value;
    const int64_t num_sources = book_.num_nodes({spec.source_type});
    double* const sums = log_missed_[spec.source_type].data();
    for (int64_t row = 0; row < num_targets; ++row) {
      if (thread == 0 && row % kProgressEvery == 0) progress->Update(done + edges.offsets[row]);
      const float* const terms = &log_term_[(base + row) * homes_];
      if (std::all_of(terms, terms + homes_, [](float term) { return term == 0; })) continue;
      for (uint64_t i = edges.offsets[row]; i < edges.offsets[row + 1]; ++i) {
        const int64_t source = edges.sources[static_cast<int64_t>(i)];
        if (stripes_.OwnerOf(source) != thread) continue;
        if (source < 0 || source >= num_sources) {
          return Lost(edge_type, shard,
                      absl::StrCat("edge ", i, " comes from node ", source, " of ", num_sources));
        }
        double* const sum = sums + source * homes_;
        for (int home = 0; home < homes_; ++home) sum[home] += terms[home];
      }
    }
    return absl::OkStatus();
  }

  void UpdateMet(size_t type, int thread) {
    std::vector<float>& met = met_[type];
    for (size_t i = met.size() * thread / num_threads_;
         i < met.size() * (thread + 1) / num_threads_; ++i) {
      const float now = static_cast<float>(-std::expm1(log_missed_[type][i]));
      if (only_new()) newly_met_[type][i] = std::max(0.0f, now - met[i]);
      met[i] = now;
    }
  }

  const Dataset& dataset_;
  const Schema& schema_;
  const Book& book_;
  const VipOptions& options_;
  const int homes_;
  const int num_threads_;
  const Stripes stripes_;

  // All by node x homes + home.
  std::vector<std::vector<float>> met_;  // by node type: c_h
  std::vector<std::vector<float>>
      newly_met_;  // by node type: c_h - c_(h-1); if only new are expanded
  std::vector<std::vector<double>>
      log_missed_;                         // by node type: log(1 - c_h), the hop's sums so far
  std::vector<std::vector<float>> drawn_;  // by edge type, of its targets: r_h
  std::vector<float> log_term_;            // of the targets of the edge type at hand
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
  return Analysis(dataset, options, static_cast<int>(homes.size())).Run(homes, progress);
}

}  // namespace vicinity
