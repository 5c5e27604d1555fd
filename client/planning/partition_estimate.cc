#include "client/planning/partition_estimate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "cache/vip/vip.h"
#include "partition/cut/node_facts.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/machine.h"

namespace vicinity {
namespace {

constexpr int64_t kProcessBytes = int64_t{2} << 20;  // of a tool that has done nothing

// Of a sampled batch (sampler/): a node's id and its place in the index; a target's offset; an
// edge's source as it was drawn and as it is numbered.
constexpr double kBatchNodeBytes = 8 + 16;
constexpr double kBatchTargetBytes = 8;
constexpr double kBatchEdgeBytes = 8 + 4;

constexpr int64_t kSampledTargets = 4096;

double NumNodesOf(const Dataset& source, int32_t type) {
  return static_cast<double>(source.book().num_nodes(NodeTypeId{type}));
}

// Neighbours that a target draws on average, by some of the targets.
double MeanDrawn(const Dataset& source, EdgeTypeId type, int64_t fanout) {
  const int32_t target_type = source.schema().edge_types[type.value].target_type;
  const int64_t stride =
      std::max<int64_t>(1, source.book().num_nodes(NodeTypeId{target_type}) / kSampledTargets);
  int64_t num_targets = 0;
  int64_t drawn = 0;
  for (const std::unique_ptr<Shard>& shard : source.shards()) {
    const BaseLists edges(*shard, type);
    const int64_t num_rows = edges.num_targets();
    for (int64_t row = stride / 2; row < num_rows; row += stride) {
      ++num_targets;
      drawn += fanout == kAllNeighbors ? edges.degree(row) : std::min(edges.degree(row), fanout);
    }
  }
  return static_cast<double>(drawn) / static_cast<double>(std::max<int64_t>(num_targets, 1));
}

// Of one home, as if each had as many.
int64_t SeedsOfHome(const HomePlan& plan) {
  int64_t all = 0;
  for (size_t home = 0; home < plan.homes.size(); ++home) {
    all += plan.num_seeds(static_cast<int32_t>(home));
  }
  return all / static_cast<int64_t>(plan.homes.size()) + 1;
}

std::vector<double> BatchSeeds(const Dataset& source, const HomePlan& plan) {
  std::vector<double> seeds(source.book().num_node_types());
  const auto batch = static_cast<double>(std::min(plan.options.batch_size, SeedsOfHome(plan)));
  if (plan.links.empty()) {
    for (const HomeSeeds& home : plan.seeds) seeds[home.type.value] = batch;
  } else {
    seeds.assign(seeds.size(), batch);  // the ends of links, of whichever type
  }
  return seeds;
}

// What one thread holds of the batch that it samples, if it draws every node with the same chance.
double BatchBytes(const Dataset& source, const HomePlan& plan) {
  std::vector<double> nodes = BatchSeeds(source, plan);
  double bytes = 0;
  for (const std::vector<int64_t>& fanouts : plan.options.sampling.fanouts) {
    std::vector<double> drawn(nodes.size());
    for (int32_t e = 0; e < static_cast<int32_t>(fanouts.size()); ++e) {
      if (fanouts[e] == 0) continue;
      const EdgeTypeSpec& type = source.schema().edge_types[e];
      const double targets = nodes[type.target_type];
      const double edges = targets * MeanDrawn(source, EdgeTypeId{e}, fanouts[e]);
      bytes += targets * kBatchTargetBytes + edges * kBatchEdgeBytes;
      drawn[type.source_type] += edges;
    }
    for (int32_t type = 0; type < static_cast<int32_t>(nodes.size()); ++type) {
      const double all = std::max(1.0, NumNodesOf(source, type));
      nodes[type] += (all - nodes[type]) * -std::expm1(-drawn[type] / all);
    }
  }
  for (const double of_type : nodes) bytes += of_type * kBatchNodeBytes;
  return bytes;
}

// What cache/vip/calibration.h and client/planning/calibrated_scores.h hold beside the scores.
int64_t SamplingBytes(const Dataset& source, const HomePlan& plan,
                      const CalibrationOptions& calibration) {
  const int64_t batches =
      (SeedsOfHome(plan) / plan.options.batch_size + 1) * calibration.most_epochs;
  const int64_t threads =
      std::clamp<int64_t>(batches / CalibrationOptions::kBatchesATime, 1, NumCores());
  return 20 * NumNodes(source) + threads * static_cast<int64_t>(BatchBytes(source, plan));
}

}  // namespace

WorkEstimate EstimatePartition(const Dataset& source, const WorkEstimate& assigning,
                               const HomePlan* plan, const CalibrationOptions& calibration) {
  const int64_t num_nodes = NumNodes(source);
  const int64_t node_homes =
      plan == nullptr ? 0 : num_nodes * static_cast<int64_t>(plan->homes.size());
  const int64_t assignment = 4 * num_nodes;
  const int64_t scores = 4 * node_homes;
  std::vector<int64_t> phases = {assigning.memory_bytes,
                                 assignment + scores + (8 + 8 + 8) * num_nodes,           // writing
                                 assignment + scores + 8 * num_nodes + 16 * node_homes};  // ranking
  if (plan != nullptr) {
    const auto num_homes = static_cast<int64_t>(plan->homes.size());
    phases.push_back(assignment + VipMemoryBytes(source, plan->options.sampling, num_homes));
    if (calibration.most_epochs > 0) {
      phases.push_back(assignment + scores + SamplingBytes(source, *plan, calibration));
    }
  }
  WorkEstimate need;
  need.memory_bytes = kProcessBytes + *std::max_element(phases.begin(), phases.end());
  for (const proto::ShardEntry& shard : source.manifest().shards()) {
    for (const proto::FileEntry& file : shard.files()) {
      need.disk_bytes += static_cast<int64_t>(file.size());
    }
  }
  need.disk_bytes = std::max(need.disk_bytes + 12 * node_homes, assigning.disk_bytes);
  return need;
}

}  // namespace vicinity
