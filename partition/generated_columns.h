// What the generators put on nodes beside their edges: random columns and splits, each value a pure
// function of (seed, column, node).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset_writer.h"
#include "partition/ingest_report.h"
#include "partition/schema.h"
#include "proto/common/ids.h"

namespace vicinity {

// A column of the type's first and only shard: `width` values a row, of any type.
struct GeneratedColumn {
  std::string name = "features";
  DType dtype = DType::kFloat32;
  int64_t width = 1;
};

// Shares of the nodes, each node drawn by itself; what is left is in no split.
struct SplitShares {
  double train = 0;
  double validation = 0;
  double test = 0;

  double sum() const { return train + validation + test; }
};

}  // namespace vicinity
