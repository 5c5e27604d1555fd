#include "tests/server/replication/replica_group.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "proto/service.pb.h"
#include "server/replication/other_server.h"
#include "tests/testing/graphs/numbered_batches.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {
namespace {

constexpr ShardId kShard = {0};

std::shared_ptr<spdlog::logger> NoLog() {
  return std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::null_sink_mt>());
}

}  // namespace

struct ReplicaGroup::Server {
  std::string name;
  std::vector<std::unique_ptr<std::atomic<bool>>> cut_from;  // by server
  std::atomic<int64_t> asked{0};                             // times, while it was up
  std::atomic<int> holds{-1};                                // calls to that server do not get on
  std::atomic<bool> is_held{false};                          // one waits for it
  std::shared_mutex mu;                                      // shared while a call of another runs
  std::unique_ptr<LiveDataset> live;                         // null: down
  std::unique_ptr<ShardKeeper> keeper;                       // likewise; ends first
};

class ReplicaGroup::Link final : public OtherServer {
 public:
  Link(Server* from, Server* to, int to_number) : from_(from), to_(to), to_number_(to_number) {}

  const std::string& name() const override { return to_->name; }

  absl::StatusOr<proto::ReplicateReply> Replicate(proto::ReplicateRequest request,
                                                  absl::Duration) override {
    while (from_->holds == to_number_ && !gone_) {
      from_->is_held = true;
      absl::SleepFor(absl::Milliseconds(1));
    }
    if (gone_ || IsCut()) return absl::UnavailableError("cut");
    const std::shared_lock<std::shared_mutex> lock(to_->mu);
    if (to_->keeper == nullptr) return absl::UnavailableError("down");
    proto::ReplicateRequest sent;
    sent.ParseFromString(request.SerializeAsString());
    auto reply = to_->keeper->Take(sent);
    ++to_->asked;
    if (IsCut()) return absl::UnavailableError("cut while it was answered");
    return reply;
  }
  void Cancel() override { gone_ = true; }

 private:
  bool IsCut() const { return *from_->cut_from[to_number_]; }

  Server* const from_;
  Server* const to_;
  const int to_number_;
  std::atomic<bool> gone_{false};
};

ReplicaGroup::ReplicaGroup(int servers, absl::Duration ask_every) : ask_every_(ask_every) {
  const MemoryGraph graph = RandomGraph({});
  VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 1, 1), folder_.File("graph")));
  Dataset::Options options;
  options.grows = true;
  VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("graph"), options));
  base_ = std::make_unique<LiveBase>(BaseOf(*dataset_));
  for (int i = 0; i < servers; ++i) {
    servers_.push_back(std::make_unique<Server>());
    servers_[i]->name = NameOf(i);
    for (int j = 0; j < servers; ++j) {
      servers_[i]->cut_from.push_back(std::make_unique<std::atomic<bool>>(false));
    }
  }
  for (int i = 0; i < servers; ++i) Start(i);
}

// Stop of one that calls another waits for the call, which the other must be there for.
ReplicaGroup::~ReplicaGroup() {
  for (const auto& server : servers_) {
    if (server->keeper != nullptr) server->keeper->Stop();
  }
}

std::vector<std::string> ReplicaGroup::names() const {
  std::vector<std::string> names;
  for (const auto& server : servers_) names.push_back(server->name);
  return names;
}

LiveDatasetOptions ReplicaGroup::OptionsOf(int server) const {
  LiveDatasetOptions options;
  options.cache_bytes = 3 << 20;
  options.servers = [name = NameOf(server), count = size()](ShardId) {
    return ShardServers{name, NameOf(0), count};
  };
  return options;
}

void ReplicaGroup::Start(int server) {
  Server& started = *servers_[server];
  auto live = LiveDataset::Open(*dataset_, FolderOf(server), OptionsOf(server));
  VICINITY_REQUIRE_OK(live.status());
  ShardKeeper::Options options;
  options.shard = kShard;
  options.self = started.name;
  options.fingerprint = dataset_->fingerprint();
  options.ask_every = ask_every_;
  for (int other = 0; other < size(); ++other) {
    if (other == server) continue;
    options.others.push_back(std::make_unique<Link>(&started, servers_[other].get(), other));
  }
  auto keeper = std::make_unique<ShardKeeper>(live->get(), std::move(options), NoLog());
  ShardKeeper* const to_start = keeper.get();
  {
    const std::unique_lock<std::shared_mutex> lock(started.mu);
    started.live = *std::move(live);
    started.keeper = std::move(keeper);
  }
  to_start->Start();
}

void ReplicaGroup::Stop(int server) {
  Server& stopped = *servers_[server];
  stopped.keeper->Stop();
  const std::unique_lock<std::shared_mutex> lock(stopped.mu);
  stopped.keeper.reset();
  stopped.live.reset();
}

bool ReplicaGroup::is_up(int server) const { return servers_[server]->live != nullptr; }

void ReplicaGroup::Wipe(int server) { std::filesystem::remove_all(FolderOf(server)); }

void ReplicaGroup::Restore(int server, const std::vector<proto::Change>& log) {
  Wipe(server);
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const auto live, LiveDataset::Open(*dataset_, FolderOf(server), LiveDatasetOptions()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<LiveShard> restored, live->Find(kShard));
  for (const proto::Change& change : log) {
    VICINITY_REQUIRE_OK(
        restored->Repeat(change, Durability::kBuffered, absl::Now() + absl::Seconds(30)));
  }
  VICINITY_REQUIRE_OK(restored->Sync());
}

std::vector<proto::Change> ReplicaGroup::LogOf(int server) const {
  std::vector<proto::Change> log;
  for (uint64_t version = 1; version <= shard(server)->logged(); ++version) {
    VICINITY_ASSERT_OK_AND_ASSIGN(proto::Change change, shard(server)->ReadChange(version));
    log.push_back(std::move(change));
  }
  return log;
}

void ReplicaGroup::AwaitAsked(int server, int64_t more) const {
  const int64_t enough = servers_[server]->asked + more;
  const absl::Time until = absl::Now() + absl::Seconds(30);
  while (servers_[server]->asked < enough) {
    if (absl::Now() > until) FAIL(NameOf(server) << " was not asked " << more << " times more");
    absl::SleepFor(absl::Milliseconds(1));
  }
}

void ReplicaGroup::Cut(int one, int other, bool is_cut) {
  *servers_[one]->cut_from[other] = is_cut;
  *servers_[other]->cut_from[one] = is_cut;
}

void ReplicaGroup::During(int one, int other, const std::function<void()>& start,
                          const std::function<void()>& meanwhile) {
  Server& from = *servers_[one];
  from.is_held = false;
  from.holds = other;
  start();
  for (int i = 0; i < 10'000 && !from.is_held; ++i) absl::SleepFor(absl::Milliseconds(1));
  const bool was_held = from.is_held;
  meanwhile();
  from.holds = -1;
  if (!was_held) FAIL("no call was made");
}

std::string ReplicaGroup::FolderOf(int server) const {
  return folder_.File(absl::StrCat("changes-", NameOf(server)));
}

std::shared_ptr<LiveShard> ReplicaGroup::shard(int server) const {
  const auto shard = servers_[server]->live->Find(kShard);
  return shard.ok() ? *shard : nullptr;
}

ShardKeeper& ReplicaGroup::keeper(int server) const { return *servers_[server]->keeper; }

absl::StatusOr<AppliedBatch> ReplicaGroup::Apply(int server, const std::string& session,
                                                 uint64_t sequence, uint64_t n,
                                                 Durability durability, absl::Duration limit) {
  if (!is_up(server)) return absl::UnavailableError("down");
  const std::shared_ptr<LiveShard> written = shard(server);
  if (written == nullptr) return absl::UnavailableError("it starts over");
  proto::WriteSession from;
  from.set_id(session);
  from.set_sequence(sequence);
  return written->Apply(from, NumberedBatch(*base_, n), durability, absl::Now() + limit);
}

absl::StatusOr<proto::AppointReply> ReplicaGroup::Appoint(int server,
                                                          const proto::AppointRequest& request) {
  if (!is_up(server)) return absl::UnavailableError("down");
  if (request.has_writer()) {
    ShardKeeper::Appointment appointment;
    appointment.writer = {request.writer().term(), request.writer().writer()};
    appointment.least = {request.least().version(), request.least().term()};
    appointment.hands_over = request.hands_over();
    VICINITY_RETURN_IF_ERROR(keeper(server).Appoint(appointment));
  }
  VICINITY_ASSIGN_OR_RETURN(const ShardKeeper::Known known, keeper(server).Read());
  proto::AppointReply reply;
  reply.set_fingerprint(dataset_->fingerprint());
  reply.mutable_writer()->set_term(known.writer.term);
  reply.mutable_writer()->set_writer(known.writer.writer);
  reply.mutable_position()->set_version(known.position.version);
  reply.mutable_position()->set_term(known.position.term);
  reply.set_catching_up(known.catching_up);
  return reply;
}

int ReplicaGroup::AwaitSame() {
  const absl::Time until = absl::Now() + absl::Seconds(30);
  std::string seen;
  while (absl::Now() < until) {
    int writer = -1;
    bool same = true;
    LogPosition first;
    seen.clear();
    for (int server = 0, met = 0; server < size(); ++server) {
      if (!is_up(server)) continue;
      const std::shared_ptr<LiveShard> shard = this->shard(server);
      same = same && shard != nullptr;
      if (shard == nullptr) continue;
      const LogPosition position = shard->position();
      if (met++ == 0) first = position;
      same = same && position == first && shard->version() == position.version;
      if (shard->refusal().ok()) writer = server;
      absl::StrAppend(&seen, NameOf(server), ": ", position.version, " of term ", position.term,
                      "; ");
    }
    if (same && writer >= 0 && shard(writer)->writer().term == first.term) return writer;
    absl::SleepFor(absl::Milliseconds(2));
  }
  FAIL("servers have not become the same: " << seen);
  return -1;
}

uint64_t ReplicaGroup::DifferenceOf(int one, int other) const {
  const std::shared_ptr<LiveShard> left = shard(one);
  const std::shared_ptr<LiveShard> right = shard(other);
  for (uint64_t version = 1; version <= std::max(left->version(), right->version()); ++version) {
    if (version > left->version() || version > right->version()) return version;
    const auto ours = left->ReadChange(version);
    const auto theirs = right->ReadChange(version);
    VICINITY_REQUIRE_OK(ours.status());
    VICINITY_REQUIRE_OK(theirs.status());
    if (ours->SerializeAsString() != theirs->SerializeAsString()) return version;
  }
  return 0;
}

}  // namespace vicinity::testing
