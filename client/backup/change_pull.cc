#include "client/backup/change_pull.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/shards/call_context.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_requests.h"
#include "proto/common/status.h"
#include "proto/limits.h"

namespace vicinity {
namespace {

// A page of changes: more of them next time while it is smaller, fewer when it is larger.
constexpr int64_t kPullBytes = int64_t{8} << 20;
constexpr uint64_t kFirstPage = 8;

absl::StatusOr<std::vector<proto::Change>> ReadPage(const ShardRouter& router, ShardId shard,
                                                    uint64_t after,
                                                    std::optional<uint64_t> after_term,
                                                    uint64_t count, Reach reach) {
  std::vector<proto::Change> changes;
  CallContext context = StartOperation();
  if (reach == Reach::kKnown) context.at.version = after + count;
  FanOut calls;
  router.shard(shard).Ask(ShardChanges{after, after_term, count, &changes}, context, calls.Add());
  VICINITY_RETURN_IF_ERROR(calls.Wait());
  if (!changes.empty()) return changes;
  return absl::DataLossError(
      absl::StrCat("shard ", shard.value, " has no version ", after + 1, " any more"));
}

}  // namespace

absl::Status PullChanges(const ShardRouter& router, ShardId shard, uint64_t after,
                         std::optional<uint64_t> after_term, uint64_t until, Reach reach,
                         const std::function<absl::Status(proto::Change)>& take) {
  uint64_t page = kFirstPage;
  while (after < until) {
    VICINITY_ASSIGN_OR_RETURN(
        std::vector<proto::Change> changes,
        ReadPage(router, shard, after, after_term, std::min(page, until - after), reach));
    int64_t bytes = 0;
    for (proto::Change& change : changes) {
      bytes += static_cast<int64_t>(change.ByteSizeLong());
      after = change.version();
      after_term = change.term();
      VICINITY_RETURN_IF_ERROR(take(std::move(change)));
    }
    page = bytes > 2 * kPullBytes ? std::max<uint64_t>(page / 2, 1)
           : bytes < kPullBytes   ? std::min<uint64_t>(2 * page, kMaxRequestChanges)
                                  : page;
  }
  return absl::OkStatus();
}

}  // namespace vicinity
