// The neighbour lists of a whole dataset where a device can read them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/device.h"
#include "cache/device/row_mover.h"
#include "cache/device/sample_work.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/schema.h"
#include "proto/common/ids.h"

namespace vicinity {

// Lifetime: the mover outlives it; it keeps nothing of the dataset.
// Memory:   the edge types' offsets and sources as they are in the files, and the nodes' keys.
class DeviceTopology {
 public:
  // kDevice: the quickest. kPinned: for topology that is larger than the device; every list is then
  // read over its link. FailedPrecondition, naming the shard, if one is not mapped here; what
  // ReadWhole says of the files.
  static absl::StatusOr<std::unique_ptr<DeviceTopology>> Create(RowMover* mover,
                                                                const Dataset& dataset,
                                                                MemoryKind kind);

  const Schema& schema() const { return schema_; }
  int64_t num_nodes(NodeTypeId type) const { return num_nodes_[type.value]; }
  // Of an edge type, in device memory.
  const TopologyPart* parts(EdgeTypeId type) const {
    return parts_[type.value].as<const TopologyPart>();
  }
  int32_t num_parts() const { return num_parts_; }

 private:
  DeviceTopology() = default;
  absl::Status AddShards(RowMover* mover, const Dataset& dataset, EdgeTypeId type, MemoryKind kind);
  // Keys are there once a shard and node type, whichever edge types they are the targets of.
  absl::Status AddKeys(RowMover* mover, const Dataset& dataset, MemoryKind kind);

  Schema schema_;
  int32_t num_parts_ = 0;
  std::vector<int64_t> num_nodes_;               // by node type
  std::vector<std::vector<DeviceMemory>> keys_;  // by node type and shard
  std::vector<DeviceMemory> arrays_;             // offsets and sources
  std::vector<DeviceMemory> parts_;              // by edge type
};

}  // namespace vicinity
