#include "client/loading/device_setup.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cache/device/device_pool.h"
#include "cache/pool/look_ahead_planner.h"
#include "client/device/device_column.h"
#include "client/device/device_side.h"
#include "proto/common/machine.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr double kGiB = 1 << 30;

// Of the mapped shards' rows, of all columns.
double HomeBytes(const ShardRouter& router, absl::Span<const ColumnPlan> plans) {
  double all_bytes = 0;
  for (const ColumnPlan& plan : plans) {
    for (int32_t s = 0; s < router.book().num_shards(); ++s) {
      if (router.shard(ShardId{s}).mapped() == nullptr) continue;
      all_bytes += static_cast<double>(router.book().num_nodes(plan.type, ShardId{s})) *
                   static_cast<double>(router.RowBytes(plan.type, plan.column));
    }
  }
  return all_bytes;
}

// Places that the remote rows of one type take while their batches are in flight.
int64_t RowsInFlight(const ShardRouter& router, const LoaderOptions& options, NodeTypeId type,
                     absl::Span<const ColumnPlan> plans) {
  // Of all columns together, in the pool and in the tensor: so the window counts them.
  int64_t row_bytes = 0;
  for (const ColumnPlan& plan : plans) {
    if (plan.type == type) row_bytes += 2 * router.RowBytes(plan.type, plan.column);
  }
  int64_t num_remote = 0;
  for (int32_t s = 0; s < router.book().num_shards(); ++s) {
    if (!router.IsLocal(ShardId{s})) num_remote += router.book().num_nodes(type, ShardId{s});
  }
  // Those that are there and those of the batch that comes are at most all of them each.
  return std::min({options.window_bytes / row_bytes, 2 * num_remote, LookAheadPlanner::kMaxRows});
}

absl::Status PlaceColumn(const ShardRouter& router, const LoaderOptions& options,
                         const CacheRows& cache, const DeviceColumn::Options& column,
                         const std::shared_ptr<DeviceSide>& side,
                         absl::Span<const ColumnPlan> plans, ColumnPlan* plan) {
  plan->side = side;
  const int64_t row_bytes = router.RowBytes(plan->type, plan->column);
  DevicePool* borrowed = nullptr;
  if (row_bytes > 0) {
    plan->cache_rows = cache.capacity[plan->type.value];
    DevicePool::Options pool_options;
    pool_options.row_bytes = row_bytes;
    pool_options.capacity_rows = plan->cache_rows;
    pool_options.staged_rows =
        std::max<int64_t>(0, RowsInFlight(router, options, plan->type, plans) - plan->cache_rows);
    VICINITY_ASSIGN_OR_RETURN(
        std::unique_ptr<DevicePool> pool,
        DevicePool::Create(side->mover(), pool_options, cache.ranked[plan->type.value],
                           FetchingColumn(router, plan->type, plan->column)));
    borrowed = pool.get();
    plan->pool = std::move(pool);
  }
  VICINITY_ASSIGN_OR_RETURN(
      plan->device, DeviceColumn::Create(router, plan->type, plan->column, side, borrowed, column));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPinned(double pinned_bytes, int64_t machine_bytes) {
  if (pinned_bytes <= static_cast<double>(machine_bytes / 2)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "device.pin_home: %.3g GiB of the mapped shards' rows would be copied to pinned memory, more "
      "than half of this machine's %.3g GiB; say pin_home = false, or ask for fewer columns",
      pinned_bytes / kGiB, static_cast<double>(machine_bytes) / kGiB));
}

absl::Status PlaceOnDevice(const ShardRouter& router, const LoaderOptions& options,
                           const CacheRows& cache, std::shared_ptr<Device> device,
                           absl::Span<ColumnPlan> plans) {
  int64_t widest = 0;
  for (const ColumnPlan& plan : plans) {
    widest = std::max(widest, router.RowBytes(plan.type, plan.column));
  }
  const double home_bytes = HomeBytes(router, plans);
  const double near_bytes = std::min(home_bytes, static_cast<double>(options.device.home_bytes));
  if (options.device.pin_home) {
    VICINITY_RETURN_IF_ERROR(CheckPinned(home_bytes - near_bytes, TotalMemory()));
  }
  VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<DeviceSide> side,
                            DeviceSide::Create(std::move(device), options.device.staging_bytes,
                                               widest, options.batch_timeout));
  DeviceColumn::Options column;
  column.home_share = home_bytes == 0 ? 0 : near_bytes / home_bytes;
  column.far = options.device.pin_home ? FarRead::kDirect : FarRead::kStaged;
  column.num_tensors = options.device.batches;
  for (ColumnPlan& plan : plans) {
    const absl::Status placed = PlaceColumn(router, options, cache, column, side, plans, &plan);
    if (placed.ok()) continue;
    side->Finish().IgnoreError();  // before the pools' memory goes
    const NodeTypeSpec& type = router.schema().node_types[plan.type.value];
    return At(
        absl::StrCat("column ", type.name, ".", type.columns[plan.column].name, " on the device"),
        placed);
  }
  return absl::OkStatus();
}

}  // namespace vicinity
