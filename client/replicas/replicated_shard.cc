#include "client/replicas/replicated_shard.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "client/replicas/replica_question.h"
#include "client/shards/request_parts.h"
#include "client/shards/thread_cancellation.h"

namespace vicinity {
namespace {

class ReplicatedShard final : public AnswersAlike<ReplicatedShard> {
 public:
  ReplicatedShard(ShardId shard, std::vector<ShardReplica> replicas, int width,
                  const CallTools& tools)
      : set_(shard, std::move(replicas)), width_(width), tools_(tools) {}

  bool remote() const override { return true; }
  template <typename Request>
  void AskAny(const Request& request, const CallContext& given, Done done) {
    // Parts may be asked by other threads, which have other cancellations or none.
    CallContext context = given;
    if (context.cancel == nullptr) context.cancel = ThreadCancellation();
    AskInParts<Request>(
        request, request.max_elements(), width_,
        [this, context](const Request& part, Done part_done) {
          AskPart(part, context, std::move(part_done));
        },
        std::move(done));
  }

 private:
  // Of replicas some are behind: what was seen of a live graph, or written to it, stays there.
  // Unless it is gone with the server that had it: then what is left is read.
  template <typename Request>
  void AskPart(const Request& part, CallContext context, Done done) {
    if (set_.size() == 1) return Start(part, context, std::move(done));
    context.seen = &seen_;
    const ReadAt least = context.at;
    const LogPosition seen = seen_.Get();
    if (seen.version <= least.version || least.exactly || QuestionOf(part).of_writer) {
      return Start(part, context, std::move(done));
    }
    context.at = {seen.version, /*exactly=*/false, seen.term};
    Start(part, context,
          [this, part, context, least, seen, done = std::move(done)](absl::Status status) mutable {
            if (!absl::IsOutOfRange(status)) return done(std::move(status));
            seen_.Forget(seen);
            context.at = least;
            Start(part, context, std::move(done));
          });
  }
  template <typename Request>
  void Start(const Request& part, const CallContext& context, Done done) {
    ReplicaCall::Start(tools_, &set_, QuestionOf(part), context, std::move(done));
  }

  ReplicaSet set_;
  const int width_;
  const CallTools tools_;
  SeenVersion seen_;
};

}  // namespace

std::unique_ptr<ShardAccess> MakeReplicatedShard(ShardId shard, std::vector<ShardReplica> replicas,
                                                 int width, const CallTools& tools) {
  return std::make_unique<ReplicatedShard>(shard, std::move(replicas), width, tools);
}

}  // namespace vicinity
