// What the generators put on nodes beside their edges: values and splits, each a pure function of
// what it is for.
//
// Threads: functions of their arguments; those that write use all cores.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "partition/ingest/ingest_report.h"
#include "partition/schema/schema.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/common/random.h"

namespace vicinity {

// `width` values a row.
struct GeneratedColumn {
  std::string name = "features";
  DType dtype = DType::kFloat32;
  int64_t width = 1;

  ColumnSpec spec() const { return {name, dtype, {width}}; }
};

// Shares of the nodes, each node drawn by itself; what is left is in no split.
struct SplitShares {
  double train = 0;
  double validation = 0;
  double test = 0;

  double sum() const { return train + validation + test; }
  // InvalidArgument naming the value: below 0, or above 1 in all.
  absl::Status Validate() const;
};

// What the draws of a generated graph are for. Each purpose has a stream of its own, so that one
// more column or another number of edges leaves the rest as it is.
enum class Purpose : uint64_t {
  kEdges = 1,
  kShuffle,
  kCommunity,
  kWeight,
  kMean,
  kSplit,
  kColumn,  // `number` is that of the column
  kEdgeWeight,
};

// The draws of one thing (an edge, a node) for one purpose are NodeDraws(StreamFor(...), thing).
uint64_t StreamFor(uint64_t seed, Purpose purpose, uint64_t number = 0);

// In [0, 1), of 53 bits.
inline double Uniform(NodeDraws* draws) {
  return static_cast<double>(draws->Next64() >> 11) * 0x1p-53;
}

// Bell-shaped, of variance 1, between -3.5 and 3.5: the sum of four uniform numbers. Sums and
// products alone give the same bits on every machine, which libm's functions do not.
inline double Bell(NodeDraws* draws) {
  const uint64_t bits = draws->Next64();
  const uint64_t sum =
      (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48);
  constexpr double kScale = 1.7320508075688772 / 65536;  // sqrt(3): a uniform's variance is 1/12
  return (static_cast<double>(sum) - 2 * 65535) * kScale;
}

// Rounds and clamps `value` to what the type can hold; truth values: whether it is positive.
void StoreValue(DType dtype, double value, char* out);

// Calls work(begin, end) for consecutive ranges of [0, num_nodes), on all cores.
absl::Status ForNodes(std::string_view phase, int64_t num_nodes, Progress* progress,
                      const std::function<void(int64_t begin, int64_t end)>& work);

// Keys of a type whose ids are dense.
absl::Status WriteDenseKeys(NodeTypeId type, DatasetWriter* writer);

// Uniform in [-1, 1); integers: over their whole range; truth values: either.
absl::Status WriteRandomColumn(uint64_t seed, NodeTypeId type, int column, DatasetWriter* writer,
                               Progress* progress);

// A Split for each node, counted in `report`.
absl::Status WriteSplits(const SplitShares& shares, uint64_t seed, NodeTypeId type, int column,
                         DatasetWriter* writer, IngestReport::Nodes* report);

}  // namespace vicinity
