// Minibatches sampled on a device: the numbers that sampler/minibatch_sampler.h gives, without the
// host seeing one of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/device/device.h"
#include "cache/device/device_topology.h"
#include "cache/device/row_mover.h"
#include "cache/device/sample_work.h"
#include "partition/dataset/sampling_spec.h"
#include "proto/common/ids.h"

namespace vicinity {

// A batch in host memory; every part means what it does in sampler/sampled_graph.h, which this
// folder does not see.
struct SampledBatch {
  struct Block {
    int32_t edge_type = 0;
    int64_t first_target = 0;
    std::vector<int64_t> offsets;
    std::vector<int32_t> sources;
  };
  std::vector<int32_t> seed_positions;
  std::vector<std::vector<int64_t>> ids;       // by node type
  std::vector<std::vector<int64_t>> hop_ends;  // by node type
  std::vector<std::vector<Block>> hops;
};

// A batch in device memory, valid until the next Start. Only the device knows how large its parts
// are; each has room for what is the most there can be.
struct DeviceBatch {
  struct Block {
    int32_t edge_type = 0;
    const int64_t* offsets = nullptr;  // a number more than the frontier has nodes
    const int32_t* sources = nullptr;
    int64_t max_targets = 0;
    int64_t max_edges = 0;
  };
  const int32_t* seed_positions = nullptr;
  std::vector<const int64_t*> ids;  // by node type
  // hop_ends[h * num_node_types + t]: nodes of type t known after hop h; hop 0: the seeds.
  const int64_t* hop_ends = nullptr;
  std::vector<std::vector<Block>> hops;  // every edge type with a fanout, frontier or not
};

// All passes go into a stream of its own, one behind the other; the host learns nothing until it
// asks. Edge ids are not brought, nor lists of more than kMaxFanout neighbours drawn.
//
// Threads:  one at a time. Lifetime: mover and topology outlive it.
// Memory:   taken once, for the largest batch that the options allow; about 45 bytes an edge of its
//           largest block, 12 an edge of each block, and 32 to 56 a node.
class DeviceSampler {
 public:
  static constexpr int64_t kMaxFanout = 1024;

  struct Options {
    SamplingSpec spec;
    NodeTypeId seed_type{0};
    int64_t max_seeds = 1024;
    // Of one edge type in one hop, where the fanouts and seeds do not say less.
    int64_t max_edges = int64_t{1} << 22;
    // Of one type, where the edges do not say less.
    int64_t max_nodes = int64_t{1} << 22;
  };

  // InvalidArgument for a spec that does not fit the schema, a fanout above kMaxFanout, and for
  // seeds that do not go through one chunk of the ring; ResourceExhausted: no device memory.
  static absl::StatusOr<std::unique_ptr<DeviceSampler>> Create(RowMover* mover,
                                                               const DeviceTopology* topology,
                                                               const Options& options);

  // Puts the sampling of a batch into the stream. InvalidArgument: more seeds than max_seeds, or
  // naming the first that is no node.
  absl::Status Start(absl::Span<const int64_t> seeds, uint64_t run_seed, uint64_t epoch,
                     uint64_t batch);

  // Where the batch will be once the stream is past it.
  const DeviceBatch& batch() const { return batch_; }
  DeviceStream* stream() const { return stream_.get(); }

  // Waits for the batch and brings it to the host. DataLoss: topology that is not as it should be,
  // naming a node. ResourceExhausted: the batch is larger than the options allow.
  // DeadlineExceeded after `timeout`.
  absl::StatusOr<SampledBatch> Finish(std::chrono::nanoseconds timeout);

 private:
  struct Relation {
    EdgeTypeId edge_type{0};
    int64_t fanout = 0;
    int64_t max_targets = 0;
    int64_t max_edges = 0;
    DeviceMemory offsets;
    DeviceMemory positions;
  };
  struct Nodes {
    NodeList list;
    DeviceMemory ids;
    DeviceMemory cell_ids;
    DeviceMemory cell_values;
  };

  DeviceSampler(RowMover* mover, const DeviceTopology* topology, const Options& options);

  // How large things get, hop by hop.
  void PlanHops();
  absl::Status Allocate();
  absl::Status AllocateNodes();
  absl::Status Clear();
  absl::Status SendSeeds(absl::Span<const int64_t> seeds);
  absl::Status SampleRelation(const Relation& relation, uint64_t stream_key);
  // Gives the mentions of `step` their positions.
  absl::Status NumberMentions(const SampleStep& step);
  absl::Status FinishHop(int hop);
  absl::Status Launch(SampleStep step, SamplePass pass);
  absl::Status SumUp(const int64_t* in, int64_t* out, int64_t size);
  SampleStep StepFor(NodeTypeId mentioned, int64_t max_mentions,
                     const DeviceMemory* positions) const;

  // The first `n` values of `from`, once the stream is through.
  template <typename T>
  absl::Status ToHost(const DeviceMemory& from, int64_t n, std::chrono::nanoseconds timeout,
                      std::vector<T>* to) {
    to->resize(n);
    return ToHost(from.data(), n * static_cast<int64_t>(sizeof(T)), timeout, to->data());
  }
  absl::Status ToHost(const void* from, int64_t bytes, std::chrono::nanoseconds timeout, void* to);
  absl::Status CheckError(std::chrono::nanoseconds timeout);

  RowMover* const mover_;
  const DeviceTopology& topology_;
  const Options options_;
  std::unique_ptr<DeviceStream> stream_;
  std::vector<std::vector<Relation>> hops_;
  std::vector<Nodes> nodes_;         // by node type
  std::vector<int64_t> most_nodes_;  // by node type
  int64_t most_targets_ = 0;         // of any relation
  int64_t most_mentions_ = 0;
  int64_t num_seeds_ = 0;
  DeviceBatch batch_;

  DeviceMemory counts_;    // NodeCounts of every type
  DeviceMemory hop_ends_;  // as DeviceBatch's
  DeviceMemory error_;
  DeviceMemory seed_count_;
  DeviceMemory seed_positions_;
  // Scratch, for one relation after the other.
  DeviceMemory target_counts_;
  DeviceMemory places_;
  DeviceMemory mentions_;
  DeviceMemory cells_;
  DeviceMemory is_first_;
  DeviceMemory ranks_;
  DeviceMemory sum_scratch_;
};

}  // namespace vicinity
