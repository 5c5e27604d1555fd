#include "cache/device/device_sampler.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/schema.h"
#include "proto/common/random.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int64_t kWord = sizeof(int64_t);
constexpr int64_t kMostPositions = INT32_MAX;  // positions are 32-bit

absl::Status CheckOptions(const DeviceTopology& topology, const RowMover& mover,
                          const DeviceSampler::Options& options) {
  if (const std::string problem = SpecProblem(topology.schema(), options.spec); !problem.empty()) {
    return absl::InvalidArgumentError(problem);
  }
  for (const std::vector<int64_t>& hop : options.spec.fanouts) {
    for (const int64_t fanout : hop) {
      if (fanout <= DeviceSampler::kMaxFanout) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("fanout ", fanout, " on a device; up to ", DeviceSampler::kMaxFanout));
    }
  }
  const int64_t most_seeds = mover.ring()->chunk_bytes() / kWord - 1;
  if (options.max_seeds < 1 || options.max_seeds > most_seeds) {
    return absl::InvalidArgumentError(absl::StrCat(options.max_seeds, " seeds; 1 to ", most_seeds));
  }
  if (options.max_edges < 1 || options.max_edges > kMostPositions || options.max_nodes < 1 ||
      options.max_nodes > kMostPositions) {
    return absl::InvalidArgumentError(absl::StrCat("at most ", options.max_edges, " edges and ",
                                                   options.max_nodes, " nodes; 1 to ",
                                                   kMostPositions));
  }
  return absl::OkStatus();
}

}  // namespace

DeviceSampler::DeviceSampler(RowMover* mover, const DeviceTopology* topology,
                             const Options& options)
    : mover_(mover), topology_(*topology), options_(options) {}

absl::StatusOr<std::unique_ptr<DeviceSampler>> DeviceSampler::Create(RowMover* mover,
                                                                     const DeviceTopology* topology,
                                                                     const Options& options) {
  VICINITY_RETURN_IF_ERROR(CheckOptions(*topology, *mover, options));
  std::unique_ptr<DeviceSampler> sampler(new DeviceSampler(mover, topology, options));
  VICINITY_ASSIGN_OR_RETURN(sampler->stream_, mover->device()->NewStream());
  sampler->PlanHops();
  VICINITY_RETURN_IF_ERROR(sampler->Allocate());
  VICINITY_RETURN_IF_ERROR(sampler->AllocateNodes());
  return sampler;
}

void DeviceSampler::PlanHops() {
  const Schema& schema = topology_.schema();
  std::vector<int64_t> known(schema.node_types.size());
  known[options_.seed_type.value] = options_.max_seeds;
  std::vector<int64_t> frontier = known;
  most_mentions_ = options_.max_seeds;
  for (const std::vector<int64_t>& fanouts : options_.spec.fanouts) {
    std::vector<int64_t> more(known.size());
    std::vector<Relation> relations;
    for (size_t type = 0; type < fanouts.size(); ++type) {
      Relation relation;
      relation.edge_type = {static_cast<int32_t>(type)};
      relation.fanout = fanouts[type];
      relation.max_targets = frontier[schema.edge_types[type].target_type];
      if (relation.fanout == 0 || relation.max_targets == 0) continue;
      const bool all = relation.fanout == kAllNeighbors;
      relation.max_edges =
          all ? options_.max_edges
              : std::min(options_.max_edges, relation.max_targets * relation.fanout);
      more[schema.edge_types[type].source_type] += relation.max_edges;
      most_targets_ = std::max(most_targets_, relation.max_targets);
      most_mentions_ = std::max(most_mentions_, relation.max_edges);
      relations.push_back(std::move(relation));
    }
    hops_.push_back(std::move(relations));
    for (size_t type = 0; type < known.size(); ++type) {
      const int64_t most =
          std::min(options_.max_nodes, topology_.num_nodes({static_cast<int32_t>(type)}));
      const int64_t before = known[type];
      known[type] = std::max(before, std::min(most, before + more[type]));
      frontier[type] = options_.spec.expansion == Expansion::kAllNodes
                           ? known[type]
                           : std::min(more[type], known[type]);
    }
  }
  most_nodes_ = known;
}

absl::Status DeviceSampler::Allocate() {
  Device* const device = mover_->device();
  const auto allocate = [&](DeviceMemory* memory, int64_t bytes) {
    absl::StatusOr<DeviceMemory> taken = device->Allocate(MemoryKind::kDevice, bytes);
    if (taken.ok()) *memory = *std::move(taken);
    return taken.status();
  };
  const auto num_types = static_cast<int64_t>(most_nodes_.size());
  const auto num_hops = static_cast<int64_t>(hops_.size());
  VICINITY_RETURN_IF_ERROR(allocate(&counts_, num_types * kNumNodeCounts * kWord));
  VICINITY_RETURN_IF_ERROR(allocate(&hop_ends_, (num_hops + 1) * num_types * kWord));
  VICINITY_RETURN_IF_ERROR(allocate(&error_, 2 * kWord));
  VICINITY_RETURN_IF_ERROR(allocate(&seed_count_, kWord));
  VICINITY_RETURN_IF_ERROR(allocate(&seed_positions_, options_.max_seeds * kWord));
  VICINITY_RETURN_IF_ERROR(allocate(&target_counts_, (most_targets_ + 1) * kWord));
  VICINITY_RETURN_IF_ERROR(allocate(&places_, most_mentions_ * kWord));
  VICINITY_RETURN_IF_ERROR(allocate(&mentions_, most_mentions_ * kWord));
  VICINITY_RETURN_IF_ERROR(allocate(&cells_, most_mentions_ * kWord));
  VICINITY_RETURN_IF_ERROR(allocate(&is_first_, (most_mentions_ + 1) * kWord));
  VICINITY_RETURN_IF_ERROR(allocate(&ranks_, (most_mentions_ + 1) * kWord));
  VICINITY_RETURN_IF_ERROR(
      allocate(&sum_scratch_, PrefixSumScratchBytes(std::max(most_mentions_, most_targets_) + 1)));
  for (std::vector<Relation>& hop : hops_) {
    std::vector<DeviceBatch::Block> blocks;
    for (Relation& relation : hop) {
      VICINITY_RETURN_IF_ERROR(allocate(&relation.offsets, (relation.max_targets + 1) * kWord));
      VICINITY_RETURN_IF_ERROR(allocate(
          &relation.positions, relation.max_edges * static_cast<int64_t>(sizeof(int32_t))));
      blocks.push_back({relation.edge_type.value, relation.offsets.as<const int64_t>(),
                        relation.positions.as<const int32_t>(), relation.max_targets,
                        relation.max_edges});
    }
    batch_.hops.push_back(std::move(blocks));
  }
  batch_.seed_positions = seed_positions_.as<const int32_t>();
  batch_.hop_ends = hop_ends_.as<const int64_t>();
  return absl::OkStatus();
}

absl::Status DeviceSampler::AllocateNodes() {
  Device* const device = mover_->device();
  for (size_t type = 0; type < most_nodes_.size(); ++type) {
    Nodes nodes;
    nodes.list.max_nodes = most_nodes_[type];
    nodes.list.num_in_graph = topology_.num_nodes({static_cast<int32_t>(type)});
    while (nodes.list.num_cells() < 2 * static_cast<uint64_t>(most_nodes_[type])) {
      --nodes.list.shift;
    }
    const auto num_cells = static_cast<int64_t>(nodes.list.num_cells());
    VICINITY_ASSIGN_OR_RETURN(nodes.ids,
                              device->Allocate(MemoryKind::kDevice, most_nodes_[type] * kWord));
    VICINITY_ASSIGN_OR_RETURN(nodes.cell_ids,
                              device->Allocate(MemoryKind::kDevice, num_cells * kWord));
    VICINITY_ASSIGN_OR_RETURN(
        nodes.cell_values,
        device->Allocate(MemoryKind::kDevice, num_cells * static_cast<int64_t>(sizeof(uint32_t))));
    nodes.list.ids = nodes.ids.as<int64_t>();
    nodes.list.cell_ids = nodes.cell_ids.as<uint64_t>();
    nodes.list.cell_values = nodes.cell_values.as<uint32_t>();
    nodes.list.counts = counts_.as<int64_t>() + type * kNumNodeCounts;
    batch_.ids.push_back(nodes.list.ids);
    nodes_.push_back(std::move(nodes));
  }
  return absl::OkStatus();
}

absl::Status DeviceSampler::Clear() {
  for (const Nodes& nodes : nodes_) {
    VICINITY_RETURN_IF_ERROR(stream_->Fill(nodes.cell_ids.data(), 0xff, nodes.cell_ids.bytes()));
    VICINITY_RETURN_IF_ERROR(
        stream_->Fill(nodes.cell_values.data(), 0xff, nodes.cell_values.bytes()));
  }
  VICINITY_RETURN_IF_ERROR(stream_->Fill(counts_.data(), 0, counts_.bytes()));
  return stream_->Fill(error_.data(), 0, error_.bytes());
}

absl::Status DeviceSampler::SendSeeds(absl::Span<const int64_t> seeds) {
  const int64_t num_nodes = topology_.num_nodes(options_.seed_type);
  const auto num_seeds = static_cast<int64_t>(seeds.size());
  if (num_seeds > options_.max_seeds) {
    return absl::InvalidArgumentError(
        absl::StrCat(num_seeds, " seeds; up to ", options_.max_seeds));
  }
  for (const int64_t seed : seeds) {
    if (seed >= 0 && seed < num_nodes) continue;
    return absl::InvalidArgumentError(absl::StrCat("seed ", seed, " of ", num_nodes, " nodes"));
  }
  VICINITY_ASSIGN_OR_RETURN(StagingRing::Lease lease, mover_->ring()->Take());
  num_seeds_ = num_seeds;
  auto* const words = reinterpret_cast<int64_t*>(lease.host());
  words[0] = num_seeds_;
  std::copy(seeds.begin(), seeds.end(), words + 1);
  VICINITY_RETURN_IF_ERROR(lease.Send((1 + num_seeds_) * kWord, stream_.get()));
  VICINITY_RETURN_IF_ERROR(stream_->Copy(seed_count_.data(), lease.device(), kWord));
  VICINITY_RETURN_IF_ERROR(
      stream_->Copy(mentions_.data(), lease.device() + kWord, num_seeds_ * kWord));
  return lease.Done(stream_.get());
}

absl::Status DeviceSampler::Start(absl::Span<const int64_t> seeds, uint64_t run_seed,
                                  uint64_t epoch, uint64_t batch) {
  VICINITY_RETURN_IF_ERROR(SendSeeds(seeds));
  VICINITY_RETURN_IF_ERROR(Clear());
  SampleStep step = StepFor(options_.seed_type, options_.max_seeds, &seed_positions_);
  step.num_mentions = seed_count_.as<const int64_t>();
  VICINITY_RETURN_IF_ERROR(NumberMentions(step));
  VICINITY_RETURN_IF_ERROR(FinishHop(0));
  for (size_t hop = 0; hop < hops_.size(); ++hop) {
    for (const Relation& relation : hops_[hop]) {
      DrawKey key;
      key.run_seed = run_seed;
      key.epoch = epoch;
      key.batch = batch;
      key.hop = static_cast<uint32_t>(hop);
      key.edge_type = relation.edge_type.value;
      VICINITY_RETURN_IF_ERROR(SampleRelation(relation, StreamKey(key)));
    }
    VICINITY_RETURN_IF_ERROR(FinishHop(static_cast<int>(hop) + 1));
  }
  return absl::OkStatus();
}

SampleStep DeviceSampler::StepFor(NodeTypeId mentioned, int64_t max_mentions,
                                  const DeviceMemory* positions) const {
  SampleStep step;
  step.nodes = nodes_[mentioned.value].list;
  step.max_mentions = max_mentions;
  step.mentions = mentions_.as<int64_t>();
  step.cells = cells_.as<uint32_t>();
  step.is_first = is_first_.as<int64_t>();
  step.ranks = ranks_.as<int64_t>();
  step.positions = positions->as<int32_t>();
  step.error = error_.as<uint64_t>();
  return step;
}

absl::Status DeviceSampler::SampleRelation(const Relation& relation, uint64_t stream_key) {
  const EdgeTypeSpec& type = topology_.schema().edge_types[relation.edge_type.value];
  SampleStep step = StepFor({type.source_type}, relation.max_edges, &relation.positions);
  step.parts = topology_.parts(relation.edge_type);
  step.num_parts = topology_.num_parts();
  step.draw.stream = stream_key;
  step.draw.fanout = relation.fanout == kAllNeighbors ? 0 : static_cast<uint32_t>(relation.fanout);
  step.draw.replace = options_.spec.replace;
  step.targets = nodes_[type.target_type].list;
  step.max_targets = relation.max_targets;
  step.target_counts = target_counts_.as<int64_t>();
  step.offsets = relation.offsets.as<const int64_t>();
  // Behind the last target counts are 0, so the last sum is that of all.
  step.num_mentions = step.offsets + relation.max_targets;
  step.places = places_.as<uint64_t>();
  VICINITY_RETURN_IF_ERROR(Launch(step, SamplePass::kCount));
  VICINITY_RETURN_IF_ERROR(
      SumUp(step.target_counts, relation.offsets.as<int64_t>(), relation.max_targets + 1));
  VICINITY_RETURN_IF_ERROR(Launch(step, SamplePass::kChoose));
  VICINITY_RETURN_IF_ERROR(Launch(step, SamplePass::kGather));
  return NumberMentions(step);
}

absl::Status DeviceSampler::NumberMentions(const SampleStep& step) {
  VICINITY_RETURN_IF_ERROR(Launch(step, SamplePass::kInsert));
  VICINITY_RETURN_IF_ERROR(Launch(step, SamplePass::kMarkFirst));
  VICINITY_RETURN_IF_ERROR(SumUp(step.is_first, ranks_.as<int64_t>(), step.max_mentions + 1));
  VICINITY_RETURN_IF_ERROR(Launch(step, SamplePass::kNumber));
  return Launch(step, SamplePass::kResolve);
}

absl::Status DeviceSampler::FinishHop(int hop) {
  for (size_t type = 0; type < nodes_.size(); ++type) {
    SampleStep step;
    step.nodes = nodes_[type].list;
    step.expand_all = options_.spec.expansion == Expansion::kAllNodes;
    step.hop_end = hop_ends_.as<int64_t>() + hop * nodes_.size() + type;
    VICINITY_RETURN_IF_ERROR(Launch(step, SamplePass::kFinishHop));
  }
  return absl::OkStatus();
}

absl::Status DeviceSampler::Launch(SampleStep step, SamplePass pass) {
  step.pass = pass;
  return stream_->Launch(step);
}

absl::Status DeviceSampler::SumUp(const int64_t* in, int64_t* out, int64_t size) {
  PrefixSum work;
  work.in = in;
  work.out = out;
  work.size = size;
  work.scratch = sum_scratch_.data();
  return stream_->Launch(work);
}

absl::Status DeviceSampler::ToHost(const void* from, int64_t bytes,
                                   std::chrono::nanoseconds timeout, void* to) {
  if (bytes == 0) return absl::OkStatus();
  VICINITY_ASSIGN_OR_RETURN(const DeviceMemory pinned,
                            mover_->device()->Allocate(MemoryKind::kPinned, bytes));
  VICINITY_RETURN_IF_ERROR(stream_->Copy(pinned.data(), from, bytes));
  VICINITY_RETURN_IF_ERROR(FinishOnHost(mover_->device(), stream_.get(), timeout));
  std::memcpy(to, pinned.data(), bytes);
  return absl::OkStatus();
}

absl::Status DeviceSampler::CheckError(std::chrono::nanoseconds timeout) {
  std::vector<int64_t> error(2);
  VICINITY_RETURN_IF_ERROR(ToHost(error_, 2, timeout, &error));
  switch (static_cast<SampleError>(error[0])) {
    case SampleError::kNone:
      return absl::OkStatus();
    case SampleError::kNoSuchList:
      return absl::DataLossError(
          absl::StrCat("the neighbours of node ", error[1], " do not lie in the file"));
    case SampleError::kNoSuchNode:
      return absl::DataLossError(absl::StrCat("neighbour ", error[1], " is no node"));
    case SampleError::kTooManyEdges:
      return absl::ResourceExhaustedError(
          absl::StrCat("a block of ", error[1], " edges or more; up to ", most_mentions_));
    case SampleError::kTooManyNodes:
      return absl::ResourceExhaustedError(absl::StrCat("more than ", error[1], " nodes"));
  }
  return absl::InternalError(absl::StrCat("sampling error ", error[0]));
}

absl::StatusOr<SampledBatch> DeviceSampler::Finish(std::chrono::nanoseconds timeout) {
  VICINITY_RETURN_IF_ERROR(CheckError(timeout));
  SampledBatch batch;
  const size_t num_types = nodes_.size();
  std::vector<int64_t> ends;
  VICINITY_RETURN_IF_ERROR(
      ToHost(hop_ends_, static_cast<int64_t>((hops_.size() + 1) * num_types), timeout, &ends));
  VICINITY_RETURN_IF_ERROR(ToHost(seed_positions_, num_seeds_, timeout, &batch.seed_positions));
  batch.ids.resize(num_types);
  batch.hop_ends.resize(num_types);
  for (size_t type = 0; type < num_types; ++type) {
    for (size_t hop = 0; hop <= hops_.size(); ++hop) {
      batch.hop_ends[type].push_back(ends[hop * num_types + type]);
    }
    VICINITY_RETURN_IF_ERROR(
        ToHost(nodes_[type].ids, batch.hop_ends[type].back(), timeout, &batch.ids[type]));
  }
  for (size_t hop = 0; hop < hops_.size(); ++hop) {
    batch.hops.emplace_back();
    for (const Relation& relation : hops_[hop]) {
      const auto type = topology_.schema().edge_types[relation.edge_type.value].target_type;
      const bool all = options_.spec.expansion == Expansion::kAllNodes;
      SampledBatch::Block block;
      block.edge_type = relation.edge_type.value;
      block.first_target = all || hop == 0 ? 0 : batch.hop_ends[type][hop - 1];
      const int64_t num_targets = batch.hop_ends[type][hop] - block.first_target;
      if (num_targets == 0) continue;
      VICINITY_RETURN_IF_ERROR(ToHost(relation.offsets, num_targets + 1, timeout, &block.offsets));
      VICINITY_RETURN_IF_ERROR(
          ToHost(relation.positions, block.offsets.back(), timeout, &block.sources));
      batch.hops.back().push_back(std::move(block));
    }
  }
  return batch;
}

}  // namespace vicinity
