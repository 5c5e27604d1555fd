// Keeps one shard of a live graph the same on all servers that have it.
//
// One of them writes. It sends each of the others what that one lacks of the change log, and hears
// how far it is then, on disk:
//
//   writer: its feed of a server               the other server
//     who writes (term), after, changes  --->    a lower term than known: not taken
//                                                a higher one: known from now on, on disk
//                                                behind its last version: repeated, on disk
//     learns, or gives way               <---  the highest term known, and its position
//
// Without changes that is a question, asked again every second: so a writer that another has
// followed meanwhile (`vicinity promote`) finds out, and until all others have been tried once it
// takes no changes.
//
// The first version that a writer makes in its term is an empty one of its own. A version counts as
// kept by most servers once one of the writer's term is: what they have of terms before could still
// be set aside, for a server that has a later term's.
//
// Another server shows its readers what it hears that the writer shows; versions of the writer's
// term at once where two servers are more than half.
//
// A server that begins with an empty log, because it is new or its disk is, may lack what it has
// acknowledged before. It is marked (LiveShard::catching_up) until it has what the writer had when
// that first told it how far it is. A writer that begins so is unmarked when more than half of the
// servers, with itself, have nothing that it has not.
//
// A server whose log is no beginning of the writer's has changes that no later writer took over: it
// is told to set them aside, and gets all from the first one on. A writer that has lost changes of
// its own term, or that it was appointed, takes no others, and overwrites nothing: it tells nobody
// to set changes aside, and nobody sets changes of its term or a later one aside for it. Nor does
// one take any whose log has changes of a later term than it knows a writer of, which a backup was.
#pragma once

#include <spdlog/logger.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "proto/service.pb.h"
#include "server/replication/other_server.h"

namespace vicinity {

// Threads:  any; one of its own for each other server.
// Lifetime: the changes outlive it. Stop, or the destructor, waits for calls to end, which it ends.
class ShardKeeper {
 public:
  struct Options {
    ShardId shard;
    std::string self;  // this server's name
    uint64_t fingerprint = 0;
    std::vector<std::unique_ptr<OtherServer>> others;  // of the shard, at least one
    absl::Duration ask_every = absl::Seconds(1);
    absl::Duration call_limit = absl::Seconds(10);     // of one with changes
    absl::Duration question_limit = absl::Seconds(2);  // of one without
  };

  ShardKeeper(LiveDataset* live, Options options, std::shared_ptr<spdlog::logger> log);
  ~ShardKeeper();
  ShardKeeper(const ShardKeeper&) = delete;
  ShardKeeper& operator=(const ShardKeeper&) = delete;

  // Until then nothing is sent. Once.
  void Start();
  void Stop();

  // What a writer sends. InvalidArgument: this server's own name is the writer's, or one that has
  // not the shard, a term a million above the known one, or versions that do not follow each other;
  // FailedPrecondition: the writer would have changes set aside that it is to have made itself;
  // Unavailable: the shard starts over; else LiveDataset::Find's and LiveShard::Repeat's.
  absl::StatusOr<proto::ReplicateReply> Take(const proto::ReplicateRequest& request);

  struct Appointment {
    WriterTerm writer;
    LogPosition least;  // that this server must have come to, to be the writer
    // The writer sends what it has and takes no batches, until the next appointment, or until its
    // server ends.
    bool hands_over = false;
  };
  // Who writes the shard from now on, on disk when it returns. InvalidArgument as Take;
  // FailedPrecondition as LiveShard::Appoint, or the writer is to be this server, and it is not at
  // `least`.
  absl::Status Appoint(const Appointment& appointment);

  struct Known {
    WriterTerm writer;
    LogPosition position;  // on disk
    bool catching_up = false;
  };
  // Waits for the disk. Errors: LiveDataset::Find's; DeltaStore's.
  absl::StatusOr<Known> Read();

  // How many versions another server lacks; 0 while this server is not the writer, -1 while it is
  // not known. `other` counts in the order of the options.
  int64_t Behind(size_t other) const;
  size_t num_others() const { return feeds_.size(); }
  const std::string& other_name(size_t other) const { return feeds_[other]->server->name(); }

 private:
  // Of one other server.
  struct Feed {
    std::unique_ptr<OtherServer> server;
    // Of its thread:
    bool failing = false;  // the log has it
    uint64_t told = 0;     // that readers here see
    // Under mu_, changed by its thread alone:
    bool tried = false;  // it has answered this writer, or could not be reached
    bool known = false;  // where it is
    LogPosition position;
    std::string trouble;  // why this writer must not write
  };

  void Run(Feed* feed);
  // One question and what comes of it. False: there is nothing to do just now.
  bool Step(Feed* feed, LiveShard* shard, const WriterTerm& writer);
  absl::StatusOr<proto::ReplicateRequest> NextRequest(const Feed& feed, const LiveShard& shard,
                                                      const WriterTerm& writer) const;
  absl::Status AddChanges(const LiveShard& shard, proto::ReplicateRequest* request) const;
  void OnReply(Feed* feed, LiveShard* shard, const WriterTerm& writer,
               const proto::ReplicateReply& reply);
  void OnFailure(Feed* feed, LiveShard* shard, const absl::Status& why);
  // What is on disk may have to change when a server has answered.
  absl::Status Settle(LiveShard* shard);
  // Whether the shard may be written here, and what most servers have.
  void Conclude(LiveShard* shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Forget(Feed* feed);
  void Pause(absl::Duration duration);
  bool stopping() const;
  std::string Here() const;  // "shard 3"
  // Whether what a server and the writer have, more than half of the servers have.
  bool two_are_most() const { return feeds_.size() + 1 < 4; }
  // There is something to tell the server.
  bool LagsBehind(const Feed& feed, const LiveShard& shard) const;

  absl::Status Check(const WriterTerm& writer, const LiveShard& shard) const;
  absl::Status CheckSetAside(const WriterTerm& writer, const LiveShard& shard) const;
  absl::Status StartOver(const WriterTerm& writer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(take_mu_);
  absl::Status Repeat(const proto::ReplicateRequest& request, LiveShard* shard)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(take_mu_);
  // Behind changes of the writer's, which are on disk.
  absl::Status CatchUp(const proto::ReplicateRequest& request, LiveShard* shard)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(take_mu_);

  LiveDataset* const live_;
  const ShardId shard_;
  const std::string self_;
  const uint64_t fingerprint_;
  const absl::Duration ask_every_;
  const absl::Duration call_limit_;
  const absl::Duration question_limit_;
  const std::shared_ptr<spdlog::logger> log_;  // with whoever gave it

  Mutex take_mu_;  // held while others' changes are taken, and while somebody is appointed
  bool starts_over_ ABSL_GUARDED_BY(take_mu_) = false;
  // While it catches up: with whom, and the version that has to be there. Of a term without a name:
  // nobody has said yet.
  WriterTerm catches_up_with_ ABSL_GUARDED_BY(take_mu_);
  uint64_t catches_up_to_ ABSL_GUARDED_BY(take_mu_) = 0;
  mutable Mutex mu_;
  CondVar changed_;  // there may be something to do
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  bool is_of_most_ ABSL_GUARDED_BY(mu_) = false;    // the log has all that more than half have
  uint64_t handing_over_ ABSL_GUARDED_BY(mu_) = 0;  // the term in which nothing is taken
  std::vector<std::unique_ptr<Feed>> feeds_;
  std::vector<std::thread> threads_;  // last: they use all above
};

}  // namespace vicinity
