#include "client/device/device_column.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/types/device_tensor_impl.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/status.h"

namespace vicinity {

DeviceColumn::DeviceColumn(const ShardRouter& router, NodeTypeId type, const ColumnSpec& spec,
                           std::shared_ptr<DeviceSide> side, DevicePool* pool)
    : router_(router), type_(type), spec_(spec), side_(std::move(side)), pool_(pool) {}

absl::StatusOr<std::unique_ptr<DeviceColumn>> DeviceColumn::Create(const ShardRouter& router,
                                                                   NodeTypeId type, int32_t column,
                                                                   std::shared_ptr<DeviceSide> side,
                                                                   DevicePool* pool,
                                                                   const Options& options) {
  const ColumnSpec& spec = router.schema().node_types[type.value].columns[column];
  std::unique_ptr<DeviceColumn> made(new DeviceColumn(router, type, spec, std::move(side), pool));
  made->tensors_ = std::make_shared<Tensors>();
  made->tensors_->device = made->side_->device();
  VICINITY_ASSIGN_OR_RETURN(
      made->tensors_->ring,
      BatchTensorRing::Create(made->tensors_->device.get(), options.num_tensors, 0));
  VICINITY_RETURN_IF_ERROR(made->Place(column, options));
  return made;
}

DeviceColumn::~DeviceColumn() {
  // An error is one that the batches met, or nobody needs to know.
  side_->Finish().IgnoreError();
}

absl::Status DeviceColumn::Place(int32_t column, const Options& options) {
  home_.resize(router_.book().num_shards());
  home_columns_.resize(home_.size());
  if (spec_.row_bytes() == 0) return absl::OkStatus();
  for (size_t s = 0; s < home_.size(); ++s) {
    const ShardReader* const reader = router_.shard(ShardId{static_cast<int32_t>(s)}).mapped();
    if (reader == nullptr || reader->num_nodes(type_) == 0) continue;
    const ShardColumn rows = reader->NodeColumn(type_, column);
    const auto near =
        static_cast<int64_t>(options.home_share * static_cast<double>(rows.num_rows()));
    const absl::Status placed = reader->PlaceRows(rows, [&](const char* data) -> absl::Status {
      VICINITY_ASSIGN_OR_RETURN(
          home_[s], HomeRows::Create(side_->mover(), {data, rows.num_rows(), rows.row_bytes()},
                                     std::min(near, rows.num_rows()), options.far));
      return absl::OkStatus();
    });
    if (!placed.ok()) return At(absl::StrCat("the rows of shard ", s), placed);
    // Those that were copied stay right whatever becomes of the files.
    if (options.far == FarRead::kStaged) home_columns_[s] = {reader, rows};
  }
  return absl::OkStatus();
}

bool DeviceColumn::WaitForTensor(std::chrono::nanoseconds timeout) const {
  return tensors_->ring->WaitForIdle(timeout);
}

absl::StatusOr<std::unique_ptr<DeviceTensor>> DeviceColumn::Assemble(
    const SplitNodes& nodes, const PoolBatch& remote, std::chrono::nanoseconds timeout) const {
  DeviceStream* const stream = side_->mover()->stream();
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<BatchTensor> tensor,
                            tensors_->ring->Take(nodes.size(), spec_.row_bytes(), stream, timeout));
  tensor->Keep(tensors_);
  const absl::Status filled = Fill(nodes, remote, timeout, tensor->rows());
  // Also of a tensor that is only half filled, so that its memory does not go before that is over.
  VICINITY_RETURN_IF_ERROR(tensor->Finish(stream));
  VICINITY_RETURN_IF_ERROR(filled);
  return DeviceTensor::Impl::Wrap(std::move(tensor), spec_);
}

absl::Status DeviceColumn::Fill(const SplitNodes& nodes, const PoolBatch& remote,
                                std::chrono::nanoseconds timeout, const RowPlaces& to) const {
  if (spec_.row_bytes() == 0) return absl::OkStatus();
  VICINITY_RETURN_IF_ERROR(GatherHome(nodes, to));
  if (pool_ == nullptr) return absl::OkStatus();
  return pool_->AssembleOnDevice(remote, nodes.remote_positions, timeout, to);
}

absl::Status DeviceColumn::GatherHome(const SplitNodes& nodes, const RowPlaces& to) const {
  for (size_t s = 0; s < nodes.home.size(); ++s) {
    const SplitNodes::Home& home = nodes.home[s];
    if (home.rows.empty()) continue;
    const auto gather = [&] { return home_[s]->Gather(home.rows, to, home.positions); };
    const HomeColumn& placed = home_columns_[s];
    VICINITY_RETURN_IF_ERROR(
        placed.reader == nullptr
            ? gather()
            : placed.reader->ReadPlaced(placed.column, absl::MakeConstSpan(home.rows), gather));
  }
  return absl::OkStatus();
}

int64_t DeviceColumn::device_bytes() const {
  int64_t bytes = tensors_->ring->bytes() + (pool_ == nullptr ? 0 : pool_->device_bytes());
  for (const std::unique_ptr<HomeRows>& rows : home_) {
    if (rows != nullptr) bytes += rows->device_rows() * rows->row_bytes();
  }
  return bytes;
}

}  // namespace vicinity
