#include "partition/overlay/live_shard.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "partition/overlay/batch_check.h"
#include "partition/overlay/change.h"
#include "partition/overlay/failpoint.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// Of a store whose disk was full: each takes a moment in which nobody reads it.
constexpr std::chrono::milliseconds kBetweenReopenings(200);

// By a clock that nobody sets.
std::chrono::steady_clock::time_point SteadyTimeOf(absl::Time deadline) {
  return std::chrono::steady_clock::now() +
         absl::ToChronoNanoseconds(std::min(deadline - absl::Now(), absl::Hours(24)));
}

AppliedBatch NeverApplied() {
  AppliedBatch never;
  never.retired = true;
  return never;
}

}  // namespace

// One caller's batch on its way.
struct LiveShard::Pending {
  proto::Change change;
  Origin origin = Origin::kHere;
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
  DeltaStoreOptions of_store = options.store;
  of_store.new_is_behind = options.servers.count > 1;
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<DeltaStore> store,
                            DeltaStore::Open(folder, base.Identity(), of_store));
  auto state = std::make_unique<LiveState>(base, std::move(store), options.row_cache_bytes,
                                           options.list_cache_bytes);
  std::unique_ptr<LiveShard> shard(new LiveShard(std::move(state), options));
  VICINITY_RETURN_IF_ERROR(shard->ReadWriter());
  VICINITY_ASSIGN_OR_RETURN(const bool catching_up, shard->state_->store->IsCatchingUp());
  shard->catching_up_ = catching_up && options.servers.count > 1;
  VICINITY_RETURN_IF_ERROR(shard->Replay());
  VICINITY_ASSIGN_OR_RETURN(shard->cursors_, ChangeCursors::Open(shard->state_->store.get()));
  return shard;
}

absl::Status LiveShard::ReadWriter() {
  VICINITY_ASSIGN_OR_RETURN(const std::string bytes, state_->store->ReadWriter());
  proto::WriterTerm saved;
  if (!saved.ParseFromString(bytes)) {
    return absl::DataLossError(
        absl::StrCat(state_->store->folder(), ": who writes the shard does not read"));
  }
  MutexLock lock(&mu_);
  // Of a shard that nobody else has there is no writer to be known, only that it is closed.
  const bool says_writer = saved.term() > 0 || !saved.writer().empty();
  writer_ = says_writer ? WriterTerm{saved.term(), saved.writer()}
                        : WriterTerm{0, options_.servers.first};
  closed_for_ = saved.next_dataset();
  return absl::OkStatus();
}

absl::Status LiveShard::Save(const WriterTerm& writer, uint64_t closed_for) {
  proto::WriterTerm bytes;
  bytes.set_term(writer.term);
  bytes.set_writer(writer.writer);
  bytes.set_next_dataset(closed_for);
  mu_.Unlock();
  absl::Status saved = MakeReady();
  if (saved.ok()) saved = Remember(state_->store->SaveWriter(bytes.SerializeAsString()));
  mu_.Lock();
  return saved;
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
        Pass(Failpoint::kShardReplaying);
        MutexLock lock(&mu_);
        CountTerm(version, change.term());
        return absl::OkStatus();
      }));
  Pass(Failpoint::kShardReplayed);
  logged_ = state_->store->last_version();
  VICINITY_ASSIGN_OR_RETURN(const std::optional<uint64_t> shown, state_->store->ReadShown());
  version_ = options_.servers.count > 1 ? std::min(shown.value_or(logged()), logged()) : logged();
  return absl::OkStatus();
}

absl::StatusOr<AppliedBatch> LiveShard::Apply(const proto::WriteSession& session,
                                              proto::WriteBatch batch, Durability durability,
                                              absl::Time deadline) {
  VICINITY_RETURN_IF_ERROR(CheckBatch(state_->base, batch));
  proto::Change change;
  *change.mutable_session() = session;
  *change.mutable_batch() = std::move(batch);
  const auto until = SteadyTimeOf(deadline);
  VICINITY_ASSIGN_OR_RETURN(AppliedBatch applied,
                            Commit(std::move(change), Origin::kHere, durability, until));
  if (durability != Durability::kReplicated) return applied;
  return AwaitKept(std::move(applied), until);
}

absl::StatusOr<AppliedBatch> LiveShard::Commit(proto::Change change, Origin origin,
                                               Durability durability,
                                               std::chrono::steady_clock::time_point until) {
  VICINITY_RETURN_IF_ERROR(CheckSession(change.session()));
  auto pending = std::make_shared<Pending>();
  pending->bytes = static_cast<int64_t>(change.batch().ByteSizeLong());
  pending->change = std::move(change);
  pending->origin = origin;
  pending->durability = durability;

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
    TakeLead();
    const std::vector<PendingPtr> group = TakeGroup();
    mu_.Unlock();
    CommitGroup(group);
    mu_.Lock();
    EndLead();
  }
  return *std::move(pending->answer);
}

void LiveShard::TakeLead() {
  while (led_) settled_.WaitFor(&mu_, std::chrono::seconds(1));
  led_ = true;
}

void LiveShard::EndLead() {
  led_ = false;
  settled_.NotifyAll();
}

absl::StatusOr<AppliedBatch> LiveShard::AwaitKept(AppliedBatch applied,
                                                  std::chrono::steady_clock::time_point until) {
  MutexLock lock(&mu_);
  while (options_.servers.count > 1 && kept_ < applied.version) {
    // A batch that was applied before the shard was closed is not refused for that.
    if (closed_for_ == 0) VICINITY_RETURN_IF_ERROR(Refusal());
    const std::chrono::nanoseconds left = until - std::chrono::steady_clock::now();
    if (left.count() <= 0) {
      return absl::DeadlineExceededError(
          absl::StrCat("version ", applied.version, " of shard ", state_->base.shard.id().value,
                       " is on disk here, but not yet on more than half of the shard's ",
                       options_.servers.count, " servers, which have ", kept_));
    }
    settled_.WaitFor(&mu_, std::min<std::chrono::nanoseconds>(left, std::chrono::seconds(1)));
  }
  return applied;
}

absl::Status LiveShard::Refusal() const {
  const std::string shard = absl::StrCat("shard ", state_->base.shard.id().value);
  const absl::Hex next(closed_for_, absl::kZeroPad16);
  if (closed_for_ != 0) {
    return absl::UnavailableError(absl::StrCat(
        shard, " takes no changes while dataset ", next,
        " takes its place; if `vicinity swap` has not ended it, it is to be run again"));
  }
  const ShardServers& servers = options_.servers;
  if (servers.self.empty()) return absl::OkStatus();
  if (writer_.writer == servers.self) return hold_;
  if (!writer_.writer.empty()) {
    return absl::UnimplementedError(absl::StrCat(shard, " is written by server \"", writer_.writer,
                                                 "\" (term ", writer_.term, "), not by \"",
                                                 servers.self, "\""));
  }
  return absl::UnimplementedError(absl::StrCat(shard, " has no writer since term ", writer_.term,
                                               ": `vicinity promote` gives it one"));
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
  refusal_ = Refusal();
  const auto is_new = [](const PendingPtr& pending) { return pending->origin == Origin::kHere; };
  if (refusal_.ok() && std::any_of(group.begin(), group.end(), is_new)) refusal_ = BeginTermAlone();
  term_ = writer_.term;
  only_known_ = retired_;
  return group;
}

absl::Status LiveShard::BeginTermAlone() {
  if (!options_.servers.self.empty() || LastTerm() <= writer_.term) return absl::OkStatus();
  const WriterTerm next = {LastTerm() + 1, ""};
  VICINITY_RETURN_IF_ERROR(Save(next, closed_for_));
  writer_ = next;
  return absl::OkStatus();
}

// What is in the index but not committed nobody sees: its version is not given out.
void LiveShard::CommitGroup(const std::vector<PendingPtr>& group) {
  group_.clear();
  absl::Status room = MakeReady();
  Round round;
  round.commit = std::make_unique<DeltaStore::Commit>(*state_->store);
  round.before = logged();
  round.shown = version();
  int64_t bytes = 0;
  for (const PendingPtr& pending : group) bytes += pending->bytes;
  if (room.ok()) room = room_.Check(bytes);
  std::vector<absl::StatusOr<AppliedBatch>> answers;
  for (const PendingPtr& pending : group) {
    answers.push_back(failed_.ok() ? Prepare(room, pending.get(), round.commit.get()) : failed_);
    if (!answers.back().ok() || answers.back()->retired) continue;
    if (round.terms.size() < group_.size()) round.terms.push_back(pending->change.term());
    round.durable |= pending->durability != Durability::kBuffered;
    if (IsSeenAtOnce(*pending)) {
      round.shown = std::max(round.shown, answers.back()->version);
    }
  }
  if (failed_.ok() && options_.servers.count > 1) failed_ = round.commit->PutShown(round.shown);
  Pass(Failpoint::kShardPrepared);
  const absl::Status written = failed_.ok() ? Remember(Write(round)) : failed_;
  Pass(Failpoint::kShardCommitted);
  if (written.ok()) {
    Publish(round);
  } else if (failed_.ok() && !group_.empty()) {
    stopped_ = std::move(round);
  }
  Pass(Failpoint::kShardVisible);
  MutexLock lock(&mu_);
  for (size_t i = 0; i < group.size(); ++i) {
    if (!written.ok() && answers[i].ok()) answers[i] = written;
    group[i]->answer = std::move(answers[i]);
  }
}

bool LiveShard::IsSeenAtOnce(const Pending& pending) const {
  if (pending.origin == Origin::kNotSeenThere) return false;
  return options_.servers.count <= 1 || pending.durability != Durability::kReplicated;
}

void LiveShard::Publish(const Round& round) {
  MutexLock lock(&mu_);
  uint64_t version = round.before;
  for (const uint64_t term : round.terms) CountTerm(++version, term);
  logged_.store(version, std::memory_order_release);
  Show(std::max(round.shown, std::min(kept_, logged())));
}

absl::Status LiveShard::Remember(absl::Status written) {
  if (!written.ok() && !state_->store->is_full()) failed_ = written;
  return written;
}

absl::Status LiveShard::MakeReady() {
  DeltaStore& store = *state_->store;
  if (!failed_.ok() || !store.is_full()) return failed_;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_reopening_) return store.failed();
  next_reopening_ = now + kBetweenReopenings;
  VICINITY_RETURN_IF_ERROR(room_.CheckFits(store.reopen_bytes()));
  VICINITY_RETURN_IF_ERROR(room_.Check(store.reopen_bytes()));
  VICINITY_RETURN_IF_ERROR(Remember(store.Reopen()));
  return Remember(Settle());
}

// A commit is in the store as a whole or not at all.
absl::Status LiveShard::Settle() {
  DeltaStore& store = *state_->store;
  const uint64_t stopped = stopped_.has_value() ? stopped_->terms.size() : 0;
  if (store.last_version() != logged() && store.last_version() != logged() + stopped) {
    return absl::DataLossError(absl::StrCat(
        store.folder(), ": after the disk was full the change log ends at version ",
        store.last_version(), ", where ", logged(), " had been written; start the server again"));
  }
  if (!stopped_.has_value()) return absl::OkStatus();
  if (store.last_version() == logged()) {
    VICINITY_RETURN_IF_ERROR(store.Write(*stopped_->commit, stopped_->durable));
  }
  Publish(*stopped_);
  stopped_.reset();
  return absl::OkStatus();
}

void LiveShard::Show(uint64_t version) {
  if (version > this->version()) version_.store(version, std::memory_order_release);
}

// Repeats alone have nothing to write, but may ask for more than they got before.
absl::Status LiveShard::Write(const Round& round) {
  if (!group_.empty()) return state_->store->Write(*round.commit, round.durable);
  return round.durable ? state_->store->Sync() : absl::OkStatus();
}

absl::StatusOr<AppliedBatch> LiveShard::Prepare(const absl::Status& room, Pending* pending,
                                                DeltaStore::Commit* commit) {
  proto::Change& change = pending->change;
  const bool repeats = pending->origin != Origin::kHere;
  if (!repeats && !only_known_) VICINITY_RETURN_IF_ERROR(refusal_);
  // A log that begins at a fold goes on with sessions whose first batches are in the files.
  if (!repeats || sessions_.Knows(change.session().id())) {
    VICINITY_ASSIGN_OR_RETURN(const std::optional<uint64_t> known,
                              sessions_.Find(change.session().id(), change.session().sequence()));
    // What a full disk stopped is known, and was not written.
    if (known.has_value() && !room.ok() && *known > logged()) return room;
    if (known.has_value()) return AnswerAgain(*known);
  }
  if (!repeats && only_known_) return NeverApplied();
  if (!repeats) change.set_term(term_);
  VICINITY_RETURN_IF_ERROR(room);
  VICINITY_RETURN_IF_ERROR(ResolveChange(state_->base, state_->files, state_->index, &change));
  change.set_version(logged() + group_.size() + 1);
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
  if (const uint64_t committed = logged(); version > committed) {
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
  return RepeatAs(std::move(change), Origin::kElsewhere, durability, deadline);
}

absl::Status LiveShard::RepeatUnseen(proto::Change change, absl::Time deadline) {
  return RepeatAs(std::move(change), Origin::kNotSeenThere, Durability::kBuffered, deadline);
}

absl::Status LiveShard::RepeatAs(proto::Change change, Origin origin, Durability durability,
                                 absl::Time deadline) {
  if (change.version() != logged() + 1) {
    return absl::InvalidArgumentError(absl::StrCat("version ", change.version(), " of shard ",
                                                   state_->base.shard.id().value, ", where ",
                                                   logged() + 1, " comes next"));
  }
  if (change.term() < position().term) {
    return absl::InvalidArgumentError(
        absl::StrCat("version ", change.version(), " of shard ", state_->base.shard.id().value,
                     " is of term ", change.term(), ", and the one before of ", position().term));
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
  // Of BeginTerm it is empty.
  if (change.batch().ByteSizeLong() > 0) {
    VICINITY_RETURN_IF_ERROR(CheckBatch(state_->base, change.batch()));
  }
  VICINITY_ASSIGN_OR_RETURN(const AppliedBatch is,
                            Commit(std::move(change), origin, durability, SteadyTimeOf(deadline)));
  if (is.version == was.version && is.first_nodes == was.first_nodes &&
      is.first_edges == was.first_edges) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat("version ", was.version, " of shard ",
                                          state_->base.shard.id().value,
                                          " did not become again what it was"));
}

absl::Status LiveShard::Sync() {
  MutexLock lock(&mu_);
  TakeLead();
  mu_.Unlock();
  absl::Status synced = MakeReady();
  if (synced.ok()) synced = Remember(state_->store->Sync());
  mu_.Lock();
  EndLead();
  return synced;
}

WriterTerm LiveShard::writer() const {
  MutexLock lock(&mu_);
  return writer_;
}

absl::Status LiveShard::refusal() const {
  MutexLock lock(&mu_);
  return Refusal();
}

absl::Status LiveShard::Appoint(const WriterTerm& writer) {
  MutexLock lock(&mu_);
  TakeLead();
  absl::Status saved;
  if (writer.term < writer_.term || (writer.term == writer_.term && !(writer == writer_))) {
    saved = absl::FailedPreconditionError(absl::StrCat(
        "shard ", state_->base.shard.id().value, ": server \"", writer.writer, "\" in term ",
        writer.term, ", where \"", writer_.writer, "\" in term ", writer_.term, " is known"));
  } else if (!(writer == writer_)) {
    saved = Save(writer, closed_for_);
    if (saved.ok()) writer_ = writer;
    if (saved.ok()) hold_ = absl::OkStatus();
  }
  EndLead();
  return saved;
}

absl::Status LiveShard::CaughtUp() {
  MutexLock lock(&mu_);
  TakeLead();
  absl::Status saved;
  if (catching_up()) {
    mu_.Unlock();
    saved = MakeReady();
    if (saved.ok()) saved = Remember(state_->store->SaveCaughtUp());
    mu_.Lock();
    if (saved.ok()) catching_up_.store(false, std::memory_order_release);
  }
  EndLead();
  return saved;
}

absl::Status LiveShard::BeginTerm(absl::Time deadline) {
  {
    MutexLock lock(&mu_);
    if (LastTerm() >= writer_.term || !Refusal().ok()) return absl::OkStatus();
  }
  proto::Change change;
  // Nobody else makes this one: a term has one writer.
  change.mutable_session()->set_id(absl::StrCat("writer of term ", writer().term));
  change.mutable_session()->set_sequence(1);
  return Commit(std::move(change), Origin::kHere, Durability::kReplicated, SteadyTimeOf(deadline))
      .status();
}

absl::Status LiveShard::Close(uint64_t next_dataset) {
  MutexLock lock(&mu_);
  TakeLead();
  absl::Status saved;
  if (closed_for_ != next_dataset) saved = Save(writer_, next_dataset);
  if (saved.ok()) closed_for_ = next_dataset;
  EndLead();
  return saved;
}

uint64_t LiveShard::closed_for() const {
  MutexLock lock(&mu_);
  return closed_for_;
}

void LiveShard::Retire() {
  MutexLock lock(&mu_);
  retired_ = true;
  kept_ = logged();
  Show(logged());
  settled_.NotifyAll();
}

void LiveShard::Hold(absl::Status why) {
  MutexLock lock(&mu_);
  hold_ = std::move(why);
  settled_.NotifyAll();
}

void LiveShard::Kept(uint64_t version) {
  MutexLock lock(&mu_);
  if (version <= kept_) return;
  kept_ = version;
  Show(std::min(kept_, logged()));
  settled_.NotifyAll();
}

// A version is counted before it is seen.
absl::Status LiveShard::ShowUpTo(uint64_t version) {
  MutexLock lock(&mu_);
  TakeLead();
  version = std::min(version, logged());
  absl::Status saved;
  if (version > this->version()) {
    mu_.Unlock();
    saved = MakeReady();
    if (saved.ok()) saved = Remember(state_->store->SaveShown(version));
    mu_.Lock();
    if (saved.ok()) Show(version);
  }
  EndLead();
  return saved;
}

LogPosition LiveShard::position() const {
  MutexLock lock(&mu_);
  return {logged(), LastTerm()};
}

uint64_t LiveShard::LastTerm() const { return terms_.empty() ? 0 : terms_.rbegin()->second; }

uint64_t LiveShard::TermOf(uint64_t version) const {
  MutexLock lock(&mu_);
  const auto after = terms_.upper_bound(version);
  return after == terms_.begin() ? 0 : std::prev(after)->second;
}

void LiveShard::CountTerm(uint64_t version, uint64_t term) {
  if (term != LastTerm()) terms_.emplace(version, term);
}

void LiveShard::WaitBehind(uint64_t logged, uint64_t shown, absl::Time until) const {
  const auto end =
      std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(until - absl::Now());
  MutexLock lock(&mu_);
  const int64_t wakes = wakes_;
  while (this->logged() <= logged && version() <= shown && wakes_ == wakes) {
    const std::chrono::nanoseconds left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0) return;
    settled_.WaitFor(&mu_, left);
  }
}

void LiveShard::Wake() {
  MutexLock lock(&mu_);
  ++wakes_;
  settled_.NotifyAll();
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
  answer.term = change.term();
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

absl::StatusOr<std::shared_ptr<const LiveView>> LiveShard::At(uint64_t at,
                                                              std::optional<uint64_t> term) const {
  if (const uint64_t last = version(); at > last) {
    return absl::OutOfRangeError(absl::StrCat("shard ", state_->base.shard.id().value,
                                              " is at version ", last, ", not yet at ", at));
  }
  if (term.has_value()) VICINITY_RETURN_IF_ERROR(CheckTerm(at, *term));
  return std::make_shared<const LiveView>(*state_, at, TermOf(at));
}

absl::Status LiveShard::CheckTerm(uint64_t version, uint64_t term) const {
  const uint64_t there = TermOf(version);
  if (there == term) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat(
      "version ", version, " of shard ", state_->base.shard.id().value, " is of term ", there,
      " here, and the one of term ", term, " is asked for: ",
      there > term ? "it was taken back when its writer was lost, and its number given again"
                   : "this server has not heard of that term's writer yet",
      "; ask for the versions that there are now"));
}

ShardVersion LiveShard::SizesAt(uint64_t version) const {
  ShardVersion sizes;
  sizes.version = version;
  sizes.term = TermOf(version);
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
