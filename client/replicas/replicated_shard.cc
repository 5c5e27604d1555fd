#include "client/replicas/replicated_shard.h"

#include <algorithm>
#include <utility>

#include "client/replicas/replica_questions.h"
#include "client/shards/piece_run.h"

namespace vicinity {
namespace {

constexpr int64_t kMostBytes = int64_t{32} << 20;
// What one request to a server holds, if its own limits are not narrower.
constexpr int64_t kMostIds = (int64_t{3} << 20) / 8;
constexpr int64_t kMostNames = 65536;

}  // namespace

ReplicatedShard::ReplicatedShard(ShardId shard, std::vector<ShardReplica> replicas, int width,
                                 const CallTools& tools)
    : set_(shard, std::move(replicas)), width_(width), tools_(tools) {}

void ReplicatedShard::Call(ReplicaQuestion question, Cancellation* cancel, Done done) {
  ReplicaCall::Start(tools_, &set_, std::move(question), cancel, std::move(done));
}

template <typename Request>
void ReplicatedShard::CallInParts(const Request& request, int64_t count, int64_t most,
                                  Cancellation* cancel, Done done) {
  if (count <= most) return Call(QuestionOf(request), cancel, std::move(done));
  RunPieces((count + most - 1) / most, width_,
            [=](int64_t i, Done part_done) {
              const Request part = Part(request, i * most, std::min(count, (i + 1) * most));
              Call(QuestionOf(part), cancel, std::move(part_done));
            },
            std::move(done));
}

void ReplicatedShard::SampleHop(const ShardHop& hop, absl::Span<Neighbors> out,
                                Cancellation* cancel, Done done) {
  Call(QuestionOf(hop, out), cancel, std::move(done));
}

void ReplicatedShard::FetchRows(const ShardRows& rows, Cancellation* cancel, Done done) {
  int64_t most = std::max<int64_t>(1, kMostBytes / rows.row_bytes);
  if (!rows.rows.empty()) most = std::min(most, kMostIds);
  CallInParts(rows, rows.num_rows(), most, cancel, std::move(done));
}

void ReplicatedShard::FetchNames(const ShardNames& names, Cancellation* cancel, Done done) {
  CallInParts(names, static_cast<int64_t>(names.rows.size()), kMostNames, cancel, std::move(done));
}

void ReplicatedShard::ResolveKeys(const ShardKeys& keys, Cancellation* cancel, Done done) {
  CallInParts(keys, static_cast<int64_t>(keys.keys.size()), kMostIds, cancel, std::move(done));
}

void ReplicatedShard::FetchRanking(const ShardRanking& ranking, Cancellation* cancel, Done done) {
  Call(QuestionOf(ranking), cancel, std::move(done));
}

}  // namespace vicinity
