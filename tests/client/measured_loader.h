// What a real loader fetches, counted while its trainer leaves it the time to sample ahead.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "client/types/loader_values.h"
#include "partition/dataset/dataset.h"

namespace vicinity::testing {

struct EpochRange {
  int64_t warm = 1;  // epochs before those counted
  int64_t counted = 1;
};

// Remote rows fetched a batch, of all columns asked for: mean over the epochs counted. The shards
// in `home` are mapped, the others far. Errors as LoaderCore's.
absl::StatusOr<double> FetchedRows(const Dataset& dataset, const std::vector<int32_t>& home,
                                   const LoaderOptions& options, const EpochRange& epochs);

}  // namespace vicinity::testing
