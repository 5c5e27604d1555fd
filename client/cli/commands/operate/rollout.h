// Restarting the servers of a cluster one after the other, each only when all others are well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/service.pb.h"

namespace vicinity::cli {

struct RolloutServer {
  std::string name;
  std::vector<int32_t> shards;  // as the cluster file says
  bool drains = true;           // it has an admin address, and is to be drained first
  bool hands_over = false;      // it may write shards of a live graph that others have, too
};

struct RolloutOptions {
  absl::Duration drain_limit = absl::Seconds(60);   // for a drained server to be gone
  absl::Duration ready_limit = absl::Seconds(300);  // from the end of the command
  absl::Duration between_looks = absl::Milliseconds(500);
};

// What a rollout does to the world. Servers go by their names.
struct RolloutCalls {
  // Lets other servers write what this one does of shards that they have, too; those shards.
  std::function<absl::StatusOr<std::vector<int32_t>>(const std::string& server)> hand_over;
  // Lets it write them again.
  std::function<absl::Status(const std::string& server, const std::vector<int32_t>& shards)>
      hand_back;
  std::function<absl::Status(const std::string& server)> drain;
  // Whether a server that drains is still there: it answers at its admin address until all else of
  // it has ended, and a signal before that would cut off calls.
  std::function<bool(const std::string& server)> runs;
  std::function<absl::Status(const std::string& server)> restart;  // runs the command to its end
  // The status of a server that serves; an error, with the reason, for another.
  std::function<absl::StatusOr<proto::StatusReply>(const std::string& server)> look;
  std::function<absl::Time()> now;
  std::function<void(absl::Duration)> sleep;
  std::function<void(const std::string& line)> tell;  // what is under way, for people
};

// FailedPrecondition naming the servers that do not serve, or whose shards are faulty or missing:
// with them away one more would be one too many.
absl::Status CheckAllReady(const std::vector<RolloutServer>& servers, const RolloutCalls& calls);

// Shards that no other server has: nobody has their rows while the server is away.
std::vector<int32_t> OnlyThere(const std::vector<RolloutServer>& servers, size_t server);

// Lets others write its shards, drains the server, runs the command, and waits until the server
//   1. is another process than before,
//   2. serves, with all its shards sound and of the dataset that it had,
//   3. has of each live shard what any other server had when it was ready;
// then it writes again what it wrote before. So writers wait for two promotions of a shard, and not
// for a restart. Every wait ends: DeadlineExceeded with what it waited for. What a call said if it
// fails, and nothing after it is done; with nothing drained or restarted yet if that was hand_over.
// A drain that does not end the server is no failure, the command may.
absl::Status RollServer(const std::vector<RolloutServer>& servers, size_t server,
                        const RolloutOptions& options, const RolloutCalls& calls);

}  // namespace vicinity::cli
