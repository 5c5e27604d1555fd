#include "server/generations.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "partition/dataset/manifest.h"
#include "partition/overlay/change_cursors.h"
#include "partition/overlay/live_shard.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"
#include "proto/telemetry/metric.h"
#include "server/logging/logging.h"

namespace vicinity {
namespace {

constexpr std::chrono::seconds kLookEvery(1);
// For calls that read a dataset which is let go.
constexpr std::chrono::seconds kLongestRelease(5);
constexpr std::chrono::milliseconds kReleasePause(5);

std::string Name(uint64_t fingerprint) {
  return absl::StrCat("dataset ", absl::Hex(fingerprint, absl::kZeroPad16));
}

ShardId FirstOf(const ServerOptions& options) {
  if (options.shards.empty()) return ShardId{0};
  return *std::min_element(options.shards.begin(), options.shards.end(),
                           [](ShardId a, ShardId b) { return a.value < b.value; });
}

// Where the dataset in force is, and which were before it.
struct StartPoint {
  Generation::Folders folders;
  std::vector<uint64_t> before;
};

absl::StatusOr<StartPoint> StartOf(const ServerOptions& options, spdlog::logger* log) {
  const StartPoint first = {{options.data, options.changes}, {}};
  if (options.changes.empty()) return first;
  VICINITY_ASSIGN_OR_RETURN(const std::optional<GenerationRecord> record,
                            ReadGenerationRecord(options.changes, FirstOf(options)));
  if (!record.has_value()) return first;
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest manifest, ReadManifest(options.data));
  const std::string changes = absl::StrCat(options.changes, "/", record->changes);
  if (manifest.fingerprint() == record->fingerprint) {
    return StartPoint{{options.data, changes}, record->before};
  }
  const auto& before = record->before;
  if (std::find(before.begin(), before.end(), manifest.fingerprint()) == before.end()) {
    return absl::FailedPreconditionError(absl::StrCat(
        options.data, " is ", Name(manifest.fingerprint()), ", and ", options.changes,
        " has the changes of ", Name(record->fingerprint), ", which is in ", record->data));
  }
  log->warn("{}: {} has taken its place: it is served from {}, which `data` is to say",
            options.data, Name(record->fingerprint), record->data);
  return StartPoint{{record->data, changes}, before};
}

// Waits until nobody else has it.
bool IsFree(const std::shared_ptr<Generation>& generation) {
  const auto until = std::chrono::steady_clock::now() + kLongestRelease;
  while (generation.use_count() > 1) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(kReleasePause);
  }
  return true;
}

absl::StatusOr<std::shared_ptr<LiveShard>> ShardOf(const Generation& generation, ShardId shard) {
  return generation.live()->Find(shard);
}

// The shards of the next one are those of the one in force.
absl::Status CheckNext(const Generation& next, const Generation& in_force) {
  const Book& book = in_force.dataset()->book();
  if (next.dataset()->book().num_shards() != book.num_shards()) {
    return absl::FailedPreconditionError(
        absl::StrCat(next.folders().data, " has ", next.dataset()->book().num_shards(),
                     " shards, the dataset in force ", book.num_shards()));
  }
  for (const ShardId shard : next.dataset()->wanted()) {
    VICINITY_RETURN_IF_ERROR(next.dataset()->fault(shard));
    VICINITY_RETURN_IF_ERROR(ShardOf(next, shard).status());
  }
  return absl::OkStatus();
}

// Readers of changes go on where they were. One that is behind the fold is not known in the new
// log: it gets all of that, and what lies before only from the old one.
absl::Status CarryCursors(const LiveShard& before, uint64_t folded_at, const LiveShard& after) {
  for (const ChangeCursor& cursor : before.cursors()->List()) {
    if (cursor.at.version <= folded_at) continue;
    const LogPosition at = {cursor.at.version - folded_at, cursor.at.term};
    VICINITY_RETURN_IF_ERROR(after.cursors()->Move(cursor.name, at));
  }
  return absl::OkStatus();
}

// Copies of changes that are all in the log of the dataset in force. Other servers may share the
// folder.
absl::Status RemoveCarried(const std::string& folder, const std::vector<ShardId>& shards) {
  std::error_code failed;
  for (const ShardId id : shards) {
    const std::string shard = absl::StrCat(folder, absl::StrFormat("/shard-%05d", id.value));
    std::filesystem::remove_all(shard, failed);
    if (failed) return absl::UnavailableError(absl::StrCat(shard, ": ", failed.message()));
    std::filesystem::remove(absl::StrCat(folder, absl::StrFormat("/reserve-%05d", id.value)),
                            failed);
  }
  std::filesystem::remove(folder, failed);  // if that was all
  return absl::OkStatus();
}

void ToProto(const LogPosition& position, proto::LogPosition* message) {
  message->set_version(position.version);
  message->set_term(position.term);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Generations>> Generations::Open(const ServerOptions& options,
                                                               MetricRegistry* metrics) {
  const std::shared_ptr<spdlog::logger> log =
      options.log != nullptr ? options.log : MakeSilentLogger();
  VICINITY_ASSIGN_OR_RETURN(StartPoint start, StartOf(options, log.get()));
  VICINITY_ASSIGN_OR_RETURN(GenerationPtr opened, Generation::Open(options, start.folders));
  return std::unique_ptr<Generations>(
      new Generations(options, metrics, std::move(opened), std::move(start.before)));
}

Generations::Generations(const ServerOptions& options, MetricRegistry* metrics,
                         GenerationPtr in_force, std::vector<uint64_t> before)
    : options_(options),
      metrics_(metrics),
      log_(options.log != nullptr ? options.log : MakeSilentLogger()),
      own_metrics_(metrics),
      before_(std::move(before)),
      in_force_(std::move(in_force)) {}

Generations::~Generations() { Stop(); }

absl::Status Generations::Start(const ServerState& common) {
  common_ = common;
  common_.also = [this] { return Others(); };
  MutexLock swaps(&swap_mu_);
  const GenerationPtr generation = in_force();
  generation->Complete(common_, before_.empty() ? 0 : before_.back());
  generation->TakeForce(metrics_);
  own_metrics_.Add(
      {"vicinity_server_retired_datasets",
       "Datasets whose place another has taken, kept for those who read them", MetricKind::kGauge},
      {}, [this] {
        MutexLock lock(&mu_);
        return static_cast<double>(retired_.size());
      });
  VICINITY_ASSIGN_OR_RETURN(thread_, StartThread([this] { LetGo(); }));
  return absl::OkStatus();
}

void Generations::Stop() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  in_force()->Retire();
}

std::shared_ptr<Generation> Generations::in_force() const {
  MutexLock lock(&mu_);
  return in_force_;
}

std::shared_ptr<const ServerState> Generations::Of(uint64_t fingerprint) const {
  MutexLock lock(&mu_);
  GenerationPtr found = in_force_;
  if (fingerprint != 0 && fingerprint != found->fingerprint()) {
    if (prepared_ != nullptr && prepared_->fingerprint() == fingerprint) found = prepared_;
    for (const Retired& retired : retired_) {
      if (retired.generation->fingerprint() != fingerprint) continue;
      found = retired.generation;
      retired.last_read = Clock::now();
    }
  }
  const ServerState* const state = &found->state();
  return {std::move(found), state};
}

std::vector<uint64_t> Generations::Others() const {
  MutexLock lock(&mu_);
  std::vector<uint64_t> others;
  if (prepared_ != nullptr) others.push_back(prepared_->fingerprint());
  for (const Retired& retired : retired_) others.push_back(retired.generation->fingerprint());
  return others;
}

absl::StatusOr<proto::SwapReply> Generations::Swap(const proto::SwapRequest& request) {
  MutexLock lock(&swap_mu_);
  if (in_force()->live() == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("server \"", options_.name,
                     "\" takes no changes: stop it, and start it with the other dataset"));
  }
  absl::Status done;
  switch (request.step()) {
    case proto::SWAP_PREPARE:
      done = Prepare(request);
      break;
    case proto::SWAP_CLOSE:
      done = CloseShards(request);
      break;
    case proto::SWAP_COMMIT:
      done = Commit(request);
      break;
    case proto::SWAP_ABORT:
      done = Abort(request);
      break;
    default:
      break;
  }
  VICINITY_RETURN_IF_ERROR(done);
  return Report();
}

absl::Status Generations::CheckOrder(const proto::SwapRequest& request) const {
  const uint64_t own = in_force()->fingerprint();
  if (own == request.follows()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "server \"", options_.name, "\": ", Name(own), " is in force, and ",
      Name(request.fingerprint()), " is to take the place of ", Name(request.follows())));
}

absl::StatusOr<Generations::GenerationPtr> Generations::PreparedFor(
    const proto::SwapRequest& request) const {
  VICINITY_RETURN_IF_ERROR(CheckOrder(request));
  MutexLock lock(&mu_);
  if (prepared_ != nullptr && prepared_->fingerprint() == request.fingerprint()) return prepared_;
  return absl::FailedPreconditionError(
      absl::StrCat("server \"", options_.name,
                   "\": ", prepared_ == nullptr ? "none" : Name(prepared_->fingerprint()),
                   " is prepared, and ", Name(request.fingerprint()), " is to be"));
}

absl::Status Generations::Prepare(const proto::SwapRequest& request) {
  if (in_force()->fingerprint() == request.fingerprint()) return absl::OkStatus();
  VICINITY_RETURN_IF_ERROR(CheckOrder(request));
  {
    MutexLock lock(&mu_);
    if (prepared_ != nullptr && prepared_->fingerprint() == request.fingerprint()) {
      return absl::OkStatus();
    }
    if (prepared_ != nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat("server \"", options_.name, "\": ", Name(prepared_->fingerprint()),
                       " is prepared to take its place: `vicinity swap --abort` lets it go"));
    }
  }
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest manifest, ReadManifest(request.data()));
  if (manifest.fingerprint() != request.fingerprint()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "server \"", options_.name, "\": ", request.data(), " is ", Name(manifest.fingerprint()),
        ", and ", Name(request.fingerprint()), " is to be prepared"));
  }
  VICINITY_ASSIGN_OR_RETURN(
      GenerationPtr next,
      Generation::Open(
          options_, {request.data(),
                     absl::StrCat(options_.changes, "/", ChangesFolderOf(request.fingerprint()))}));
  VICINITY_RETURN_IF_ERROR(CheckNext(*next, *in_force()));
  next->Complete(common_, request.follows());
  log_->info("{} is prepared to take the place of {}: {}", Name(request.fingerprint()),
             Name(request.follows()), request.data());
  MutexLock lock(&mu_);
  prepared_ = std::move(next);
  return absl::OkStatus();
}

absl::Status Generations::CloseShards(const proto::SwapRequest& request) {
  if (in_force()->fingerprint() == request.fingerprint()) return absl::OkStatus();
  VICINITY_RETURN_IF_ERROR(PreparedFor(request).status());
  const GenerationPtr now = in_force();
  for (const ShardId id : now->dataset()->wanted()) {
    VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<LiveShard> shard, ShardOf(*now, id));
    VICINITY_RETURN_IF_ERROR(shard->Close(request.fingerprint()));
    VICINITY_RETURN_IF_ERROR(shard->Sync());
  }
  log_->info("{} takes no changes any more", Name(now->fingerprint()));
  return absl::OkStatus();
}

absl::Status Generations::Commit(const proto::SwapRequest& request) {
  if (in_force()->fingerprint() == request.fingerprint()) return absl::OkStatus();
  VICINITY_ASSIGN_OR_RETURN(const GenerationPtr next, PreparedFor(request));
  const GenerationPtr now = in_force();
  for (const ShardId id : now->dataset()->wanted()) {
    VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<LiveShard> before, ShardOf(*now, id));
    VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<LiveShard> after, ShardOf(*next, id));
    if (before->closed_for() != request.fingerprint()) {
      return absl::FailedPreconditionError(
          absl::StrCat("server \"", options_.name, "\": shard ", id.value, " takes changes still"));
    }
    // Of a shard that nobody else has nobody is appointed.
    if (now->replication() != nullptr && now->replication()->Find(id) != nullptr) {
      VICINITY_RETURN_IF_ERROR(after->Appoint(before->writer()));
    }
    // Its log began empty, and lacks nothing: the swap has seen that all is there that was carried,
    // and nothing else has been acknowledged.
    VICINITY_RETURN_IF_ERROR(after->CaughtUp());
    if (id.value < request.folded_at_size()) {
      VICINITY_RETURN_IF_ERROR(CarryCursors(*before, request.folded_at(id.value), *after));
    }
  }
  GenerationRecord record;
  record.fingerprint = request.fingerprint();
  record.data = next->folders().data;
  record.changes = ChangesFolderOf(request.fingerprint());
  record.before = before_;
  record.before.push_back(now->fingerprint());
  VICINITY_RETURN_IF_ERROR(WriteGenerationRecord(options_.changes, FirstOf(options_), record));
  before_ = record.before;
  {
    MutexLock lock(&mu_);
    retired_.push_back({in_force_, Clock::now()});
    in_force_ = next;
    prepared_ = nullptr;
  }
  now->Retire();
  next->TakeForce(metrics_);
  log_->info("{} is in force now, from {}; {} is read on by those who have it open",
             Name(next->fingerprint()), next->folders().data, Name(now->fingerprint()));
  return absl::OkStatus();
}

absl::Status Generations::Abort(const proto::SwapRequest& request) {
  VICINITY_RETURN_IF_ERROR(CheckOrder(request));
  GenerationPtr next;
  {
    MutexLock lock(&mu_);
    next = std::exchange(prepared_, nullptr);
  }
  if (next != nullptr) {
    const std::string changes = next->folders().changes;
    const std::vector<ShardId> shards(next->dataset()->wanted().begin(),
                                      next->dataset()->wanted().end());
    if (!IsFree(next)) {
      MutexLock lock(&mu_);
      prepared_ = next;
      return absl::UnavailableError(
          absl::StrCat("server \"", options_.name, "\": ", Name(next->fingerprint()),
                       " is read still; it is let go when this is asked for again"));
    }
    next.reset();
    VICINITY_RETURN_IF_ERROR(RemoveCarried(changes, shards));
  }
  const GenerationPtr now = in_force();
  for (const ShardId id : now->dataset()->wanted()) {
    VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<LiveShard> shard, ShardOf(*now, id));
    VICINITY_RETURN_IF_ERROR(shard->Close(0));
  }
  log_->info("{} stays in force, and takes changes", Name(now->fingerprint()));
  return absl::OkStatus();
}

absl::StatusOr<proto::SwapReply> Generations::Report() const {
  GenerationPtr now;
  GenerationPtr next;
  proto::SwapReply reply;
  {
    MutexLock lock(&mu_);
    now = in_force_;
    next = prepared_;
    for (const Retired& retired : retired_) reply.add_kept(retired.generation->fingerprint());
  }
  reply.set_server(options_.name);
  reply.set_serving(now->fingerprint());
  reply.set_prepared(next == nullptr ? 0 : next->fingerprint());
  for (const ShardId id : now->dataset()->wanted()) {
    VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<LiveShard> shard, ShardOf(*now, id));
    proto::SwapShard* const told = reply.add_shards();
    told->set_shard(id.value);
    const WriterTerm writer = shard->writer();
    told->mutable_writer()->set_term(writer.term);
    told->mutable_writer()->set_writer(writer.writer);
    const LogPosition position = shard->position();
    VICINITY_RETURN_IF_ERROR(shard->Sync());
    ToProto(position, told->mutable_position());
    told->set_closed(shard->closed_for() != 0);
    for (const ChangeCursor& cursor : shard->cursors()->List()) {
      proto::ChangeCursor* const each = told->add_cursors();
      each->set_name(cursor.name);
      ToProto(cursor.at, each->mutable_at());
      each->set_unix_micros(cursor.unix_micros);
    }
    if (next == nullptr) continue;
    VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<LiveShard> carried, ShardOf(*next, id));
    ToProto(carried->position(), told->mutable_carried());
  }
  return reply;
}

void Generations::LetGo() {
  const auto keep = absl::ToChronoNanoseconds(options_.keep_retired);
  while (true) {
    GenerationPtr gone;
    {
      MutexLock lock(&mu_);
      if (!stopping_) changed_.WaitFor(&mu_, kLookEvery);
      if (stopping_) return;
      for (auto retired = retired_.begin(); retired != retired_.end(); ++retired) {
        const bool is_idle = Clock::now() - retired->last_read > keep;
        if (!is_idle || retired->generation.use_count() > 1) continue;
        gone = std::move(retired->generation);
        retired_.erase(retired);
        break;
      }
    }
    if (gone == nullptr) continue;
    log_->info(
        "{} is let go: nobody has read it for {}; its changes in {} and its files in {} may "
        "be removed",
        Name(gone->fingerprint()), absl::FormatDuration(options_.keep_retired),
        gone->folders().changes, gone->folders().data);
  }
}

}  // namespace vicinity
