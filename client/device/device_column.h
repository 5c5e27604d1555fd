// One column of a loader's batches on a device: where its rows lie there, and the tensors that they
// are put together in.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/batch_tensor_ring.h"
#include "cache/device/device_pool.h"
#include "cache/device/home_rows.h"
#include "cache/pool/row_pool.h"
#include "client/device/device_side.h"
#include "client/shards/shard_router.h"
#include "client/shards/split_nodes.h"
#include "client/types/device_tensor.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"

namespace vicinity {

// Rows of mapped shards come from copies that it makes, remote ones from a pool on the same device.
//
// Threads:  Assemble from one at a time; the others from any.
// Lifetime: the router, its shards and the pool outlive it; its tensors may outlive it. It goes
//           when nothing is on its way any more, and waits for the device.
class DeviceColumn {
 public:
  struct Options {
    double home_share = 0;  // of each mapped shard's rows, what part is on the device
    FarRead far = FarRead::kDirect;
    int32_t num_tensors = 2;
  };

  // `pool`: of the column's remote rows, on the same side; null where there are none, or no bytes.
  // ResourceExhausted, naming the shard: no memory for its rows.
  static absl::StatusOr<std::unique_ptr<DeviceColumn>> Create(const ShardRouter& router,
                                                              NodeTypeId type, int32_t column,
                                                              std::shared_ptr<DeviceSide> side,
                                                              DevicePool* pool,
                                                              const Options& options);
  ~DeviceColumn();

  // Waits, no longer than `timeout`, until the trainer has let go of a tensor and its streams are
  // through with it; whether that is so.
  bool WaitForTensor(std::chrono::nanoseconds timeout) const;

  // Puts what writes the batch's tensor into the device's stream. `nodes` are split by shard, too;
  // `remote`: the remote ones as the pool has admitted them, which may be released at once. Errors
  // as BatchTensorRing::Take's and DevicePool::AssembleOnDevice's.
  absl::StatusOr<std::unique_ptr<DeviceTensor>> Assemble(const SplitNodes& nodes,
                                                         const PoolBatch& remote,
                                                         std::chrono::nanoseconds timeout) const;

  const DeviceSide& side() const { return *side_; }
  int64_t device_bytes() const;  // of the column alone

 private:
  // What tensors on their way to trainers keep.
  struct Tensors {
    std::shared_ptr<Device> device;
    std::unique_ptr<BatchTensorRing> ring;
  };

  struct HomeColumn {
    const ShardReader* reader = nullptr;  // null: nothing is read any more, it was copied
    ShardColumn column;
  };

  DeviceColumn(const ShardRouter& router, NodeTypeId type, const ColumnSpec& spec,
               std::shared_ptr<DeviceSide> side, DevicePool* pool);

  absl::Status Place(int32_t column, const Options& options);
  absl::Status Fill(const SplitNodes& nodes, const PoolBatch& remote,
                    std::chrono::nanoseconds timeout, const RowPlaces& to) const;
  absl::Status GatherHome(const SplitNodes& nodes, const RowPlaces& to) const;

  const ShardRouter& router_;
  const NodeTypeId type_;
  const ColumnSpec spec_;
  const std::shared_ptr<DeviceSide> side_;
  DevicePool* const pool_;
  std::vector<std::unique_ptr<HomeRows>> home_;  // by shard; null: it is not mapped, or empty
  std::vector<HomeColumn> home_columns_;         // what they read
  std::shared_ptr<Tensors> tensors_;
};

}  // namespace vicinity
