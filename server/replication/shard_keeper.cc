#include "server/replication/shard_keeper.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// Of one request. The server that gets it counts its parts before it makes a message of them.
constexpr int64_t kMostBytes = int64_t{1} << 20;
constexpr int kMostChanges = 4096;
constexpr absl::Duration kPause = absl::Milliseconds(200);  // after a failure
// Beyond what a server knows: so many promotions nobody misses, and terms do not run out.
constexpr uint64_t kMostTermsAhead = 1'000'000;
constexpr uint64_t kMostVersions = std::numeric_limits<uint64_t>::max();
constexpr absl::Duration kLongestStartOver = absl::Seconds(5);

WriterTerm FromProto(const proto::WriterTerm& writer) { return {writer.term(), writer.writer()}; }

void ToProto(const WriterTerm& writer, proto::WriterTerm* message) {
  message->set_term(writer.term);
  message->set_writer(writer.writer);
}

// Whether a copy that is at `position` has nothing but what the shard has.
bool IsBeginning(const LogPosition& position, const LiveShard& shard) {
  return position.version <= shard.logged() && shard.TermOf(position.version) == position.term;
}

}  // namespace

ShardKeeper::ShardKeeper(LiveDataset* live, Options options, std::shared_ptr<spdlog::logger> log)
    : live_(live),
      shard_(options.shard),
      self_(std::move(options.self)),
      fingerprint_(options.fingerprint),
      ask_every_(options.ask_every),
      call_limit_(options.call_limit),
      question_limit_(options.question_limit),
      log_(std::move(log)) {
  for (std::unique_ptr<OtherServer>& other : options.others) {
    feeds_.push_back(std::make_unique<Feed>());
    feeds_.back()->server = std::move(other);
  }
  if (const auto shard = live_->Find(shard_); shard.ok()) {
    MutexLock lock(&mu_);
    Conclude(shard->get());
  }
}

ShardKeeper::~ShardKeeper() { Stop(); }

void ShardKeeper::Start() {
  for (const std::unique_ptr<Feed>& feed : feeds_) {
    threads_.emplace_back([this, each = feed.get()] { Run(each); });
  }
}

void ShardKeeper::Stop() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  for (const std::unique_ptr<Feed>& feed : feeds_) feed->server->Cancel();
  if (const auto shard = live_->Find(shard_); shard.ok()) (*shard)->Wake();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool ShardKeeper::stopping() const {
  MutexLock lock(&mu_);
  return stopping_;
}

void ShardKeeper::Pause(absl::Duration duration) {
  MutexLock lock(&mu_);
  if (!stopping_) changed_.WaitFor(&mu_, absl::ToChronoNanoseconds(duration));
}

std::string ShardKeeper::Here() const { return absl::StrCat("shard ", shard_.value); }

void ShardKeeper::Run(Feed* feed) {
  while (!stopping()) {
    absl::StatusOr<std::shared_ptr<LiveShard>> shard = live_->Find(shard_);
    const WriterTerm writer = shard.ok() ? (*shard)->writer() : WriterTerm();
    if (writer.writer != self_) {
      shard = absl::UnavailableError("");  // so that another may take its place
      Forget(feed);
      Pause(ask_every_);
    } else if (!Step(feed, shard->get(), writer)) {
      (*shard)->WaitBehind(feed->position.version, two_are_most() ? kMostVersions : feed->told,
                           absl::Now() + ask_every_);
    }
  }
}

void ShardKeeper::Forget(Feed* feed) {
  MutexLock lock(&mu_);
  feed->tried = false;
  feed->known = false;
  feed->trouble.clear();
}

bool ShardKeeper::Step(Feed* feed, LiveShard* shard, const WriterTerm& writer) {
  absl::StatusOr<proto::ReplicateRequest> request = NextRequest(*feed, *shard, writer);
  if (!request.ok()) {
    OnFailure(feed, shard, request.status());
    Pause(ask_every_);
    return true;
  }
  const bool asks = request->changes().empty() && !request->start_over();
  const uint64_t told = request->shown();
  const auto reply =
      feed->server->Replicate(*std::move(request), asks ? question_limit_ : call_limit_);
  if (!reply.ok()) {
    if (!stopping()) OnFailure(feed, shard, reply.status());
    Pause(kPause);
    return true;
  }
  // Who was appointed meanwhile has heard of it before others have: their answer may be of a term
  // that the question was not.
  if (!(shard->writer() == writer)) return true;
  OnReply(feed, shard, writer, *reply);
  if (const absl::Status settled = Settle(shard); !settled.ok()) {
    log_->error("{}: {}", Here(), std::string(settled.message()));
  }
  if (!feed->trouble.empty()) Pause(ask_every_);
  feed->told = told;
  return feed->trouble.empty() && LagsBehind(*feed, *shard);
}

bool ShardKeeper::LagsBehind(const Feed& feed, const LiveShard& shard) const {
  return !IsBeginning(feed.position, shard) || feed.position.version < shard.logged() ||
         (!two_are_most() && feed.told < shard.version());
}

absl::Status ShardKeeper::Settle(LiveShard* shard) {
  bool is_of_most = false;
  {
    MutexLock lock(&mu_);
    is_of_most = is_of_most_;
  }
  if (is_of_most && shard->catching_up()) VICINITY_RETURN_IF_ERROR(shard->CaughtUp());
  return shard->BeginTerm(absl::Now() + call_limit_);
}

absl::StatusOr<proto::ReplicateRequest> ShardKeeper::NextRequest(const Feed& feed,
                                                                 const LiveShard& shard,
                                                                 const WriterTerm& writer) const {
  proto::ReplicateRequest request;
  request.set_fingerprint(fingerprint_);
  request.set_shard(shard_.value);
  ToProto(writer, request.mutable_writer());
  request.set_last(shard.logged());
  request.set_catching_up(shard.catching_up());
  request.set_shown(shard.version());
  // Of what this writer may have lost nobody is told to set it aside.
  if (!feed.known || !feed.trouble.empty()) return request;
  if (!IsBeginning(feed.position, shard)) {
    request.set_start_over(true);
    return request;
  }
  request.set_after(feed.position.version);
  request.set_after_term(feed.position.term);
  VICINITY_RETURN_IF_ERROR(AddChanges(shard, &request));
  return request;
}

absl::Status ShardKeeper::AddChanges(const LiveShard& shard,
                                     proto::ReplicateRequest* request) const {
  const uint64_t last = shard.logged();
  int64_t bytes = 0;
  for (uint64_t version = request->after() + 1;
       version <= last && request->changes_size() < kMostChanges; ++version) {
    VICINITY_ASSIGN_OR_RETURN(proto::Change change, shard.ReadChange(version));
    bytes += static_cast<int64_t>(change.ByteSizeLong());
    if (bytes > kMostBytes && request->changes_size() > 0) break;
    *request->add_changes() = std::move(change);
  }
  return absl::OkStatus();
}

void ShardKeeper::OnFailure(Feed* feed, LiveShard* shard, const absl::Status& why) {
  if (!std::exchange(feed->failing, true)) {
    log_->warn("{}: what is written to it does not get to another server: {}", Here(),
               std::string(why.message()));
  }
  MutexLock lock(&mu_);
  feed->tried = true;
  feed->known = false;
  Conclude(shard);
}

void ShardKeeper::OnReply(Feed* feed, LiveShard* shard, const WriterTerm& writer,
                          const proto::ReplicateReply& reply) {
  const WriterTerm theirs = FromProto(reply.writer());
  if (theirs.term > writer.term && theirs.writer != self_) {
    const absl::Status appointed = shard->Appoint(theirs);
    log_->warn("{}: server \"{}\" writes it since term {}; this one did in term {}: {}", Here(),
               theirs.writer, theirs.term, writer.term,
               appointed.ok() ? "it has given way" : std::string(appointed.message()));
    if (!appointed.ok()) Pause(ask_every_);
    return;
  }
  if (std::exchange(feed->failing, false)) {
    log_->info("{}: what is written to it gets to server \"{}\" again", Here(),
               feed->server->name());
  }
  const LogPosition position = {reply.version(), reply.last_term()};
  MutexLock lock(&mu_);
  feed->tried = true;
  feed->known = true;
  feed->position = position;
  feed->trouble.clear();
  if (theirs.writer == self_ && theirs.term > writer.term) {
    feed->trouble =
        absl::StrCat("server \"", feed->server->name(), "\" says that this one writes it in term ",
                     theirs.term, ", which it knows nothing of: it has lost changes");
  } else if (!(theirs == writer)) {
    feed->trouble = absl::StrCat("server \"", feed->server->name(), "\" says that \"",
                                 theirs.writer, "\" writes it in term ", theirs.term);
  } else if (position.term >= writer.term && !IsBeginning(position, *shard)) {
    feed->trouble =
        absl::StrCat("server \"", feed->server->name(), "\" has version ", position.version,
                     " of it, and this one, which is to have made it, ", shard->logged());
  }
  Conclude(shard);
}

void ShardKeeper::Conclude(LiveShard* shard) {
  std::vector<uint64_t> versions = {shard->logged()};
  size_t have_no_more = 1;
  absl::Status why;
  for (const std::unique_ptr<Feed>& feed : feeds_) {
    if (!feed->tried) {
      why.Update(
          absl::UnimplementedError(absl::StrCat(Here(), ": server \"", self_, "\" has not asked \"",
                                                feed->server->name(), "\" yet who writes it")));
    }
    if (!feed->trouble.empty()) {
      why.Update(absl::UnimplementedError(absl::StrCat(Here(), " is not written: ", feed->trouble,
                                                       "; `vicinity promote` says who is to")));
    }
    const bool counts = feed->known && feed->trouble.empty() && IsBeginning(feed->position, *shard);
    versions.push_back(counts ? feed->position.version : 0);
    if (counts) ++have_no_more;
  }
  if (const uint64_t last = shard->position().term; last > shard->writer().term) {
    why.Update(absl::UnimplementedError(absl::StrCat(
        Here(), " is not written: its last change is of term ", last, ", and server \"", self_,
        "\" does not know who wrote then, as after a restore; "
        "`vicinity promote` says who is to")));
  }
  if (shard->writer().term == handing_over_ && handing_over_ > 0) {
    why.Update(absl::UnimplementedError(absl::StrCat(
        Here(),
        " is being handed over to another server; if `vicinity promote` has not ended it, "
        "it is to be run again")));
  }
  std::sort(versions.rbegin(), versions.rend());
  shard->Hold(why);
  is_of_most_ = why.ok() && have_no_more > versions.size() / 2;
  const uint64_t kept = versions[versions.size() / 2];
  if (why.ok() && shard->TermOf(kept) == shard->writer().term) shard->Kept(kept);
}

absl::Status ShardKeeper::Check(const WriterTerm& writer, const LiveShard& shard) const {
  const uint64_t known = shard.writer().term;
  if (writer.term > known && writer.term - known > kMostTermsAhead) {
    return absl::InvalidArgumentError(absl::StrCat(Here(), ": term ", writer.term, ", where ",
                                                   known, " is known: more than ", kMostTermsAhead,
                                                   " are between them"));
  }
  if (writer.writer.empty() || writer.writer == self_) return absl::OkStatus();
  for (const std::unique_ptr<Feed>& feed : feeds_) {
    if (feed->server->name() == writer.writer) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(Here(), ": writer \"", writer.writer,
                                                 "\", which server \"", self_,
                                                 "\" does not know to have it"));
}

absl::StatusOr<proto::ReplicateReply> ShardKeeper::Take(const proto::ReplicateRequest& request) {
  const WriterTerm writer = FromProto(request.writer());
  if (writer.writer == self_ || writer.writer.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(Here(), ": server \"", self_,
                                                   "\" is sent changes in the name of writer \"",
                                                   writer.writer, "\""));
  }
  MutexLock lock(&take_mu_);
  absl::StatusOr<std::shared_ptr<LiveShard>> shard = live_->Find(shard_);
  if (shard.ok()) VICINITY_RETURN_IF_ERROR(Check(writer, **shard));
  if (shard.ok() && (*shard)->writer().term < writer.term) {
    VICINITY_RETURN_IF_ERROR((*shard)->Appoint(writer));
    (*shard)->Wake();
  }
  const bool begins_over = shard.ok() && request.start_over() && (*shard)->writer() == writer;
  if (begins_over) VICINITY_RETURN_IF_ERROR(CheckSetAside(writer, **shard));
  if (begins_over && !std::exchange(starts_over_, true)) {
    log_->error(
        "{}: what this server has of it is no beginning of what its writer has, server "
        "\"{}\": it is set aside in a folder beside its own, and copied anew",
        Here(), writer.writer);
  }
  if (starts_over_) {
    shard = absl::UnavailableError("");  // this does not have it either
    VICINITY_RETURN_IF_ERROR(StartOver(writer));
    shard = live_->Find(shard_);
  }
  VICINITY_RETURN_IF_ERROR(shard.status());
  if ((*shard)->writer() == writer) {
    VICINITY_RETURN_IF_ERROR(Repeat(request, shard->get()));
    VICINITY_RETURN_IF_ERROR(CatchUp(request, shard->get()));
  }
  proto::ReplicateReply reply;
  ToProto((*shard)->writer(), reply.mutable_writer());
  const LogPosition position = (*shard)->position();
  reply.set_version(position.version);
  reply.set_last_term(position.term);
  reply.set_catching_up((*shard)->catching_up());
  return reply;
}

// Changes of its own term, or of a later one, are none that a writer has followed: it has lost
// them.
absl::Status ShardKeeper::CheckSetAside(const WriterTerm& writer, const LiveShard& shard) const {
  const LogPosition here = shard.position();
  if (here.term < writer.term || here.version == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      Here(), ": server \"", self_, "\" has version ", here.version, " of term ", here.term,
      ", and is to set it aside for \"", writer.writer, "\", the writer of term ", writer.term,
      ", which is to have made it: `vicinity promote` says who is to write"));
}

absl::Status ShardKeeper::StartOver(const WriterTerm& writer) {
  VICINITY_RETURN_IF_ERROR(live_->StartOver(shard_, writer, absl::Now() + kLongestStartOver));
  starts_over_ = false;
  catches_up_with_ = WriterTerm();
  return absl::OkStatus();
}

absl::Status ShardKeeper::Repeat(const proto::ReplicateRequest& request, LiveShard* shard) {
  const LogPosition after = {request.after(), request.after_term()};
  // All that is answered is on disk, also what was repeated before a failure.
  if (!(shard->position() == after)) return shard->Sync();
  uint64_t expected = after.version;
  for (const proto::Change& change : request.changes()) {
    if (change.version() != ++expected) {
      return absl::InvalidArgumentError(
          absl::StrCat(Here(), ": version ", change.version(), " where ", expected, " comes next"));
    }
    const absl::Time until = absl::Now() + call_limit_;
    const bool most_have_it = two_are_most() && change.term() == request.writer().term();
    VICINITY_RETURN_IF_ERROR(most_have_it ? shard->Repeat(change, Durability::kBuffered, until)
                                          : shard->RepeatUnseen(change, until));
  }
  VICINITY_RETURN_IF_ERROR(shard->Sync());
  return shard->ShowUpTo(request.shown());
}

// A writer that knows where this log ends has seen that it is a beginning of its own; one that does
// not yet asks as of an empty one.
absl::Status ShardKeeper::CatchUp(const proto::ReplicateRequest& request, LiveShard* shard) {
  if (!shard->catching_up() || request.catching_up()) return absl::OkStatus();
  const LogPosition at = shard->position();
  const auto sent = static_cast<uint64_t>(request.changes_size());
  if (at.version != request.after() + sent) return absl::OkStatus();
  if (const WriterTerm writer = FromProto(request.writer()); !(catches_up_with_ == writer)) {
    catches_up_with_ = writer;
    catches_up_to_ = request.last();
  }
  if (at.version < catches_up_to_) return absl::OkStatus();
  VICINITY_RETURN_IF_ERROR(shard->CaughtUp());
  catches_up_with_ = WriterTerm();
  log_->info("{}: this server, which began with an empty log, has all that its writer had then",
             Here());
  return absl::OkStatus();
}

absl::Status ShardKeeper::Appoint(const Appointment& appointment) {
  const WriterTerm& writer = appointment.writer;
  MutexLock lock(&take_mu_);
  VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<LiveShard> shard, live_->Find(shard_));
  VICINITY_RETURN_IF_ERROR(Check(writer, *shard));
  const LogPosition before = shard->position();
  if (writer.writer == self_ && before < appointment.least) {
    return absl::FailedPreconditionError(
        absl::StrCat(Here(), ": server \"", self_, "\" is at version ", before.version, " (term ",
                     before.term, "), and its next writer has to be at ", appointment.least.version,
                     " (term ", appointment.least.term, ")"));
  }
  if (appointment.hands_over) {
    MutexLock both(&mu_);
    handing_over_ = writer.term;
  }
  VICINITY_RETURN_IF_ERROR(shard->Appoint(writer));
  log_->info(
      "{}: {} in term {}{}", Here(),
      writer.writer.empty() ? "nobody writes it" : absl::StrCat("written by ", writer.writer),
      writer.term, appointment.hands_over ? ", to hand it over" : "");
  {
    MutexLock both(&mu_);
    Conclude(shard.get());
    changed_.NotifyAll();
  }
  shard->Wake();
  if (writer.writer != self_) return absl::OkStatus();
  return shard->BeginTerm(absl::Now() + call_limit_);
}

absl::StatusOr<ShardKeeper::Known> ShardKeeper::Read() {
  VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<LiveShard> shard, live_->Find(shard_));
  const Known known = {shard->writer(), shard->position(), shard->catching_up()};
  VICINITY_RETURN_IF_ERROR(shard->Sync());
  return known;
}

int64_t ShardKeeper::Behind(size_t other) const {
  const auto shard = live_->Find(shard_);
  if (!shard.ok() || (*shard)->writer().writer != self_) return 0;
  MutexLock lock(&mu_);
  const Feed& feed = *feeds_[other];
  if (!feed.known) return -1;
  return static_cast<int64_t>((*shard)->logged()) - static_cast<int64_t>(feed.position.version);
}

}  // namespace vicinity
