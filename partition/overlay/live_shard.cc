#include "partition/overlay/live_shard.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "partition/overlay/batch_check.h"
#include "partition/overlay/change.h"
#include "proto/common/status.h"

namespace vicinity {

// One caller's batch on its way.
struct LiveShard::Pending {
  proto::Change change;
  Durability durability = Durability::kSync;
  int64_t bytes = 0;
  // Of who has the shard's lock:
  std::optional<absl::StatusOr<AppliedBatch>> answer;
};

LiveShard::LiveShard(std::unique_ptr<LiveState> state, const LiveShardOptions& options)
    : state_(std::move(state)),
      options_(options),
      room_(state_->store->folder(), options.least_free_bytes, options.free_bytes) {}

LiveShard::~LiveShard() = default;

absl::StatusOr<std::unique_ptr<LiveShard>> LiveShard::Open(const LiveBase& base,
                                                           const std::string& folder,
                                                           const LiveShardOptions& options) {
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<DeltaStore> store,
                            DeltaStore::Open(folder, base.Identity(), options.store));
  auto state = std::make_unique<LiveState>(base, std::move(store), options.row_cache_bytes,
                                           options.list_cache_bytes);
  std::unique_ptr<LiveShard> shard(new LiveShard(std::move(state), options));
  VICINITY_RETURN_IF_ERROR(shard->Replay());
  return shard;
}

absl::Status LiveShard::Replay() {
  proto::Change change;
  VICINITY_RETURN_IF_ERROR(
      state_->store->Replay([&](uint64_t version, std::string_view bytes) -> absl::Status {
        if (!change.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
            change.version() != version) {
          return absl::DataLossError(absl::StrCat(state_->store->folder(), ": version ", version,
                                                  " of the change log is no change"));
        }
        IndexChange(state_->base, change, &state_->index);
        sessions_.Add(change.session().id(), change.session().sequence(), version);
        return absl::OkStatus();
      }));
  version_ = state_->store->last_version();
  return absl::OkStatus();
}

absl::StatusOr<AppliedBatch> LiveShard::Apply(const proto::WriteSession& session,
                                              proto::WriteBatch batch, Durability durability,
                                              absl::Time deadline) {
  proto::Change change;
  *change.mutable_session() = session;
  *change.mutable_batch() = std::move(batch);
  return Apply(std::move(change), durability, deadline);
}

absl::StatusOr<AppliedBatch> LiveShard::Apply(proto::Change change, Durability durability,
                                              absl::Time deadline) {
  VICINITY_RETURN_IF_ERROR(CheckSession(change.session()));
  VICINITY_RETURN_IF_ERROR(CheckBatch(state_->base, change.batch()));
  auto pending = std::make_shared<Pending>();
  pending->bytes = static_cast<int64_t>(change.batch().ByteSizeLong());
  pending->change = std::move(change);
  pending->durability = durability;

  // By a clock that nobody sets.
  const auto until = std::chrono::steady_clock::now() +
                     absl::ToChronoNanoseconds(std::min(deadline - absl::Now(), absl::Hours(24)));
  MutexLock lock(&mu_);
  if (queued_bytes_ + pending->bytes > options_.pending_bytes && !queue_.empty()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("shard ", state_->base.shard.id().value, " has ", queued_bytes_,
                     " bytes of changes waiting, and ", options_.pending_bytes, " may"));
  }
  queued_bytes_ += pending->bytes;
  queue_.push_back(pending);
  while (!pending->answer.has_value()) {
    const std::chrono::nanoseconds left = until - std::chrono::steady_clock::now();
    if (left.count() <= 0) {
      return absl::DeadlineExceededError("the change was not committed in time, but may be yet");
    }
    if (led_) {
      settled_.WaitFor(&mu_, std::min<std::chrono::nanoseconds>(left, std::chrono::seconds(1)));
      continue;
    }
    led_ = true;
    const std::vector<PendingPtr> group = TakeGroup();
    mu_.Unlock();
    CommitGroup(group);
    mu_.Lock();
    led_ = false;
    settled_.NotifyAll();
  }
  return *std::move(pending->answer);
}

std::vector<LiveShard::PendingPtr> LiveShard::TakeGroup() {
  std::vector<PendingPtr> group;
  int64_t bytes = 0;
  while (!queue_.empty() && bytes < options_.group_bytes) {
    bytes += queue_.front()->bytes;
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  queued_bytes_ -= bytes;
  return group;
}

// What is in the index but not committed nobody sees: its version is not given out.
void LiveShard::CommitGroup(const std::vector<PendingPtr>& group) {
  DeltaStore::Commit commit(*state_->store);
  const uint64_t before = version();
  group_.clear();
  bool durable = false;
  int64_t bytes = 0;
  for (const PendingPtr& pending : group) bytes += pending->bytes;
  const absl::Status room = room_.Check(bytes);
  std::vector<absl::StatusOr<AppliedBatch>> answers;
  for (const PendingPtr& pending : group) {
    answers.push_back(failed_.ok() ? Prepare(room, pending.get(), &commit) : failed_);
    durable |= answers.back().ok() && pending->durability == Durability::kSync;
  }
  if (failed_.ok()) failed_ = Write(commit, durable);
  if (failed_.ok()) version_.store(before + group_.size(), std::memory_order_release);
  MutexLock lock(&mu_);
  for (size_t i = 0; i < group.size(); ++i) {
    if (!failed_.ok() && answers[i].ok()) answers[i] = failed_;
    group[i]->answer = std::move(answers[i]);
  }
}

// Repeats alone have nothing to write, but may ask for more than they got before.
absl::Status LiveShard::Write(const DeltaStore::Commit& commit, bool durable) {
  if (!group_.empty()) return state_->store->Write(commit, durable);
  return durable ? state_->store->Sync() : absl::OkStatus();
}

absl::StatusOr<AppliedBatch> LiveShard::Prepare(const absl::Status& room, Pending* pending,
                                                DeltaStore::Commit* commit) {
  proto::Change& change = pending->change;
  VICINITY_ASSIGN_OR_RETURN(const std::optional<uint64_t> known,
                            sessions_.Find(change.session().id(), change.session().sequence()));
  if (known.has_value()) return AnswerAgain(*known);
  VICINITY_RETURN_IF_ERROR(room);
  VICINITY_RETURN_IF_ERROR(ResolveChange(state_->base, state_->files, state_->index, &change));
  change.set_version(version() + group_.size() + 1);
  if (change.unix_micros() == 0) change.set_unix_micros(absl::ToUnixMicros(absl::Now()));
  if (absl::Status put = PutChange(state_->base, &change, commit); !put.ok()) {
    failed_ = put;  // half of it may be in the commit
    return put;
  }
  {
    const std::unique_lock<std::shared_mutex> lock(state_->mu);
    IndexChange(state_->base, change, &state_->index);
  }
  sessions_.Add(change.session().id(), change.session().sequence(), change.version());
  group_.push_back(AnswerOf(change));
  return group_.back();
}

absl::StatusOr<AppliedBatch> LiveShard::AnswerAgain(uint64_t version) const {
  AppliedBatch answer;
  if (const uint64_t committed = this->version(); version > committed) {
    answer = group_[version - committed - 1];
  } else {
    VICINITY_ASSIGN_OR_RETURN(const proto::Change change, ReadLogged(version));
    answer = AnswerOf(change);
  }
  answer.repeated = true;
  return answer;
}

absl::StatusOr<proto::Change> LiveShard::ReadChange(uint64_t version) const {
  VICINITY_ASSIGN_OR_RETURN(proto::Change change, ReadLogged(version));
  VICINITY_RETURN_IF_ERROR(FillChange(state_->base, *state_->store, &change));
  return change;
}

absl::Status LiveShard::Repeat(proto::Change change, Durability durability, absl::Time deadline) {
  if (change.version() != version() + 1) {
    return absl::InvalidArgumentError(absl::StrCat("version ", change.version(), " of shard ",
                                                   state_->base.shard.id().value, ", where ",
                                                   version() + 1, " comes next"));
  }
  AppliedBatch was = AnswerOf(change);
  change.clear_version();
  change.clear_first_nodes();
  change.clear_first_edges();
  for (proto::EdgeRows& part : *change.mutable_batch()->mutable_edge_rows()) {
    part.mutable_edges()->clear_positions();
  }
  for (proto::EdgeNames& part : *change.mutable_batch()->mutable_gone_edges()) {
    part.clear_positions();
  }
  VICINITY_ASSIGN_OR_RETURN(const AppliedBatch is, Apply(std::move(change), durability, deadline));
  if (is.version == was.version && is.first_nodes == was.first_nodes &&
      is.first_edges == was.first_edges) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat("version ", was.version, " of shard ",
                                          state_->base.shard.id().value,
                                          " did not become again what it was"));
}

absl::StatusOr<proto::Change> LiveShard::ReadLogged(uint64_t version) const {
  VICINITY_ASSIGN_OR_RETURN(const std::string bytes, state_->store->ReadChange(version));
  proto::Change change;
  if (change.ParseFromString(bytes)) return change;
  return absl::DataLossError(absl::StrCat(state_->store->folder(), ": version ", version,
                                          " of the change log is no change"));
}

AppliedBatch LiveShard::AnswerOf(const proto::Change& change) const {
  const LiveBase& base = state_->base;
  AppliedBatch answer;
  answer.version = change.version();
  for (int p = 0; p < change.first_nodes_size(); ++p) {
    const GrownIds ids = base.NodeIds(change.batch().new_nodes(p).node_type());
    answer.first_nodes.push_back(
        ids.IdOf(base.shard.id(), static_cast<int64_t>(change.first_nodes(p))));
  }
  for (int p = 0; p < change.first_edges_size(); ++p) {
    const GrownIds ids = base.EdgeIds(change.batch().new_edges(p).edge_type());
    answer.first_edges.push_back(
        ids.IdOf(base.shard.id(), static_cast<int64_t>(change.first_edges(p))));
  }
  return answer;
}

absl::StatusOr<std::shared_ptr<const LiveView>> LiveShard::At(uint64_t at) const {
  const uint64_t last = version();
  if (at <= last) return std::make_shared<const LiveView>(*state_, at);
  return absl::OutOfRangeError(absl::StrCat("shard ", state_->base.shard.id().value,
                                            " is at version ", last, ", not yet at ", at));
}

ShardVersion LiveShard::SizesAt(uint64_t version) const {
  ShardVersion sizes;
  sizes.version = version;
  const std::shared_lock<std::shared_mutex> lock(state_->mu);
  for (size_t type = 0; type < state_->base.schema.node_types.size(); ++type) {
    sizes.num_nodes.push_back(state_->index.NumNodes(static_cast<int32_t>(type), version));
  }
  for (size_t type = 0; type < state_->base.schema.edge_types.size(); ++type) {
    sizes.num_edges.push_back(state_->index.NumEdges(static_cast<int32_t>(type), version));
  }
  return sizes;
}

int64_t LiveShard::memory_bytes() const {
  const std::shared_lock<std::shared_mutex> lock(state_->mu);
  return state_->index.memory_bytes() + state_->rows.bytes() + state_->lists.bytes();
}

}  // namespace vicinity
