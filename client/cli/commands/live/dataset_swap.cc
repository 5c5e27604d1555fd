#include "client/cli/commands/live/dataset_swap.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

// Of one request.
constexpr int64_t kMostBytes = int64_t{1} << 20;
constexpr int kMostChanges = 4096;
// How far behind the last version the old dataset is when it is closed, and how often it is tried
// to get so near before that: somebody may write faster than this carries.
constexpr uint64_t kNear = 512;
constexpr int kMostRounds = 1000;
constexpr int kMostTries = 20;  // of a commit that is not answered

bool Same(const proto::LogPosition& a, const proto::LogPosition& b) {
  return a.version() == b.version() && a.term() == b.term();
}

class Swapper {
 public:
  Swapper(const SwapOptions& options, const SwapCalls& calls, Progress* progress)
      : options_(options),
        calls_(calls),
        progress_(progress),
        known_(options.servers.size()),
        read_(options.folded_at),
        last_terms_(options.folded_terms) {}

  absl::StatusOr<SwapReport> Run() {
    VICINITY_RETURN_IF_ERROR(TellAll(proto::SWAP_ASK));
    SwapReport report;
    report.was_done = CountDone() == known_.size();
    if (report.was_done) return report;
    const absl::Time begun = absl::Now();
    absl::Time closed = begun;
    // Who has committed knew that all had everything.
    if (CountDone() == 0) VICINITY_RETURN_IF_ERROR(BringOver(&closed));
    VICINITY_RETURN_IF_ERROR(Commit());
    report.writers_waited = absl::Now() - closed;
    for (size_t s = 0; s < read_.size(); ++s) {
      report.carried.push_back(read_[s] - options_.folded_at[s]);
    }
    return report;
  }

  absl::Status Abort() {
    VICINITY_RETURN_IF_ERROR(TellAll(proto::SWAP_ASK));
    if (CountDone() > 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("the next dataset is in force on ", CountDone(), " of ", known_.size(),
                       " servers: the swap is to be run again, there is no way back"));
    }
    return TellAll(proto::SWAP_ABORT);
  }

 private:
  const std::string& NameOf(size_t server) const { return options_.servers[server].name; }

  absl::Status Tell(size_t server, proto::SwapStep step) {
    proto::SwapRequest request;
    request.set_step(step);
    request.set_fingerprint(options_.fingerprint);
    request.set_follows(options_.follows);
    if (step == proto::SWAP_PREPARE) request.set_data(options_.data);
    if (step == proto::SWAP_COMMIT) {
      request.mutable_folded_at()->Add(options_.folded_at.begin(), options_.folded_at.end());
    }
    auto reply = calls_.step(server, request);
    if (!reply.ok()) {
      return absl::Status(reply.status().code(),
                          absl::StrCat(NameOf(server), ": ", reply.status().message()));
    }
    known_[server] = *std::move(reply);
    return CheckServing(server);
  }

  absl::Status CheckServing(size_t server) const {
    const uint64_t serving = known_[server].serving();
    if (serving == options_.fingerprint || serving == options_.follows) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat(NameOf(server), ": dataset ", absl::Hex(serving, absl::kZeroPad16),
                     " is in force, neither ", absl::Hex(options_.follows, absl::kZeroPad16),
                     " nor its fold ", absl::Hex(options_.fingerprint, absl::kZeroPad16)));
  }

  // Each step asks all: one that does not answer keeps the others from nothing but going on.
  absl::Status TellAll(proto::SwapStep step) {
    absl::Status failed;
    std::vector<std::string> failures;
    for (size_t server = 0; server < known_.size(); ++server) {
      const absl::Status told = Tell(server, step);
      failed.Update(told);
      if (!told.ok()) failures.emplace_back(told.message());
    }
    return failed.ok() ? failed : absl::Status(failed.code(), absl::StrJoin(failures, "; "));
  }

  size_t CountDone() const {
    return std::count_if(known_.begin(), known_.end(), [this](const proto::SwapReply& reply) {
      return reply.serving() == options_.fingerprint;
    });
  }

  absl::Status BringOver(absl::Time* closed) {
    const absl::Status brought = PrepareAndCarry(closed);
    if (brought.ok()) return brought;
    const absl::Status back = TellAll(proto::SWAP_ABORT);
    return absl::Status(
        brought.code(),
        absl::StrCat(brought.message(),
                     back.ok() ? "; nothing has changed, and changes are taken as before"
                               : absl::StrCat("; on some servers the next dataset is there still (",
                                              back.message(), "): run it again, or with --abort")));
  }

  absl::Status PrepareAndCarry(absl::Time* closed) {
    VICINITY_RETURN_IF_ERROR(calls_.begin());
    VICINITY_RETURN_IF_ERROR(TellAll(proto::SWAP_PREPARE));
    progress_->Begin("carrying changes over", 0, "versions");
    VICINITY_RETURN_IF_ERROR(ComeNear());
    progress_->End();
    VICINITY_RETURN_IF_ERROR(CheckReaders());
    closed_ = true;
    *closed = absl::Now();
    VICINITY_RETURN_IF_ERROR(TellAll(proto::SWAP_CLOSE));
    VICINITY_RETURN_IF_ERROR(Settle());
    const absl::Time until = absl::Now() + options_.settle;
    for (size_t s = 0; s < read_.size(); ++s) {
      VICINITY_RETURN_IF_ERROR(CarryUntil(s, Longest(s).version(), until));
      VICINITY_RETURN_IF_ERROR(CheckJoint(s));
    }
    VICINITY_RETURN_IF_ERROR(TellAll(proto::SWAP_ASK));
    return CheckCarried();
  }

  absl::Status ComeNear() {
    for (int round = 0; round < kMostRounds; ++round) {
      VICINITY_RETURN_IF_ERROR(TellAll(proto::SWAP_ASK));
      bool near = true;
      for (size_t s = 0; s < read_.size(); ++s) {
        const uint64_t last = Longest(s).version();
        near = near && last <= read_[s] + kNear;
        VICINITY_RETURN_IF_ERROR(CarryUntil(s, last, absl::InfinitePast()));
      }
      if (near) break;
    }
    return absl::OkStatus();
  }

  absl::Status CheckReaders() const {
    if (options_.leave_readers_behind) return absl::OkStatus();
    for (const proto::SwapReply& known : known_) {
      for (const proto::SwapShard& shard : known.shards()) {
        for (const proto::ChangeCursor& cursor : shard.cursors()) {
          if (cursor.at().version() >= options_.folded_at[shard.shard()]) continue;
          return absl::FailedPreconditionError(absl::StrCat(
              "reader \"", absl::CHexEscape(cursor.name()),
              "\" of changes has acknowledged version ", cursor.at().version(), " of shard ",
              shard.shard(), ", and the fold is of version ", options_.folded_at[shard.shard()],
              ": let it read on first, drop it, or leave it behind (--leave-readers-behind)"));
        }
      }
    }
    return absl::OkStatus();
  }

  const proto::SwapShard* Find(size_t server, size_t shard) const {
    for (const proto::SwapShard& each : known_[server].shards()) {
      if (each.shard() == static_cast<int32_t>(shard)) return &each;
    }
    return nullptr;
  }

  // What the shard's servers have at most.
  proto::LogPosition Longest(size_t shard) const {
    proto::LogPosition longest;
    for (size_t server = 0; server < known_.size(); ++server) {
      const proto::SwapShard* const found = Find(server, shard);
      if (found == nullptr) continue;
      const proto::LogPosition& position = found->position();
      const auto key = [](const proto::LogPosition& p) { return std::pair(p.term(), p.version()); };
      if (key(longest) < key(position)) longest = position;
    }
    return longest;
  }

  // The server that has most sends it to the others as ever.
  absl::Status Settle() {
    const absl::Time until = absl::Now() + options_.settle;
    while (true) {
      const std::string unlike = Unlike();
      if (unlike.empty()) return absl::OkStatus();
      if (absl::Now() > until) return absl::DeadlineExceededError(unlike);
      absl::SleepFor(options_.look_every);
      VICINITY_RETURN_IF_ERROR(TellAll(proto::SWAP_ASK));
    }
  }

  // Empty: the servers of each shard have the same changes, and know the same writer.
  std::string Unlike() const {
    for (size_t s = 0; s < read_.size(); ++s) {
      const proto::LogPosition longest = Longest(s);
      const proto::SwapShard* first = nullptr;
      for (size_t server = 0; server < known_.size(); ++server) {
        const proto::SwapShard* const found = Find(server, s);
        if (found == nullptr) continue;
        if (first == nullptr) first = found;
        if (Same(found->position(), longest) && found->writer().term() == first->writer().term()) {
          continue;
        }
        return absl::StrCat(NameOf(server), ": shard ", s, " is at version ",
                            found->position().version(), " (term ", found->position().term(),
                            "), another server has ", longest.version(), " (term ", longest.term(),
                            "): `vicinity shards` shows them");
      }
      if (first == nullptr) return absl::StrCat("shard ", s, " is on no server");
    }
    return "";
  }

  // What has not reached enough servers yet is not to be read: it is waited for until then.
  absl::Status CarryUntil(size_t shard, uint64_t last, absl::Time until) {
    while (read_[shard] < last) {
      VICINITY_ASSIGN_OR_RETURN(const bool any, CarryPage(shard, last));
      if (any) continue;
      if (until == absl::InfinitePast()) return absl::OkStatus();
      if (absl::Now() > until) {
        return absl::UnavailableError(absl::StrCat("shard ", shard, ": version ", read_[shard] + 1,
                                                   " does not come from its servers"));
      }
      absl::SleepFor(options_.look_every);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<bool> CarryPage(size_t shard, uint64_t last) {
    const ShardId id{static_cast<int32_t>(shard)};
    VICINITY_RETURN_IF_ERROR(CheckJoint(shard));
    VICINITY_ASSIGN_OR_RETURN(
        const std::vector<proto::Change> changes,
        calls_.read(id, read_[shard], std::min(options_.page, last - read_[shard])));
    proto::CarryRequest request;
    for (const proto::Change& change : changes) {
      VICINITY_ASSIGN_OR_RETURN(proto::Change carried, calls_.translate(id, change));
      if (static_cast<int64_t>(request.ByteSizeLong() + carried.ByteSizeLong()) > kMostBytes ||
          request.changes_size() >= kMostChanges) {
        VICINITY_RETURN_IF_ERROR(Send(shard, &request));
      }
      *request.add_changes() = std::move(carried);
      ++read_[shard];
      last_terms_[shard] = change.term();
    }
    VICINITY_RETURN_IF_ERROR(Send(shard, &request));
    num_carried_ += changes.size();
    if (!closed_) progress_->Update(static_cast<int64_t>(num_carried_));
    return !changes.empty();
  }

  // That what was carried, or folded, last is in the log still. A promotion may have taken it back,
  // and given its version to another.
  absl::Status CheckJoint(size_t shard) const {
    const uint64_t at = read_[shard];
    if (at == 0) return absl::OkStatus();
    VICINITY_ASSIGN_OR_RETURN(const std::vector<proto::Change> last,
                              calls_.read({static_cast<int32_t>(shard)}, at - 1, 1));
    if (!last.empty() && last.front().term() == last_terms_[shard]) return absl::OkStatus();
    const bool folded = at == options_.folded_at[shard];
    return absl::AbortedError(absl::StrCat(
        "shard ", shard, ": version ", at, " was taken back by a promotion after it was ",
        folded ? "folded: fold again" : "carried over: the swap is to be run again"));
  }

  // To all servers that have the shard; empty afterwards.
  absl::Status Send(size_t shard, proto::CarryRequest* request) {
    if (request->changes().empty()) return absl::OkStatus();
    request->set_fingerprint(options_.fingerprint);
    request->set_shard(static_cast<int32_t>(shard));
    for (size_t server = 0; server < known_.size(); ++server) {
      const std::vector<ShardId>& shards = options_.servers[server].shards;
      const ShardId id{static_cast<int32_t>(shard)};
      if (std::find(shards.begin(), shards.end(), id) == shards.end()) continue;
      const auto reply = calls_.carry(server, *request);
      if (!reply.ok()) {
        return absl::Status(reply.status().code(),
                            absl::StrCat(NameOf(server), ": ", reply.status().message()));
      }
    }
    request->Clear();
    return absl::OkStatus();
  }

  // Each server has each change, so that what follows it is the same everywhere.
  absl::Status CheckCarried() const {
    for (size_t server = 0; server < known_.size(); ++server) {
      for (const proto::SwapShard& shard : known_[server].shards()) {
        const uint64_t expected = read_[shard.shard()] - options_.folded_at[shard.shard()];
        const uint64_t there = shard.carried().version();
        if (!shard.closed()) {
          return absl::AbortedError(absl::StrCat(
              NameOf(server), ": shard ", shard.shard(),
              " takes changes again since it was closed: the swap is to be run again"));
        }
        if (there == expected) continue;
        return absl::InternalError(absl::StrCat(NameOf(server), ": shard ", shard.shard(), " has ",
                                                there, " changes that were carried over, and ",
                                                expected, " were"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Commit() {
    absl::Status told;
    for (int tries = 0; tries < kMostTries; ++tries) {
      // A server that ended since it had everything has nothing prepared until it is told again.
      told = TellAll(proto::SWAP_PREPARE);
      if (told.ok()) told = TellAll(proto::SWAP_COMMIT);
      if (told.ok() && CountDone() == known_.size()) return absl::OkStatus();
      if (absl::IsFailedPrecondition(told)) break;
      absl::SleepFor(options_.look_every);
    }
    return absl::Status(
        told.ok() ? absl::StatusCode::kInternal : told.code(),
        absl::StrCat(told.message(), "; the next dataset is in force on ", CountDone(), " of ",
                     known_.size(), " servers: the swap is to be run again"));
  }

  const SwapOptions& options_;
  const SwapCalls& calls_;
  Progress* const progress_;
  std::vector<proto::SwapReply> known_;  // by server
  std::vector<uint64_t> read_;           // of each shard the last version that was carried over
  std::vector<uint64_t> last_terms_;     // and the term of that
  uint64_t num_carried_ = 0;
  bool closed_ = false;
};

}  // namespace

absl::StatusOr<SwapReport> SwapDatasets(const SwapOptions& options, const SwapCalls& calls,
                                        Progress* progress) {
  return Swapper(options, calls, progress).Run();
}

absl::Status AbortSwap(const SwapOptions& options, const SwapCalls& calls) {
  return Swapper(options, calls, nullptr).Abort();
}

}  // namespace vicinity::cli
