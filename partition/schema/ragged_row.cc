#include "partition/schema/ragged_row.h"

#include <cstdint>
#include <cstring>

namespace vicinity {

std::string RaggedRowFault(const RaggedSpec& spec, std::string_view row) {
  const auto num_bytes = static_cast<int64_t>(row.size());
  if (num_bytes % spec.item_bytes() != 0) {
    return "has " + std::to_string(num_bytes) + " bytes, no multiple of " +
           std::to_string(spec.item_bytes());
  }
  if (!spec.is_sparse()) return "";
  int64_t before = -1;
  for (int64_t i = 0; i < num_bytes / spec.item_bytes(); ++i) {
    int32_t index = 0;
    std::memcpy(&index, row.data() + i * sizeof(index), sizeof(index));
    if (index <= before) {
      return "has index " + std::to_string(index) + " behind " + std::to_string(before);
    }
    if (index >= spec.num_columns) {
      return "has index " + std::to_string(index) + " of " + std::to_string(spec.num_columns) +
             " columns";
    }
    before = index;
  }
  return "";
}

}  // namespace vicinity
