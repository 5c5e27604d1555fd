#include "client/replicas/replicated_shard.h"

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
          ReplicaCall::Start(tools_, &set_, QuestionOf(part), context, std::move(part_done));
        },
        std::move(done));
  }

 private:
  ReplicaSet set_;
  const int width_;
  const CallTools tools_;
};

}  // namespace

std::unique_ptr<ShardAccess> MakeReplicatedShard(ShardId shard, std::vector<ShardReplica> replicas,
                                                 int width, const CallTools& tools) {
  return std::make_unique<ReplicatedShard>(shard, std::move(replicas), width, tools);
}

}  // namespace vicinity
