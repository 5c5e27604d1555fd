#include "client/cli/commands/live/promotion.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

// What a server answered last.
struct Known {
  WriterTerm writer;
  LogPosition position;
  uint64_t fingerprint = 0;
  bool catching_up = false;
};

class Promoter {
 public:
  Promoter(ShardId shard, const PromotionOptions& options, const AppointCall& call)
      : shard_(shard), options_(options), call_(call), known_(options.servers.size()) {}

  absl::StatusOr<Promotion> Run() {
    VICINITY_ASSIGN_OR_RETURN(const size_t from, PlaceOf(options_.from));
    VICINITY_ASSIGN_OR_RETURN(const size_t to, PlaceOf(options_.to));
    VICINITY_RETURN_IF_ERROR(AskAll());
    Promotion promotion;
    promotion.before = Highest();
    if (from < known_.size() && !promotion.before.writer.empty() &&
        promotion.before.writer != options_.from) {
      promotion.concerned = false;
      return promotion;
    }
    // Before anybody is told to stop: else nobody would write.
    VICINITY_RETURN_IF_ERROR(Choose(from, to).status());
    VICINITY_RETURN_IF_ERROR(options_.dry_run ? Preview(from, to, &promotion)
                                              : Change(from, to, &promotion));
    for (size_t server = 0; server < known_.size(); ++server) {
      if (!known_[server].has_value()) promotion.unreached.push_back(options_.servers[server]);
    }
    return promotion;
  }

 private:
  std::string Here() const { return absl::StrCat("shard ", shard_.value); }

  // Past the last one for no name.
  absl::StatusOr<size_t> PlaceOf(const std::string& name) const {
    const auto& servers = options_.servers;
    const auto found = std::find(servers.begin(), servers.end(), name);
    if (name.empty() || found != servers.end()) return found - servers.begin();
    return absl::NotFoundError(absl::StrCat(Here(), ": server \"", name, "\" does not have it, ",
                                            absl::StrJoin(servers, ", "), " do"));
  }

  absl::Status Preview(size_t from, size_t to, Promotion* promotion) const {
    VICINITY_ASSIGN_OR_RETURN(const size_t next, Choose(from, to));
    promotion->after.writer = options_.servers[next];
    promotion->position = known_[Longest(known_.size())]->position;
    return absl::OkStatus();
  }

  absl::Status Change(size_t from, size_t to, Promotion* promotion) {
    const absl::Status changed = [&]() -> absl::Status {
      VICINITY_RETURN_IF_ERROR(TellAll(RequestOf(HighestTerm() + 1, "")));
      VICINITY_RETURN_IF_ERROR(CheckEnough());
      VICINITY_ASSIGN_OR_RETURN(const size_t next, Choose(from, to));
      promotion->position = known_[Longest(known_.size())]->position;
      VICINITY_RETURN_IF_ERROR(HandTo(next, promotion->position));
      promotion->after = known_[next]->writer;
      return absl::OkStatus();
    }();
    if (changed.ok()) return changed;
    return absl::Status(changed.code(),
                        absl::StrCat(Here(), " takes no batches now, this is to be run again: ",
                                     std::string(changed.message())));
  }

  absl::Status Call(size_t server, const proto::AppointRequest& request) {
    const auto reply = call_(server, request);
    if (!reply.ok()) {
      known_[server].reset();
      absl::StrAppend(&silent_, silent_.empty() ? "" : "; ", options_.servers[server], ": ",
                      std::string(reply.status().message()));
      return reply.status();
    }
    known_[server] = Known{{reply->writer().term(), reply->writer().writer()},
                           {reply->position().version(), reply->position().term()},
                           reply->fingerprint(),
                           reply->catching_up()};
    return absl::OkStatus();
  }

  absl::Status AskAll() {
    proto::AppointRequest request;
    request.set_shard(shard_.value);
    for (size_t server = 0; server < known_.size(); ++server) {
      Call(server, request).IgnoreError();  // known_ says it
    }
    return CheckEnough();
  }

  // Of all servers but fewer than half, one has what more than half had on disk. Of all servers the
  // one that has most has what there is.
  absl::Status CheckEnough() const {
    const size_t count = known_.size();
    size_t answered = 0;
    size_t sure = 0;
    std::optional<uint64_t> fingerprint;
    for (const std::optional<Known>& known : known_) {
      if (!known.has_value()) continue;
      ++answered;
      if (!MayLack(*known)) ++sure;
      if (fingerprint.value_or(known->fingerprint) != known->fingerprint) {
        return absl::FailedPreconditionError(
            absl::StrCat(Here(), ": its servers have different datasets: `vicinity shards`"));
      }
      fingerprint = known->fingerprint;
    }
    const size_t needed = options_.force ? 1 : count - count / 2;
    if (sure >= needed || answered == count) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat(
        Here(), ": ", sure, " of its ", count,
        " servers answer and have all that they ever had, and ", needed,
        " are needed to be sure of all that was replicated",
        options_.force ? "" : " (--force does without)", silent_.empty() ? "" : ": ", silent_));
  }

  // With a new disk, or new to the shard: what it had before, and may have acknowledged, or what
  // others have that do not answer, nobody knows.
  bool MayLack(const Known& known) const {
    const bool is_blank = known.position.version == 0 && known.writer.term == 0;
    const bool others_have =
        known_[Longest(known_.size())]->position.version > 0 || Highest().term > 0;
    return known.catching_up || (is_blank && others_have);
  }

  WriterTerm Highest() const {
    WriterTerm highest;
    for (const std::optional<Known>& known : known_) {
      if (known.has_value() && known->writer.term >= highest.term) highest = known->writer;
    }
    return highest;
  }

  // That was ever heard of: changes that were restored are of terms whose writers nobody knows.
  uint64_t HighestTerm() const {
    uint64_t highest = Highest().term;
    for (const std::optional<Known>& known : known_) {
      if (known.has_value()) highest = std::max(highest, known->position.term);
    }
    return highest;
  }

  // Who has most of those that have answered; past the last one if that is `excluded` alone.
  size_t Longest(size_t excluded) const {
    size_t longest = known_.size();
    for (size_t server = 0; server < known_.size(); ++server) {
      if (server == excluded || !known_[server].has_value()) continue;
      if (longest == known_.size() || known_[longest]->position < known_[server]->position) {
        longest = server;
      }
    }
    return longest;
  }

  // Of one that is to write.
  uint64_t NextTermOf(size_t server) const {
    const uint64_t count = known_.size();
    const uint64_t above = HighestTerm() + 1;
    return above + (server + count - above % count) % count;
  }

  absl::Status Tell(size_t server, const proto::AppointRequest& request) {
    const absl::Status told = Call(server, request);
    // It knows of a later term.
    return absl::IsFailedPrecondition(told) ? told : absl::OkStatus();
  }

  absl::Status TellAll(const proto::AppointRequest& request) {
    for (size_t server = 0; server < known_.size(); ++server) {
      if (known_[server].has_value()) VICINITY_RETURN_IF_ERROR(Tell(server, request));
    }
    return absl::OkStatus();
  }

  proto::AppointRequest RequestOf(uint64_t term, const std::string& writer) const {
    proto::AppointRequest request;
    request.set_shard(shard_.value);
    request.mutable_writer()->set_term(term);
    request.mutable_writer()->set_writer(writer);
    return request;
  }

  absl::StatusOr<size_t> Choose(size_t from, size_t to) const {
    if (to < known_.size()) {
      if (known_[to].has_value()) return to;
      return absl::UnavailableError(
          absl::StrCat("server \"", options_.to, "\" does not answer: ", silent_));
    }
    const size_t next = Longest(from);
    if (next < known_.size()) return next;
    return absl::UnavailableError(
        absl::StrCat("of its servers only \"", options_.from, "\" answers: ", silent_));
  }

  absl::Status HandTo(size_t next, const LogPosition& position) {
    if (known_[next]->position < position) {
      VICINITY_RETURN_IF_ERROR(SendRest(next, position));
    }
    proto::AppointRequest request = RequestOf(NextTermOf(next), options_.servers[next]);
    request.mutable_least()->set_version(position.version);
    request.mutable_least()->set_term(position.term);
    VICINITY_RETURN_IF_ERROR(Call(next, request));
    for (size_t server = 0; server < known_.size(); ++server) {
      // Who does not hear of it here hears of it from the writer.
      if (server != next && known_[server].has_value()) Call(server, request).IgnoreError();
    }
    return absl::OkStatus();
  }

  absl::Status SendRest(size_t next, const LogPosition& position) {
    const size_t longest = Longest(known_.size());
    proto::AppointRequest request = RequestOf(NextTermOf(longest), options_.servers[longest]);
    request.set_hands_over(true);
    VICINITY_RETURN_IF_ERROR(TellAll(request));
    proto::AppointRequest question;
    question.set_shard(shard_.value);
    const absl::Time until = absl::Now() + options_.catch_up;
    while (absl::Now() < until) {
      // One that starts over does not answer for a moment.
      const absl::Status asked = Call(next, question);
      if (asked.ok() && !(known_[next]->position < position)) return absl::OkStatus();
      absl::SleepFor(options_.look_every);
    }
    const uint64_t at = known_[next].has_value() ? known_[next]->position.version : 0;
    return absl::DeadlineExceededError(
        absl::StrCat("server \"", options_.servers[next], "\" is at version ", at, " and \"",
                     options_.servers[longest], "\", which sends it the rest, at ",
                     position.version, ": --catch-up says how long it may take"));
  }

  const ShardId shard_;
  const PromotionOptions& options_;
  const AppointCall& call_;
  std::vector<std::optional<Known>> known_;  // by server; without a value: it does not answer
  std::string silent_;                       // who did not, and why
};

}  // namespace

absl::StatusOr<Promotion> Promote(ShardId shard, const PromotionOptions& options,
                                  const AppointCall& call) {
  return Promoter(shard, options, call).Run();
}

}  // namespace vicinity::cli
