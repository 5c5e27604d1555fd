#include "cache/arriving_rows.h"

#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/common/status.h"

namespace vicinity {

bool ArrivingRows::Grow(int64_t num_slots) {
  if (!slab_.Grow(num_slots)) return false;
  arrivals_.Grow(num_slots);
  return true;
}

absl::Status ArrivingRows::Deliver(const PoolBatch& batch, int64_t first,
                                   absl::Span<const char> rows) {
  VICINITY_RETURN_IF_ERROR(
      CheckDelivery(batch, first, static_cast<int64_t>(rows.size()), row_bytes_));
  const int64_t num_rows = static_cast<int64_t>(rows.size()) / row_bytes_;
  VICINITY_RETURN_IF_ERROR(arrivals_.Begin(batch, first, num_rows));
  // Outside any lock: until a row is there nobody else looks at its bytes.
  for (int64_t i = 0; i < num_rows; ++i) {
    std::memcpy(Row(batch.slots[batch.missing[first + i]]), rows.data() + i * row_bytes_,
                row_bytes_);
  }
  arrivals_.Finish(batch, first, num_rows, /*there=*/true);
  return absl::OkStatus();
}

}  // namespace vicinity
