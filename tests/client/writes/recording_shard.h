// A shard that takes changes as a server does, keeps what it was sent, and fails when told to.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/shards/shard_access.h"
#include "partition/overlay/write_sessions.h"
#include "proto/common/mutex.h"
#include "proto/live.pb.h"

namespace vicinity::testing {

// What becomes of one call for a write.
struct WriteFate {
  absl::Status status;   // ok: it is answered
  bool applied = false;  // of one that is not: before that
};

// The key of row r is 1000 x its shard + r.
//
// Threads: as ShardAccess.
class RecordingShard final : public AnswersAlike<RecordingShard> {
 public:
  static constexpr int64_t kFirstId = 100000;  // of what is new, plus the shard

  // Refuses batches for what they hold.
  using Judge = std::function<absl::Status(const proto::WriteBatch&)>;

  RecordingShard(int32_t shard, int32_t num_shards, int32_t num_node_types, int64_t num_nodes)
      : shard_(shard), num_shards_(num_shards), sizes_(num_node_types, num_nodes) {}

  bool remote() const override { return true; }
  template <typename Request>
  void AskAny(const Request& request, const CallContext& /*context*/, const Done& done) {
    const absl::Status answer = Answer(request);
    {
      MutexLock lock(&mu_);
      if (holds_) {
        held_.push_back([done, answer] { done(answer); });
        return;
      }
    }
    done(answer);
  }

  // Keeps its answers, until it is to hold no more.
  void Hold() {
    MutexLock lock(&mu_);
    holds_ = true;
  }
  void LetGo() {
    std::vector<std::function<void()>> held;
    {
      MutexLock lock(&mu_);
      holds_ = false;
      held.swap(held_);
    }
    for (const auto& answer : held) answer();
  }

  // A key that is listed here, and who has it. Before any call.
  void List(uint64_t key, int64_t node) { nodes_[key] = node; }
  // Has so many nodes of each type from now on. Before any call.
  void set_num_nodes(int64_t count) { sizes_.assign(sizes_.size(), count); }
  int64_t num_barriers() const { return num_barriers_; }
  void set_judge(Judge judge) { judge_ = std::move(judge); }
  // Of the next calls, each in its turn; those behind them are answered.
  void AddFates(const std::vector<WriteFate>& fates) {
    MutexLock lock(&mu_);
    fates_.insert(fates_.end(), fates.begin(), fates.end());
  }
  // As a server that was away for long.
  void ForgetSessions() {
    MutexLock lock(&mu_);
    sessions_ = WriteSessions();
  }

  std::vector<proto::WriteBatch> applied() const {
    MutexLock lock(&mu_);
    return applied_;
  }
  std::vector<proto::WriteSession> sent() const {  // all that came, repeats too
    MutexLock lock(&mu_);
    return sent_;
  }

 private:
  template <typename Request>
  absl::Status Answer(const Request& /*request*/) {
    return absl::UnimplementedError("not asked of this shard");
  }
  absl::Status Answer(const ShardBarrier& barrier) {
    ++num_barriers_;
    barrier.out->num_nodes = sizes_;
    return absl::OkStatus();
  }
  absl::Status Answer(const ShardRows& rows) {
    auto* const keys = reinterpret_cast<uint64_t*>(rows.out);
    for (size_t i = 0; i < rows.rows.size(); ++i) {
      keys[rows.positions[i]] = 1000 * shard_ + rows.rows[i];
    }
    return absl::OkStatus();
  }
  absl::Status Answer(const ShardKeys& keys) {
    for (size_t i = 0; i < keys.keys.size(); ++i) {
      const auto found = nodes_.find(keys.keys[i]);
      keys.out[keys.positions[i]] = found == nodes_.end() ? -1 : found->second;
    }
    return absl::OkStatus();
  }
  absl::Status Answer(const ShardWrite& write) {
    MutexLock lock(&mu_);
    sent_.push_back(*write.session);
    WriteFate fate;
    if (!fates_.empty()) {
      fate = fates_.front();
      fates_.pop_front();
    }
    if (!fate.status.ok() && !fate.applied) return fate.status;
    const absl::StatusOr<std::optional<uint64_t>> known =
        sessions_.Find(write.session->id(), write.session->sequence());
    if (!known.ok()) return known.status();
    if (known->has_value()) {
      *write.out = answers_[**known - 1];
      write.out->repeated = true;
      return fate.status;
    }
    const absl::Status judged = judge_ ? judge_(*write.batch) : absl::OkStatus();
    if (!judged.ok()) return judged;
    *write.out = Apply(*write.batch);
    sessions_.Add(write.session->id(), write.session->sequence(), write.out->version);
    return fate.status;
  }

  AppliedBatch Apply(const proto::WriteBatch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    AppliedBatch answer;
    for (const proto::NewNodes& part : batch.new_nodes()) {
      answer.first_nodes.push_back(kFirstId + num_new_nodes_ * num_shards_ + shard_);
      num_new_nodes_ += part.keys_size();
    }
    for (const proto::NewEdges& part : batch.new_edges()) {
      answer.first_edges.push_back(kFirstId + num_new_edges_ * num_shards_ + shard_);
      num_new_edges_ += part.targets_size();
    }
    applied_.push_back(batch);
    answer.version = applied_.size();
    answers_.push_back(answer);
    return answer;
  }

  const int32_t shard_;
  const int32_t num_shards_;
  std::vector<int64_t> sizes_;
  std::atomic<int64_t> num_barriers_{0};
  std::map<uint64_t, int64_t> nodes_;
  Judge judge_;
  mutable Mutex mu_;
  std::deque<WriteFate> fates_ ABSL_GUARDED_BY(mu_);
  WriteSessions sessions_ ABSL_GUARDED_BY(mu_);
  std::vector<proto::WriteSession> sent_ ABSL_GUARDED_BY(mu_);
  std::vector<proto::WriteBatch> applied_ ABSL_GUARDED_BY(mu_);
  std::vector<AppliedBatch> answers_ ABSL_GUARDED_BY(mu_);
  int64_t num_new_nodes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t num_new_edges_ ABSL_GUARDED_BY(mu_) = 0;
  bool holds_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::function<void()>> held_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity::testing
