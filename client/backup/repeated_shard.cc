#include "client/backup/repeated_shard.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/overlay/live_values.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr absl::Duration kLongestCommit = absl::Minutes(1);

// A writer's session is random, and has this number once.
bool IsSame(const proto::Change& a, const proto::Change& b) {
  return a.session().id() == b.session().id() && a.session().sequence() == b.session().sequence() &&
         a.unix_micros() == b.unix_micros();
}

}  // namespace

absl::Status RepeatedShard::IsAnother() const {
  return absl::FailedPreconditionError(
      absl::StrCat(changes_, ": what was written to shard ", id_.value,
                   " there is not what is to be made again: take a folder of its own"));
}

absl::Status RepeatedShard::Take(proto::Change change) {
  if (change.version() < before_) return absl::OkStatus();
  if (change.version() == before_) {
    VICINITY_ASSIGN_OR_RETURN(const proto::Change there, shard_->ReadChange(before_));
    return IsSame(there, change) ? absl::OkStatus() : IsAnother();
  }
  return shard_->Repeat(std::move(change), Durability::kBuffered, absl::Now() + kLongestCommit);
}

absl::Status RepeatedShard::CheckReaches(uint64_t last) const {
  return before_ > last ? IsAnother() : absl::OkStatus();
}

}  // namespace vicinity
