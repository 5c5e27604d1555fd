// The servers of one shard in one process: each has changes and a keeper of its own, and calls the
// others' keepers as a server would over the network, which can be cut.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "proto/admin.pb.h"
#include "server/replication/shard_keeper.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::testing {

// Threads: the one that made it; the keepers have theirs.
class ReplicaGroup {
 public:
  // Server 0 writes at first. All are up. `ask_every`: ShardKeeper::Options has it.
  explicit ReplicaGroup(int servers, absl::Duration ask_every = absl::Milliseconds(5));
  ~ReplicaGroup();

  static std::string NameOf(int server) { return std::string(1, static_cast<char>('a' + server)); }
  std::vector<std::string> names() const;
  int size() const { return static_cast<int>(servers_.size()); }

  void Start(int server);
  // As kill -9 of a process on a machine that stays up.
  void Stop(int server);
  bool is_up(int server) const;
  // Its changes are gone, which is a new disk. It must be down.
  void Wipe(int server);
  // A backup takes the place of its changes: a log, and nothing of who wrote it. It must be down.
  void Restore(int server, const std::vector<proto::Change>& log);
  std::vector<proto::Change> LogOf(int server) const;
  // Waits until others have asked it, or sent it something, so many times more. Fails the test
  // after half a minute.
  void AwaitAsked(int server, int64_t more) const;
  // Calls from one to the other and back do not get through.
  void Cut(int one, int other, bool is_cut);
  // The next call from one to the other is on its way until `meanwhile` is done.
  void During(int one, int other, const std::function<void()>& start,
              const std::function<void()>& meanwhile);

  std::shared_ptr<LiveShard> shard(int server) const;
  ShardKeeper& keeper(int server) const;
  // Batch `n` of NumberedBatch, `sequence` of the session. Unavailable: the server is down.
  absl::StatusOr<AppliedBatch> Apply(int server, const std::string& session, uint64_t sequence,
                                     uint64_t n, Durability durability, absl::Duration limit);
  // As the RPC.
  absl::StatusOr<proto::AppointReply> Appoint(int server, const proto::AppointRequest& request);

  // Waits until the servers that are up have the same log and show all of it, which takes most of
  // the servers, and one of them may be written: which.
  // Fails the test after half a minute.
  int AwaitSame();
  // The first version in which the logs of two servers differ, with all their rows; 0: in none.
  uint64_t DifferenceOf(int one, int other) const;
  std::string FolderOf(int server) const;

 private:
  class Link;
  struct Server;

  LiveDatasetOptions OptionsOf(int server) const;

  const absl::Duration ask_every_;
  const TempDir folder_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<LiveBase> base_;
  std::vector<std::unique_ptr<Server>> servers_;
};

}  // namespace vicinity::testing
