// A loop over numbered pieces of work on all of the machine's cores.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/common/progress.h"

namespace vicinity {

// Runs work(0) .. work(num_items - 1), several at a time and in rising order of their start, the
// calling thread among the workers. work() returns how much it did, which is summed up for
// `progress` (told by the calling thread alone, between its own items).
//
// After the first failure no item is started; the failure with the lowest number is the result.
absl::Status ForEachInParallel(int64_t num_items, Progress* progress,
                               const std::function<absl::StatusOr<int64_t>(int64_t)>& work);

}  // namespace vicinity
