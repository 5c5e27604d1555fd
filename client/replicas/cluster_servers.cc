#include "client/replicas/cluster_servers.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/shards/thread_cancellation.h"

namespace vicinity {
namespace {

using Clock = std::chrono::steady_clock;

// How long the others are waited for once every shard has a replica.
constexpr std::chrono::milliseconds kGrace(250);
// Beyond the connect timeout, within which every hello ends.
constexpr std::chrono::seconds kMargin(2);
constexpr std::chrono::milliseconds kLongestProbe(1000);
// Between two looks whether the choice is cancelled, where it can be.
constexpr std::chrono::milliseconds kLookForCancel(20);

}  // namespace

ClusterServers::ClusterServers(std::vector<ServerToReach> servers, const ReplicaTools& tools)
    : answers_(servers.size()) {
  for (ServerToReach& each : servers) {
    ServerEndpoint& endpoint = each.endpoint;
    for (const ShardId shard : endpoint.shards) shards_.insert(shard.value);
    connect_timeout_ = std::max(connect_timeout_, each.options.connect_timeout);
    const int i = size();
    auto server = std::make_unique<Server>();
    const std::string name = absl::StrCat(endpoint.address, " (server ", endpoint.name, ")");
    server->connection =
        std::make_unique<ServerConnection>(std::move(endpoint), each.options, tools.traffic);
    server->replica = std::make_unique<ReplicaServer>(
        name, ReplicaServer::Options(), tools,
        [this, i](Cancellation* cancel, Done done) { Probe(i, cancel, std::move(done)); });
    server->connection->WhenStopping([replica = server->replica.get()] { replica->OnStopping(); });
    servers_.push_back(std::move(server));
  }
  for (const auto& server : servers_) server->replica->Start();
}

ClusterServers::~ClusterServers() {
  std::vector<Done> probes;
  {
    MutexLock lock(&mu_);
    closing_ = true;
    for (Answer& answer : answers_) {
      if (answer.probe) probes.push_back(std::exchange(answer.probe, nullptr));
    }
  }
  for (const Done& probe : probes) probe(absl::CancelledError("the graph is closed"));
}

bool ClusterServers::IsConnected(int server) const {
  MutexLock lock(&mu_);
  return answers_[server].connected;
}

void ClusterServers::SetConnected(int server, bool connected) {
  MutexLock lock(&mu_);
  answers_[server].connected = connected;
}

void ClusterServers::Probe(int server, Cancellation* cancel, Done done) {
  ServerConnection* const connection = servers_[server]->connection.get();
  if (!IsConnected(server)) {
    connection->Connect(
        cancel, [this, server, connection, done = std::move(done)](const absl::Status& status) {
          SetConnected(server, status.ok());
          OnHello(server, status, status.ok() ? connection->hello() : proto::HelloReply(), done);
        });
    return;
  }
  connection->AskHello(cancel, std::min(connect_timeout_, kLongestProbe),
                       [this, server, done = std::move(done)](const absl::Status& status,
                                                              const proto::HelloReply& hello) {
                         OnHello(server, status, hello, done);
                       });
}

void ClusterServers::OnHello(int server, const absl::Status& status, const proto::HelloReply& hello,
                             Done done) {
  absl::Status verdict = status;
  {
    MutexLock lock(&mu_);
    Answer& answer = answers_[server];
    answer.asked = true;
    answer.error = status;
    answer.fingerprint = hello.fingerprint();
    answer.follows = hello.follows();
    answer.also = std::set<uint64_t>(hello.also().begin(), hello.also().end());
    answer.live = hello.live();
    answer.shards = std::set<int32_t>(hello.shards().begin(), hello.shards().end());
    changed_.NotifyAll();
    if (status.ok() && !chosen_.has_value() && !closing_) {
      answer.probe = std::move(done);
      return;
    }
    if (chosen_.has_value()) verdict = Judge(server, *chosen_);
  }
  done(verdict);
}

bool ClusterServers::IsReplaced(const Answer& answer, const KnownDataset& dataset) {
  return answer.error.ok() && answer.fingerprint != dataset.fingerprint &&
         answer.also.count(dataset.fingerprint) == 0 && answer.follows == dataset.fingerprint;
}

absl::Status ClusterServers::CheckServer(int server, const KnownDataset& dataset) const {
  const Answer& answer = answers_[server];
  const ServerEndpoint& there = endpoint(server);
  if (!answer.error.ok()) return answer.error;
  if (IsReplaced(answer, dataset)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("shard %d at %s (server %s): dataset %016x has taken the place of %016x, "
                        "of which %s is and "
                        "which is not served any more: open the graph anew",
                        there.shards.front().value, there.address, there.name, answer.fingerprint,
                        dataset.fingerprint, dataset.whose));
  }
  if (answer.fingerprint != dataset.fingerprint && answer.also.count(dataset.fingerprint) == 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "shard %d at %s (server %s) is of dataset %016x, %s of %016x", there.shards.front().value,
        there.address, there.name, answer.fingerprint, dataset.whose, dataset.fingerprint));
  }
  if (answer.live != there.live) {
    return absl::FailedPreconditionError(absl::StrCat(
        "server ", there.name, " at ", there.address, answer.live ? " takes" : " does not take",
        " changes, the cluster file says that it ", there.live ? "does" : "does not",
        " (`changes`)"));
  }
  for (const ShardId shard : there.shards) {
    if (answer.shards.count(shard.value) == 0) {
      return absl::NotFoundError(absl::StrCat("shard ", shard.value, " is not served at ",
                                              there.address, " (server ", there.name,
                                              "), where the cluster file says it is"));
    }
  }
  return absl::OkStatus();
}

absl::Status ClusterServers::Judge(int server, const KnownDataset& dataset) {
  absl::Status verdict = CheckServer(server, dataset);
  if (IsReplaced(answers_[server], dataset)) servers_[server]->replica->OnReplaced(verdict);
  return verdict;
}

bool ClusterServers::AllAsked() const {
  return std::all_of(answers_.begin(), answers_.end(),
                     [](const Answer& answer) { return answer.asked; });
}

bool ClusterServers::IsWhole(const KnownDataset& dataset) const {
  std::set<int32_t> served;
  for (int i = 0; i < size(); ++i) {
    if (!answers_[i].asked || !CheckServer(i, dataset).ok()) continue;
    for (const ShardId shard : endpoint(i).shards) served.insert(shard.value);
  }
  return served == shards_;
}

std::vector<KnownDataset> ClusterServers::Candidates() const {
  std::vector<KnownDataset> found;
  for (int i = 0; i < size(); ++i) {
    const Answer& answer = answers_[i];
    if (!answer.asked || !answer.error.ok()) continue;
    const bool known = std::any_of(found.begin(), found.end(), [&](const KnownDataset& other) {
      return other.fingerprint == answer.fingerprint;
    });
    if (!known) found.push_back({answer.fingerprint, absl::StrCat("server ", endpoint(i).name)});
  }
  return found;
}

bool ClusterServers::IsFollowed(const KnownDataset& dataset) const {
  return std::any_of(answers_.begin(), answers_.end(), [&](const Answer& answer) {
    return answer.asked && answer.error.ok() && answer.follows == dataset.fingerprint;
  });
}

absl::Status ClusterServers::WhyNone(const std::optional<KnownDataset>& known) const {
  const std::vector<KnownDataset> candidates = Candidates();
  const KnownDataset dataset =
      known.value_or(candidates.empty() ? KnownDataset() : candidates.front());
  for (const int32_t shard : shards_) {
    std::vector<absl::Status> errors;
    for (int i = 0; i < size(); ++i) {
      const auto& shards = endpoint(i).shards;
      if (std::find(shards.begin(), shards.end(), ShardId{shard}) == shards.end()) continue;
      errors.push_back(answers_[i].asked ? CheckServer(i, dataset)
                                         : servers_[i]->replica->last_error());
    }
    if (std::any_of(errors.begin(), errors.end(), [](const auto& e) { return e.ok(); })) continue;
    if (errors.size() == 1) return errors.front();
    std::string text = absl::StrCat("shard ", shard, " has no server: ");
    bool alike = true;
    for (const absl::Status& error : errors) {
      absl::StrAppend(&text, &error == &errors.front() ? "" : "; ", error.message());
      alike = alike && error.code() == errors.front().code();
    }
    return absl::Status(alike ? errors.front().code() : absl::StatusCode::kUnavailable, text);
  }
  return absl::InternalError("every shard has a server, and no dataset has every shard");
}

absl::StatusOr<KnownDataset> ClusterServers::WaitForChoice(
    const std::optional<KnownDataset>& known) {
  const Clock::time_point give_up = Clock::now() + connect_timeout_ + kMargin;
  const Cancellation* const cancel = ThreadCancellation();
  const std::chrono::nanoseconds longest_wait =
      cancel == nullptr ? std::chrono::nanoseconds(std::chrono::seconds(1)) : kLookForCancel;
  std::optional<Clock::time_point> whole_since;
  MutexLock lock(&mu_);
  while (cancel == nullptr || !cancel->cancelled()) {
    std::vector<KnownDataset> whole;
    for (const KnownDataset& each : known ? std::vector<KnownDataset>{*known} : Candidates()) {
      if (IsWhole(each)) whole.push_back(each);
    }
    // While servers go over from one dataset to the next both are there.
    if (whole.size() > 1) {
      whole.erase(std::remove_if(whole.begin(), whole.end(),
                                 [this](const KnownDataset& each) ABSL_EXCLUSIVE_LOCKS_REQUIRED(
                                     mu_) { return IsFollowed(each); }),
                  whole.end());
    }
    const Clock::time_point now = Clock::now();
    if (!whole.empty() && !whole_since.has_value()) whole_since = now;
    const bool enough = whole_since.has_value() && now >= *whole_since + kGrace;
    if (AllAsked() || enough || now >= give_up) {
      if (whole.empty()) return WhyNone(known);
      if (whole.size() > 1) {
        return absl::FailedPreconditionError(absl::StrFormat(
            "%s is of dataset %016x, %s of %016x, and either is there as a whole: which is meant?",
            whole[0].whose, whole[0].fingerprint, whole[1].whose, whole[1].fingerprint));
      }
      chosen_ = whole.front();
      return whole.front();
    }
    changed_.WaitFor(&mu_, whole.empty()
                               ? longest_wait
                               : std::min<std::chrono::nanoseconds>(longest_wait, kGrace / 5));
  }
  return absl::CancelledError("the servers of the cluster are not waited for any more");
}

absl::StatusOr<uint64_t> ClusterServers::ChooseDataset(const std::optional<KnownDataset>& known) {
  absl::StatusOr<KnownDataset> chosen = WaitForChoice(known);
  if (!chosen.ok()) return chosen.status();
  std::vector<std::pair<Done, absl::Status>> ended;
  {
    MutexLock lock(&mu_);
    for (int i = 0; i < size(); ++i) {
      if (!answers_[i].probe) continue;
      ended.emplace_back(std::exchange(answers_[i].probe, nullptr), Judge(i, *chosen));
    }
  }
  for (const auto& [done, verdict] : ended) done(verdict);
  return chosen->fingerprint;
}

absl::Status ClusterServers::Describe(proto::DescribeReply* reply) {
  absl::Status last = absl::UnavailableError("no server is live");
  uint64_t fingerprint = 0;
  {
    MutexLock lock(&mu_);
    if (chosen_.has_value()) fingerprint = chosen_->fingerprint;
  }
  for (int i = 0; i < size(); ++i) {
    if (!replica(i)->live()) continue;
    last = connection(i)->Describe(fingerprint, reply);
    if (last.ok()) return last;
    replica(i)->OnFailure(last);
  }
  return last;
}

}  // namespace vicinity
