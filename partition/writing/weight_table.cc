#include "partition/writing/weight_table.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace vicinity {

double LoadWeight(DType dtype, const char* bytes) {
  if (dtype == DType::kFloat64) {
    double weight = 0;
    std::memcpy(&weight, bytes, sizeof(weight));
    return weight;
  }
  float weight = 0;
  std::memcpy(&weight, bytes, sizeof(weight));
  return static_cast<double>(weight);
}

bool IsWeight(double weight) { return weight >= 0 && !std::isinf(weight); }

int64_t WeightedLists::degree(int64_t row) const {
  const uint64_t first = offsets[row];
  const uint64_t last = offsets[row + 1];
  if (first > last || last > static_cast<uint64_t>(weights.num_rows)) return 0;
  return static_cast<int64_t>(last - first);
}

absl::StatusOr<absl::Span<const AliasEntry>> WeightTable::Make(int64_t row) {
  const int64_t degree = lists_.degree(row);
  if (degree > kMaxWeightedDegree) {
    return absl::ResourceExhaustedError(absl::StrCat("target row ", row, " has ", degree,
                                                     " weighted in-edges, at most ",
                                                     kMaxWeightedDegree, " can be drawn from"));
  }
  weights_.resize(static_cast<size_t>(degree));
  for (int64_t i = 0; i < degree; ++i) {
    const int64_t position = lists_.begin(row) + i;
    const double weight = LoadWeight(lists_.dtype, lists_.weights.row(position).data());
    if (!IsWeight(weight)) {
      return absl::InvalidArgumentError(absl::StrCat("edge ", lists_.edge_ids[position],
                                                     " (target row ", row, ") has weight ", weight,
                                                     "; weights must be finite and not below 0"));
    }
    weights_[static_cast<size_t>(i)] = weight;
  }
  table_.resize(weights_.size());
  builder_.Fill(weights_, absl::MakeSpan(table_));
  return absl::MakeConstSpan(table_);
}

}  // namespace vicinity
