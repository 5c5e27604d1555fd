// From a loader's options to columns on a device: what memory there is for what.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cache/device/base/device.h"
#include "client/loading/batch_rows.h"
#include "client/loading/row_cache.h"
#include "client/shards/shard_router.h"
#include "client/types/loader_values.h"

namespace vicinity {

// Gives each column a pool of remote rows on the device, filled with what the cache begins with,
// copies of the mapped shards' rows, and tensors.
//
// Where the cache has no room for the rows of batches in flight there is some beside it: for what
// the window lets in, of a type's remote rows half of window_bytes, the other half being the
// tensors that they are to be in.
// ResourceExhausted, naming column and shard: no memory; InvalidArgument: more rows than a
// device can name; else what filling the pools said.
absl::Status PlaceOnDevice(const ShardRouter& router, const LoaderOptions& options,
                           const CacheRows& cache, std::shared_ptr<Device> device,
                           absl::Span<ColumnPlan> plans);

// ResourceExhausted, telling what to do, if so much pinned memory is more than half of the
// machine's: nothing can be put out of it to disk.
absl::Status CheckPinned(double pinned_bytes, int64_t machine_bytes);

}  // namespace vicinity
