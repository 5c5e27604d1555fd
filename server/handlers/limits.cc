#include "server/handlers/limits.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

absl::Status CheckRange(absl::string_view name, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, ", should be from ", least, " to ", most));
}

}  // namespace

absl::Status Limits::Validate() const {
  VICINITY_RETURN_IF_ERROR(CheckRange("max_ids", max_ids, 1, kMostIds));
  VICINITY_RETURN_IF_ERROR(CheckRange("max_sampled", max_sampled, 1, 1'000'000'000));
  // A chunk holds at least one neighbour; gRPC's default client takes 4 MiB.
  return CheckRange("max_chunk_bytes", max_chunk_bytes, 64, int64_t{2} << 20);
}

}  // namespace vicinity
