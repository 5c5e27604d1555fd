#include "cache/device/device_topology.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/whole_read.h"
#include "proto/common/progress.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// A long time for a copy, and no reason to wait longer for a device that hangs.
constexpr std::chrono::minutes kCopyTimeout(10);

template <typename T>
absl::Span<const char> BytesOf(const T* data, int64_t n) {
  return {reinterpret_cast<const char*>(data), static_cast<size_t>(n) * sizeof(T)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceTopology>> DeviceTopology::Create(RowMover* mover,
                                                                       const Dataset& dataset,
                                                                       MemoryKind kind) {
  std::unique_ptr<DeviceTopology> topology(new DeviceTopology);
  const Book& book = dataset.book();
  topology->schema_ = dataset.schema();
  topology->num_parts_ = book.num_shards();
  for (int32_t shard = 0; shard < book.num_shards(); ++shard) {
    if (dataset.shard({shard}) == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat("shard ", shard, " is not mapped here"));
    }
  }
  for (int32_t type = 0; type < book.num_node_types(); ++type) {
    topology->num_nodes_.push_back(book.num_nodes({type}));
  }
  VICINITY_RETURN_IF_ERROR(ReadWhole(ListFiles(dataset), NoProgress(), [&]() -> absl::Status {
    VICINITY_RETURN_IF_ERROR(topology->AddKeys(mover, dataset, kind));
    for (size_t type = 0; type < topology->schema_.edge_types.size(); ++type) {
      VICINITY_RETURN_IF_ERROR(
          topology->AddShards(mover, dataset, {static_cast<int32_t>(type)}, kind));
    }
    return FinishOnHost(mover->device(), mover->stream(), kCopyTimeout);
  }));
  return topology;
}

absl::Status DeviceTopology::AddKeys(RowMover* mover, const Dataset& dataset, MemoryKind kind) {
  keys_.resize(num_nodes_.size());
  for (size_t type = 0; type < keys_.size(); ++type) {
    for (int32_t shard = 0; shard < num_parts_; ++shard) {
      const absl::Span<const uint64_t> keys =
          dataset.shard({shard})->nodes({static_cast<int32_t>(type)}).keys;
      VICINITY_ASSIGN_OR_RETURN(
          DeviceMemory memory,
          mover->Place(kind, BytesOf(keys.data(), static_cast<int64_t>(keys.size()))));
      keys_[type].push_back(std::move(memory));
    }
  }
  return absl::OkStatus();
}

absl::Status DeviceTopology::AddShards(RowMover* mover, const Dataset& dataset, EdgeTypeId type,
                                       MemoryKind kind) {
  const NodeTypeId target_type{schema_.edge_types[type.value].target_type};
  std::vector<TopologyPart> parts(num_parts_);
  for (int32_t shard = 0; shard < num_parts_; ++shard) {
    const EdgeTable& edges = dataset.shard({shard})->edges(type);
    const bool narrow = edges.sources.narrow() != nullptr;
    const int64_t num_edges = edges.num_edges();
    VICINITY_ASSIGN_OR_RETURN(
        DeviceMemory offsets,
        mover->Place(kind,
                     BytesOf(edges.offsets.data(), static_cast<int64_t>(edges.offsets.size()))));
    VICINITY_ASSIGN_OR_RETURN(
        DeviceMemory sources,
        mover->Place(kind, narrow ? BytesOf(edges.sources.narrow(), num_edges)
                                  : BytesOf(edges.sources.wide(), num_edges)));
    TopologyPart& part = parts[shard];
    part.first_target = dataset.book().First(target_type, {shard}).value;
    // Of what is read, the shortest decides: keys and lists of a damaged file may differ.
    const auto num_keys =
        static_cast<int64_t>(dataset.shard({shard})->nodes(target_type).keys.size());
    part.num_targets = edges.offsets.empty() ? 0 : std::min(edges.num_targets(), num_keys);
    part.num_edges = num_edges;
    part.offsets = offsets.as<const uint64_t>();
    part.narrow = narrow ? sources.as<const uint32_t>() : nullptr;
    part.wide = narrow ? nullptr : sources.as<const uint64_t>();
    part.keys = keys_[target_type.value][shard].as<const uint64_t>();
    arrays_.push_back(std::move(offsets));
    arrays_.push_back(std::move(sources));
  }
  VICINITY_ASSIGN_OR_RETURN(DeviceMemory memory,
                            mover->Place(MemoryKind::kDevice, BytesOf(parts.data(), num_parts_)));
  parts_.push_back(std::move(memory));
  return absl::OkStatus();
}

}  // namespace vicinity
