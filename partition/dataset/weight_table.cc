#include "partition/dataset/weight_table.h"

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

WeightTable::WeightTable(const EdgeTable& edges, DType dtype, int column)
    : edges_(edges), dtype_(dtype), column_(edges.columns[static_cast<size_t>(column)]) {}

absl::StatusOr<absl::Span<const AliasEntry>> WeightTable::Make(int64_t row) {
  const int64_t degree = edges_.degree(row);
  if (degree > kMaxWeightedDegree) {
    return absl::ResourceExhaustedError(absl::StrCat("target row ", row, " has ", degree,
                                                     " weighted in-edges, at most ",
                                                     kMaxWeightedDegree, " can be drawn from"));
  }
  weights_.resize(static_cast<size_t>(degree));
  for (int64_t i = 0; i < degree; ++i) {
    const int64_t position = edges_.begin(row) + i;
    const double weight = LoadWeight(dtype_, column_.data + position * column_.row_bytes);
    if (!IsWeight(weight)) {
      return absl::InvalidArgumentError(absl::StrCat("edge ", edges_.edge_ids[position],
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
