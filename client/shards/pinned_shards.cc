#include "client/shards/pinned_shards.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_access.h"
#include "client/shards/shard_requests.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

class PinnedShard final : public AnswersAlike<PinnedShard> {
 public:
  // `shard` outlives it.
  PinnedShard(ShardAccess* shard, const VersionName& version) : shard_(shard), version_(version) {}

  bool remote() const override { return shard_->remote(); }
  template <typename Request>
  void AskAny(const Request& request, const CallContext& context, Done done) {
    CallContext pinned = context;
    pinned.at = {version_.version, /*exactly=*/true, version_.term};
    shard_->Ask(request, pinned, std::move(done));
  }

 private:
  ShardAccess* const shard_;
  const VersionName version_;
};

absl::StatusOr<std::vector<ShardVersion>> AskAll(const ShardRouter& router,
                                                 const CallContext& context, bool of_writer) {
  std::vector<ShardVersion> versions(router.book().num_shards());
  FanOut calls;
  for (int32_t s = 0; s < router.book().num_shards(); ++s) {
    router.shard(ShardId{s}).Ask(ShardBarrier{&versions[s], of_writer}, context, calls.Add());
  }
  VICINITY_RETURN_IF_ERROR(calls.Wait());
  return versions;
}

}  // namespace

absl::StatusOr<std::vector<ShardVersion>> ReadVersions(const ShardRouter& router,
                                                       const CallContext& context) {
  return AskAll(router, context, /*of_writer=*/true);
}

absl::StatusOr<std::vector<ShardVersion>> ReadVersionsThereAre(const ShardRouter& router,
                                                               const CallContext& context) {
  absl::StatusOr<std::vector<ShardVersion>> versions = AskAll(router, context, /*of_writer=*/true);
  if (!absl::IsUnavailable(versions.status())) return versions;
  return AskAll(router, context, /*of_writer=*/false);
}

absl::StatusOr<std::unique_ptr<ShardRouter>> PinShards(const ShardRouter& router,
                                                       absl::Span<const VersionName> versions,
                                                       const CallContext& context) {
  if (versions.size() != static_cast<size_t>(router.book().num_shards())) {
    return absl::InvalidArgumentError(absl::StrCat(
        versions.size(), " versions for ", router.book().num_shards(), " shards: each has one"));
  }
  std::vector<std::unique_ptr<ShardAccess>> shards;
  for (size_t s = 0; s < versions.size(); ++s) {
    shards.push_back(std::make_unique<PinnedShard>(&router.shard(ShardId{static_cast<int32_t>(s)}),
                                                   versions[s]));
  }
  auto pinned = std::make_unique<ShardRouter>(router.schema(), router.book(), std::move(shards),
                                              router.rankings());
  VICINITY_RETURN_IF_ERROR(AskAll(*pinned, context, /*of_writer=*/false).status());
  return pinned;
}

}  // namespace vicinity
