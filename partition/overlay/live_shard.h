// A shard that is written while it is read: the files it was opened with, and what has changed
// since.
//
// A batch of changes becomes one version. It is acknowledged when it is on disk, or with the
// kernel, as its writer asked; then every new view has it, and no view that there is changes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "partition/dataset/shard_overlay.h"
#include "partition/overlay/change_cursors.h"
#include "partition/overlay/delta_store.h"
#include "partition/overlay/disk_room.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_values.h"
#include "partition/overlay/live_view.h"
#include "partition/overlay/store_number.h"
#include "partition/overlay/write_sessions.h"
#include "proto/common/mutex.h"
#include "proto/live.pb.h"

namespace vicinity {

struct LiveShardOptions {
  ShardServers servers{};
  DeltaStoreOptions store{};
  int64_t row_cache_bytes = int64_t{256} << 20;   // of changed rows, those that were read last
  int64_t list_cache_bytes = int64_t{256} << 20;  // of changed lists as they were put together
  // Of batches that wait to be committed; and of those that are committed together.
  int64_t pending_bytes = int64_t{64} << 20;
  int64_t group_bytes = int64_t{4} << 20;
  // That are to stay free on the disk: with less, reads go on and writes are refused.
  int64_t least_free_bytes = 0;
  DiskRoom::FreeBytes free_bytes{};  // null: as the system says
};

// Threads:  any number may write and read.
// Lifetime: the base and what it refers to outlive this; this outlives its views.
class LiveShard {
 public:
  // Reads the change log again. Errors: DeltaStore's; DataLoss naming a version that does not read.
  static absl::StatusOr<std::unique_ptr<LiveShard>> Open(const LiveBase& base,
                                                         const std::string& folder,
                                                         const LiveShardOptions& options);
  ~LiveShard();

  // Applies a batch whole or not at all. Batches of several callers are committed together.
  // kReplicated waits until Kept says that it is.
  //
  // Errors: InvalidArgument, AlreadyExists, NotFound: what is wrong with it
  // (partition/overlay/batch_check.h and change.h), OutOfRange: its session's
  // (partition/overlay/write_sessions.h); ResourceExhausted: too much waits, or the disk is full;
  // DeadlineExceeded: it may be applied yet; Unimplemented: refusal()'s; else DeltaStore's, after
  // which nothing is applied any more until the shard is opened again.
  //
  // The same batch is to be sent again after DeadlineExceeded, and after ResourceExhausted: one
  // that was being written as the disk got full is applied as soon as that has room, by the next
  // who writes.
  absl::StatusOr<AppliedBatch> Apply(const proto::WriteSession& session, proto::WriteBatch batch,
                                     Durability durability, absl::Time deadline);

  // Waits until all that was applied is on disk.
  absl::Status Sync();

  // The last version that everybody sees. One that was applied as kReplicated is seen when it is
  // that, so that nobody has read what no later writer has; all before one that is seen are.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  // The last one of the change log.
  uint64_t logged() const { return logged_.load(std::memory_order_acquire); }
  std::shared_ptr<const LiveView> Latest() const { return *At(version()); }
  // OutOfRange naming both if there is no such version yet, or the one that there is is not of
  // `term`, so that another version had the number, and was taken back.
  absl::StatusOr<std::shared_ptr<const LiveView>> At(
      uint64_t version, std::optional<uint64_t> term = std::nullopt) const;
  // OutOfRange, as above, unless this version has been and is of the term.
  absl::Status CheckTerm(uint64_t version, uint64_t term) const;

  // Sizes at a version that has been.
  ShardVersion SizesAt(uint64_t version) const;
  // What made a version that has been, with all its rows. DataLoss naming it if it does not read.
  absl::StatusOr<proto::Change> ReadChange(uint64_t version) const;
  // Makes the next version what it was in another store over the same files, whose changes come one
  // after the other. InvalidArgument for another version than the next, or of a term before the
  // last one's; DataLoss if it does not become the same; else as Apply, but for the refusal. Of a
  // session that is not known here the first one may have any number: the log of a folded dataset
  // goes on with sessions whose first batches are in its files.
  absl::Status Repeat(proto::Change change, Durability durability, absl::Time deadline);
  // The same as kBuffered, but nobody sees it before ShowUpTo.
  absl::Status RepeatUnseen(proto::Change change, absl::Time deadline);

  // Of a shard that several servers have (LiveShardOptions::servers):

  // Who writes it, as far as is known here; without a name where this server has it alone.
  WriterTerm writer() const;
  // Why this server does not; OK: it does.
  absl::Status refusal() const;
  // Says who does from now on: on disk, and for every batch that is not committed yet, when it
  // returns. FailedPrecondition naming both for a term that is not higher than the known one,
  // unless it is the same again.
  absl::Status Appoint(const WriterTerm& writer);
  // Makes the first version of this server's term, an empty one, unless there is one of the term,
  // or it does not write. It is on disk then, and seen when it is Kept: before it come batches that
  // are not yet replicated, and it must not show those. Errors as Apply.
  absl::Status BeginTerm(absl::Time deadline);
  // Until it is OK, batches are refused with this, though this server is the writer.
  void Hold(absl::Status why);
  // More than half of the servers have all versions up to this one on disk.
  void Kept(uint64_t version);
  // The change log up to this version is the writer's, too, and not to be taken back. Errors:
  // DeltaStore's.
  absl::Status ShowUpTo(uint64_t version);

  // It was empty when it was opened first, and CaughtUp has not said since that it has what the
  // other servers had then: it may lack what it acknowledged before its disk was lost. Of several
  // servers.
  bool catching_up() const { return catching_up_.load(std::memory_order_acquire); }
  absl::Status CaughtUp();  // on disk when it returns

  // Takes no new batches from now on, on disk and for every batch that is not committed yet when it
  // returns: `next_dataset`, a fingerprint, is to take this one's place. Repeat goes on; other
  // batches are Unavailable. 0: they are taken again. Errors: DeltaStore's.
  absl::Status Close(uint64_t next_dataset);
  // 0: it takes batches.
  uint64_t closed_for() const;
  // It has taken it: all is seen, batches that were applied are answered as they were, by whichever
  // server, and any other as one that never will be. Until the shard is opened again.
  void Retire();

  LogPosition position() const;  // of the change log's end
  // In which a version that has been was written; 0 of version 0.
  uint64_t TermOf(uint64_t version) const;
  // Waits until the change log has a version behind `logged`, or one behind `shown` is seen, or
  // Wake, or until then.
  void WaitBehind(uint64_t logged, uint64_t shown, absl::Time until) const;
  void Wake();

  // Of those who read the changes. Lives as long as this.
  ChangeCursors* cursors() const { return cursors_.get(); }

  int64_t memory_bytes() const;  // of what is known of changes, about
  // What RocksDB tells; 0 where it does not.
  int64_t store_number(StoreNumber which) const { return state_->store->number(which); }

 private:
  struct Pending;
  using PendingPtr = std::shared_ptr<Pending>;

  LiveShard(std::unique_ptr<LiveState> state, const LiveShardOptions& options);
  absl::Status ReadWriter();
  // What is kept beside the log: by whom it is written, and whether at all.
  absl::Status Save(const WriterTerm& writer, uint64_t closed_for)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Replay();
  void CountTerm(uint64_t version, uint64_t term) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  uint64_t LastTerm() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Nobody commits while it is led, and who leads waits for nobody.
  void TakeLead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndLead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Refusal() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Show(uint64_t version) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);  // and all before
  // Seen when it is committed, not when more than half of the servers have it.
  bool IsSeenAtOnce(const Pending& pending) const;
  absl::StatusOr<AppliedBatch> AwaitKept(AppliedBatch applied,
                                         std::chrono::steady_clock::time_point until);
  // Versions on their way to the disk, and what is to be known of them once they are there.
  struct Round {
    std::unique_ptr<DeltaStore::Commit> commit;
    uint64_t before = 0;            // the version that they come after
    std::vector<uint64_t> terms{};  // of each
    uint64_t shown = 0;             // seen, with all before
    bool durable = false;
  };

  std::vector<PendingPtr> TakeGroup() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Of a shard that this server has alone. Its log may have changes of a later term than it has
  // heard of a writer of, as after a restore, and readers may have seen more of that term than was
  // restored. So what is new is of a term of its own behind that, on disk when it returns.
  absl::Status BeginTermAlone() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // These only one at a time: of who leads.
  void CommitGroup(const std::vector<PendingPtr>& group);
  // Makes the versions seen that are on disk.
  void Publish(const Round& round);
  // If the disk was full: opens the store again once there is room, and brings to an end what was
  // on its way then. OK: it may be written.
  absl::Status MakeReady();
  // Once the store has been opened again.
  absl::Status Settle();
  // What the store says; nothing is written any more unless it is that the disk is full.
  absl::Status Remember(absl::Status written);
  // `room`: why what is new is not written.
  absl::StatusOr<AppliedBatch> Prepare(const absl::Status& room, Pending* pending,
                                       DeltaStore::Commit* commit);
  absl::Status Write(const Round& round);
  absl::StatusOr<AppliedBatch> AnswerAgain(uint64_t version) const;
  enum class Origin {
    kHere,          // a batch that a writer sent
    kElsewhere,     // made in another store: its term is its own, and it is never refused
    kNotSeenThere,  // ... and nobody sees it before ShowUpTo
  };
  // Without waiting until it is kept.
  absl::StatusOr<AppliedBatch> Commit(proto::Change change, Origin origin, Durability durability,
                                      std::chrono::steady_clock::time_point until);
  absl::Status RepeatAs(proto::Change change, Origin origin, Durability durability,
                        absl::Time deadline);
  // As the log has it.
  absl::StatusOr<proto::Change> ReadLogged(uint64_t version) const;
  AppliedBatch AnswerOf(const proto::Change& change) const;

  const std::unique_ptr<LiveState> state_;
  const LiveShardOptions options_;
  std::unique_ptr<ChangeCursors> cursors_;  // set when it is opened
  std::atomic<uint64_t> version_{0};
  std::atomic<uint64_t> logged_{0};
  std::atomic<bool> catching_up_{false};

  mutable Mutex mu_;
  mutable CondVar settled_;  // a group is committed, or what is said of writers and servers changes
  std::deque<PendingPtr> queue_ ABSL_GUARDED_BY(mu_);
  int64_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  bool led_ ABSL_GUARDED_BY(mu_) = false;  // somebody commits
  WriterTerm writer_ ABSL_GUARDED_BY(mu_);
  uint64_t closed_for_ ABSL_GUARDED_BY(mu_) = 0;
  bool retired_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status hold_ ABSL_GUARDED_BY(mu_);
  uint64_t kept_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t wakes_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<uint64_t, uint64_t> terms_ ABSL_GUARDED_BY(mu_);  // by the first version of each

  // Of who leads:
  absl::Status refusal_;     // as it was when the group was taken
  uint64_t term_ = 0;        // likewise
  bool only_known_ = false;  // likewise: whether it was retired
  WriteSessions sessions_;
  std::vector<AppliedBatch> group_;  // versions that are being committed, from the next one on
  absl::Status failed_;
  // That a full disk stopped: in the index, not seen, and perhaps in the store's log. Nothing else
  // is written before it.
  std::optional<Round> stopped_;
  std::chrono::steady_clock::time_point next_reopening_{};
  DiskRoom room_;
};

}  // namespace vicinity
