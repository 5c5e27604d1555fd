#include "client/cli/commands/operate/rollout.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using Versions = std::map<int32_t, uint64_t>;  // by shard; of live ones alone

Versions VersionsOf(const proto::StatusReply& status) {
  Versions versions;
  for (const proto::ShardStatus& shard : status.shards()) {
    if (shard.has_position()) versions[shard.shard()] = shard.position().version();
  }
  return versions;
}

// Why the server cannot do its part, though it answers; empty: it can.
std::string Trouble(const RolloutServer& server, const proto::StatusReply& status) {
  for (const int32_t shard : server.shards) {
    const auto& shards = status.shards();
    const auto found = std::find_if(shards.begin(), shards.end(),
                                    [shard](const auto& one) { return one.shard() == shard; });
    if (found == shards.end()) return absl::StrCat("it does not serve shard ", shard);
    if (!found->fault().empty()) return absl::StrCat("shard ", shard, ": ", found->fault());
  }
  return "";
}

// What the others have of the server's live shards.
Versions Goal(const std::vector<RolloutServer>& servers, size_t server, const RolloutCalls& calls) {
  Versions goal;
  for (size_t other = 0; other < servers.size(); ++other) {
    if (other == server) continue;
    const absl::StatusOr<proto::StatusReply> status = calls.look(servers[other].name);
    if (!status.ok()) continue;
    for (const auto& [shard, version] : VersionsOf(*status)) {
      const auto& own = servers[server].shards;
      if (std::find(own.begin(), own.end(), shard) == own.end()) continue;
      goal[shard] = std::max(goal[shard], version);
    }
  }
  return goal;
}

// The first shard that lacks something; empty: none does.
std::string Lacking(const proto::StatusReply& status, const Versions& goal) {
  const Versions versions = VersionsOf(status);
  for (const auto& [shard, version] : goal) {
    const auto found = versions.find(shard);
    const uint64_t has = found == versions.end() ? 0 : found->second;
    if (has < version) {
      return absl::StrCat("shard ", shard, " is at version ", has, ", others at ", version);
    }
  }
  return "";
}

// Calls `lacking` until it says nothing. DeadlineExceeded with what it said last.
absl::Status WaitUntil(const std::string& server, absl::Duration limit,
                       const RolloutOptions& options, const RolloutCalls& calls,
                       const std::function<std::string()>& lacking) {
  const absl::Time end = calls.now() + limit;
  std::string told;
  while (true) {
    const std::string wants = lacking();
    if (wants.empty()) return absl::OkStatus();
    if (calls.now() >= end) {
      return absl::DeadlineExceededError(
          absl::StrCat("server ", server, " after ", absl::FormatDuration(limit), ": ", wants));
    }
    if (wants != told) calls.tell(absl::StrCat(server, ": ", wants));
    told = wants;
    calls.sleep(options.between_looks);
  }
}

// The process that a server was when the rollout came to it.
class Process {
 public:
  Process(const absl::StatusOr<proto::StatusReply>& status, absl::Time begin)
      : uptime_(status.ok() ? status->uptime_seconds() : -1), begin_(begin) {}

  // Whether this is its answer, to a question of that time: it has been there for longer since.
  bool IsOf(const proto::StatusReply& status, absl::Time asked) const {
    constexpr double kRounding = 0.01;
    return uptime_ >= 0 &&
           status.uptime_seconds() >= uptime_ + absl::ToDoubleSeconds(asked - begin_) - kRounding;
  }

 private:
  const double uptime_;  // -1: there was none
  const absl::Time begin_;
};

// Ends early if something else has started the server again.
absl::Status Drain(const RolloutServer& server, const Process& before,
                   const RolloutOptions& options, const RolloutCalls& calls) {
  calls.tell(absl::StrCat(server.name, ": draining"));
  VICINITY_RETURN_IF_ERROR(calls.drain(server.name));
  const absl::Status gone =
      WaitUntil(server.name, options.drain_limit, options, calls, [&]() -> std::string {
        if (!calls.runs(server.name)) return "";
        const absl::Time asked = calls.now();
        const absl::StatusOr<proto::StatusReply> now = calls.look(server.name);
        return now.ok() && !before.IsOf(*now, asked) ? "" : "calls are still under way";
      });
  if (!gone.ok()) calls.tell(absl::StrCat(gone.message(), "; the command goes on from there"));
  return absl::OkStatus();
}

// From the drain until it is as well as before.
absl::Status Renew(const std::vector<RolloutServer>& servers, size_t server,
                   const RolloutOptions& options, const RolloutCalls& calls) {
  const RolloutServer& own = servers[server];
  const absl::StatusOr<proto::StatusReply> before = calls.look(own.name);
  const Process process(before, calls.now());
  if (own.drains && before.ok()) {
    VICINITY_RETURN_IF_ERROR(Drain(own, process, options, calls));
  }
  calls.tell(absl::StrCat(own.name, ": restarting"));
  VICINITY_RETURN_IF_ERROR(At(absl::StrCat("server ", own.name), calls.restart(own.name)));
  std::unique_ptr<Versions> goal;
  return WaitUntil(own.name, options.ready_limit, options, calls, [&]() -> std::string {
    const absl::Time asked = calls.now();
    const absl::StatusOr<proto::StatusReply> now = calls.look(own.name);
    if (!now.ok()) return std::string(now.status().message());
    if (process.IsOf(*now, asked)) {
      return "still the process from before: the command did not restart it";
    }
    if (before.ok() && now->fingerprint() != before->fingerprint()) {
      return "serves another dataset than before";
    }
    const std::string trouble = Trouble(own, *now);
    if (!trouble.empty()) return trouble;
    if (goal == nullptr) goal = std::make_unique<Versions>(Goal(servers, server, calls));
    return Lacking(*now, *goal);
  });
}

}  // namespace

absl::Status CheckAllReady(const std::vector<RolloutServer>& servers, const RolloutCalls& calls) {
  std::vector<std::string> unwell;
  for (const RolloutServer& server : servers) {
    const absl::StatusOr<proto::StatusReply> status = calls.look(server.name);
    const std::string trouble =
        status.ok() ? Trouble(server, *status) : std::string(status.status().message());
    if (!trouble.empty()) unwell.push_back(absl::StrCat(server.name, ": ", trouble));
  }
  if (unwell.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("not all servers are well: ", absl::StrJoin(unwell, "; ")));
}

std::vector<int32_t> OnlyThere(const std::vector<RolloutServer>& servers, size_t server) {
  std::vector<int32_t> alone;
  for (const int32_t shard : servers[server].shards) {
    int have = 0;
    for (const RolloutServer& other : servers) {
      have += std::count(other.shards.begin(), other.shards.end(), shard) > 0 ? 1 : 0;
    }
    if (have == 1) alone.push_back(shard);
  }
  return alone;
}

absl::Status RollServer(const std::vector<RolloutServer>& servers, size_t server,
                        const RolloutOptions& options, const RolloutCalls& calls) {
  const RolloutServer& own = servers[server];
  std::vector<int32_t> written;
  if (own.hands_over) {
    VICINITY_ASSIGN_OR_RETURN(written, calls.hand_over(own.name));
    if (!written.empty()) {
      calls.tell(absl::StrCat(own.name, ": others write shard ", absl::StrJoin(written, ", ")));
    }
  }
  VICINITY_RETURN_IF_ERROR(Renew(servers, server, options, calls));
  if (written.empty()) return absl::OkStatus();
  calls.tell(absl::StrCat(own.name, ": writes shard ", absl::StrJoin(written, ", "), " again"));
  return At(absl::StrCat("server ", own.name, " is well"), calls.hand_back(own.name, written));
}

}  // namespace vicinity::cli
