#include "server/connections/connection_guard.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

using Seconds = std::chrono::duration<double>;

// Beside a request's own bytes: the headers of its call, and what encryption and framing add.
constexpr int64_t kCallBytes = 1 << 10;
// Of a call that was given up: what its headers take at least. It is known by then, and counted.
constexpr int64_t kUselessBytes = 256;
constexpr int64_t WithFraming(int64_t bytes) { return bytes + bytes / 4; }
// For what is sent its receiver sends acknowledgements and windows: at most a sixteenth.
constexpr int64_t kSentForOne = 16;
constexpr int64_t kMostReading = 4;
// Calls under way have sent their headers, too: as many of them as a peer may have.
constexpr int64_t kMostLive = 128;
// Whoever gives up so many calls is not believed to be sending large requests.
constexpr double kFewUseless = 100;
// Share of the free bytes in all that one connection may have when these are used up.
constexpr int kSharers = 16;

double Leak(double level, double per_second, Seconds time) {
  return std::max(level - per_second * time.count(), 0.0);
}

}  // namespace

void ConnectionAccount::CallBegins() {
  live_.fetch_add(1, std::memory_order_relaxed);
  reading_.fetch_add(1, std::memory_order_relaxed);
  begun_.fetch_add(1, std::memory_order_relaxed);
}

void ConnectionAccount::RequestArrives(int64_t bytes) {
  // In this order: whoever sees that it arrives no more sees what it accounts for.
  credit_bytes_.fetch_add(WithFraming(bytes), std::memory_order_relaxed);
  reading_.fetch_sub(1, std::memory_order_release);
}

void ConnectionAccount::CallEnds(CallEnd end, bool had_request) {
  live_.fetch_sub(1, std::memory_order_relaxed);
  if (!had_request) {
    reading_.fetch_sub(1, std::memory_order_relaxed);
    unread_.fetch_add(1, std::memory_order_relaxed);
  }
  if (end == CallEnd::kAnswered) {
    answered_.fetch_add(1, std::memory_order_relaxed);
    credit_bytes_.fetch_add(kCallBytes, std::memory_order_relaxed);
  } else {
    useless_.fetch_add(1, std::memory_order_relaxed);
    credit_bytes_.fetch_add(kUselessBytes, std::memory_order_relaxed);
  }
}

void ConnectionAccount::SetClient(const std::string& client) {
  MutexLock lock(&mu_);
  if (client_.empty()) client_ = client;
}

ConnectionGuard::Entry ConnectionGuard::Admit(Id id, const PeerAddress& peer, Time now,
                                              std::optional<Id>* gives_way) {
  MutexLock lock(&mu_);
  ForgetMachines(now);
  Machine& machine = machines_[peer.machine];
  if (now < machine.waits_until) return Entry::kMachineWaits;
  const bool too_many_of_machine = machine.open >= limits_.max_of_machine;
  if (too_many_of_machine || static_cast<int64_t>(connections_.size()) >= limits_.max_connections) {
    *gives_way = LeastMissed(too_many_of_machine ? peer.machine : "", now);
    if (!gives_way->has_value()) return Entry::kFull;
    Remove(**gives_way, now);
    if (now < machine.waits_until) return Entry::kMachineWaits;
  }
  Connection& connection = connections_[id];
  connection.peer = peer;
  connection.account = std::make_shared<ConnectionAccount>();
  connection.accepted = connection.last_used = connection.last_look = now;
  by_endpoint_[peer.endpoint] = id;
  ++machine.open;
  return Entry::kLetIn;
}

// The oldest of those that have proven nothing, else the one that is idle for longest.
std::optional<ConnectionGuard::Id> ConnectionGuard::LeastMissed(const std::string& machine,
                                                                Time now) const {
  std::optional<Id> least;
  std::pair<bool, Time> least_rank;
  for (const auto& [id, connection] : connections_) {
    if (!machine.empty() && connection.peer.machine != machine) continue;
    const ConnectionAccount& account = *connection.account;
    const bool proven = account.answered_.load(std::memory_order_relaxed) > 0;
    const bool used = account.live_.load(std::memory_order_relaxed) > 0 ||
                      now - connection.last_used < limits_.idle;
    if (proven && used) continue;
    const std::pair<bool, Time> rank(proven, proven ? connection.last_used : connection.accepted);
    if (least.has_value() && rank >= least_rank) continue;
    least = id;
    least_rank = rank;
  }
  return least;
}

ConnectionGuard::Judgement ConnectionGuard::Look(Id id, absl::FunctionRef<SocketTraffic()> measure,
                                                 Time now) {
  MutexLock lock(&mu_);
  Judgement judgement;
  const auto found = connections_.find(id);
  if (found == connections_.end()) return judgement;
  Connection& connection = found->second;
  Measure(&connection, measure, now);
  judgement.owes = connection.debt > limits_.handshake_bytes;
  const std::string offence = OffenceOf(connection, now);
  if (!offence.empty()) {
    judgement.verdict = Verdict::kOffends;
    judgement.reason = CutOff(id, offence, now, &judgement.with_it);
    return judgement;
  }
  const bool proven = connection.account->answered_.load(std::memory_order_relaxed) > 0;
  const bool used = connection.account->live_.load(std::memory_order_relaxed) > 0;
  if (proven || used || now - connection.accepted < limits_.time_to_prove) return judgement;
  judgement.verdict = Verdict::kIdle;
  Remove(id, now);
  return judgement;
}

// Ends the connection, and those of its machine that have proven nothing, or do as it does: they
// would only go on where it was stopped.
std::string ConnectionGuard::CutOff(Id id, const std::string& offence, Time now,
                                    std::vector<Id>* with_it) {
  const Connection& connection = connections_[id];
  const PeerAddress peer = connection.peer;
  std::string client;
  {
    MutexLock account_lock(&connection.account->mu_);
    client = connection.account->client_;
  }
  std::string reason =
      absl::StrCat("cut off the connection from ", peer.text,
                   client.empty() ? "" : absl::StrCat(" (client ", client, ")"), ": ", offence);
  Remove(id, now);
  ++cut_off_;
  if (!limits_.machines_wait) return reason;
  for (const auto& [other_id, other] : connections_) {
    if (other.peer.machine != peer.machine) continue;
    const bool proven = other.account->answered_.load(std::memory_order_relaxed) > 0;
    if (!proven || other.debt > limits_.handshake_bytes || other.useless > kFewUseless) {
      with_it->push_back(other_id);
    }
  }
  for (const Id other : *with_it) Remove(other, now);
  const auto waits = LetWait(&machines_[peer.machine], now);
  if (!with_it->empty()) {
    absl::StrAppend(&reason, ", and ", with_it->size(),
                    " more like it or without an answered call");
  }
  absl::StrAppend(&reason, "; new ones from ", peer.machine, " are refused for ", waits.count(),
                  " ms");
  return reason;
}

void ConnectionGuard::CountDebt(Connection* connection, double debt, double late) {
  debt_in_all_ += debt - connection->debt_counted;
  machines_[connection->peer.machine].debt += late - connection->late_counted;
  connection->debt_counted = debt;
  connection->late_counted = late;
}

// Credits are read before the bytes that they are for, which must have been counted by then, or at
// the next look.
void ConnectionGuard::Measure(Connection* connection, absl::FunctionRef<SocketTraffic()> measure,
                              Time now) {
  const ConnectionAccount& account = *connection->account;
  connection->reading = account.reading_.load(std::memory_order_acquire);
  const int64_t credit = account.credit_bytes_.load(std::memory_order_relaxed);
  const int64_t begun = account.begun_.load(std::memory_order_relaxed);
  const int64_t useless = account.useless_.load(std::memory_order_relaxed);
  const int64_t unread = account.unread_.load(std::memory_order_relaxed);
  const SocketTraffic traffic = measure();
  const Seconds time = now - connection->last_look;
  if (begun != connection->begun || account.live_.load(std::memory_order_relaxed) > 0) {
    connection->last_used = now;
  }
  connection->debt += static_cast<double>((traffic.consumed - connection->traffic.consumed) -
                                          (credit - connection->credit_bytes) -
                                          (traffic.sent - connection->traffic.sent) / kSentForOne);
  connection->useless += static_cast<double>(useless - connection->useless_calls);
  connection->useless = Leak(connection->useless, limits_.useless_per_second, time);
  Forgive(connection, unread, now);
  connection->debt = Leak(connection->debt, limits_.free_bytes_per_second, time);
  connection->traffic = traffic;
  connection->credit_bytes = credit;
  connection->begun = begun;
  connection->useless_calls = useless;
  connection->last_look = now;
  NotePayment(connection, now);
  const double late = connection->debt - limits_.handshake_bytes;
  CountDebt(connection, connection->debt, IsLate(*connection, now) ? std::max(late, 0.0) : 0);
}

// A debt begins anew with what it is by now, once all that was owed has been accounted for.
void ConnectionGuard::NotePayment(Connection* connection, Time now) const {
  if (connection->debt <= limits_.handshake_bytes) {
    connection->owes_since = Time();
    return;
  }
  const bool is_new = connection->owes_since == Time();
  const auto paid = static_cast<double>(connection->credit_bytes - connection->paid);
  if (!is_new && paid < connection->owed) return;
  connection->owes_since = now;
  connection->owed = connection->debt;
  connection->paid = connection->credit_bytes;
}

// Who has proven nothing has no time to pay, nor has who gives up much.
bool ConnectionGuard::IsLate(const Connection& connection, Time now) const {
  if (connection.account->answered_.load(std::memory_order_relaxed) == 0) return true;
  if (connection.useless > kFewUseless) return true;
  return connection.owes_since != Time() && now - connection.owes_since >= limits_.pays_within;
}

// What the connection may owe: for itself, its calls' headers, and the requests that are on their
// way.
double ConnectionGuard::FreeBytesOf(const Connection& connection) const {
  const int64_t live = connection.account->live_.load(std::memory_order_relaxed);
  // Or was until just now: what it accounts for is not in the account of this look.
  const int64_t reading =
      std::max(connection.reading, connection.account->reading_.load(std::memory_order_relaxed));
  const auto headers = static_cast<double>(kCallBytes * std::clamp<int64_t>(live, 0, kMostLive));
  if (connection.useless > kFewUseless) return limits_.free_bytes + headers;
  if (reading <= 0) return limits_.free_bytes + headers;
  // One more: of a request that is too large more may come than one may have.
  const auto requests = static_cast<double>(std::min(reading, kMostReading) + 1);
  return limits_.free_bytes + headers + limits_.request_bytes * requests;
}

// A client whose request is refused while it sends it has the rest on its way. Not for one that
// gives up many.
void ConnectionGuard::Forgive(Connection* connection, int64_t unread, Time now) const {
  const bool was_unread = unread != connection->unread_calls;
  connection->unread_calls = unread;
  if (was_unread && connection->useless <= kFewUseless &&
      now - connection->forgave > limits_.forgives_request_after) {
    connection->forgivable = limits_.request_bytes + limits_.request_bytes / 2;
    connection->forgave = now;
  }
  if (now - connection->forgave > std::chrono::seconds(1)) connection->forgivable = 0;
  const double forgiven =
      std::min(connection->forgivable, std::max(connection->debt - limits_.handshake_bytes, 0.0));
  connection->debt -= forgiven;
  connection->forgivable -= forgiven;
}

std::string ConnectionGuard::OffenceOf(const Connection& connection, Time now) {
  const int64_t live = connection.account->live_.load(std::memory_order_relaxed);
  if (live > limits_.calls_at_once) {
    return absl::StrCat("it has ", live, " calls at once, the limit is ", limits_.calls_at_once);
  }
  if (connection.useless > limits_.useless_at_once) {
    return absl::StrCat(static_cast<int64_t>(connection.useless), " calls beyond ",
                        static_cast<int64_t>(limits_.useless_per_second),
                        " a second were given up, or of no use, the limit is ",
                        static_cast<int64_t>(limits_.useless_at_once));
  }
  const double free_bytes = FreeBytesOf(connection);
  const bool is_reading = free_bytes > 2 * limits_.free_bytes + kCallBytes * kMostLive;
  const bool is_late = IsLate(connection, now);
  const double most = free_bytes + (is_late ? 0 : 2 * limits_.request_bytes);
  const bool machine_owes = is_late && !is_reading && connection.debt > limits_.handshake_bytes &&
                            machines_[connection.peer.machine].debt > limits_.free_bytes_of_machine;
  const bool all_owe = connection.debt > limits_.free_bytes_in_all / kSharers &&
                       debt_in_all_ > limits_.free_bytes_in_all;
  if (connection.debt <= most && !machine_owes && !all_owe) return "";
  return absl::StrCat("it has sent ", static_cast<int64_t>(connection.debt),
                      " bytes that belong to no answered call",
                      machine_owes ? ", as others of its address have" : "");
}

// True if its machine has to wait for it.
bool ConnectionGuard::Remove(Id id, Time now) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return false;
  const Connection& connection = found->second;
  Machine& machine = machines_[connection.peer.machine];
  --machine.open;
  CountDebt(&found->second, 0, 0);
  const bool was_vain = connection.account->answered_.load(std::memory_order_relaxed) == 0;
  const auto by_endpoint = by_endpoint_.find(connection.peer.endpoint);
  // Another one may have come from the same port since.
  if (by_endpoint != by_endpoint_.end() && by_endpoint->second == id) {
    by_endpoint_.erase(by_endpoint);
  }
  const auto connection_bytes = static_cast<double>(connection.traffic.consumed);
  connections_.erase(found);
  if (!was_vain) return false;
  const bool was_large = connection_bytes > limits_.vain_bytes;
  machine.vain = Leak(machine.vain, limits_.vain_per_second, now - machine.vain_at) +
                 (was_large ? limits_.vain_at_once : 1);
  machine.vain_at = now;
  if (!limits_.machines_wait || machine.vain <= limits_.vain_at_once || now < machine.waits_until)
    return false;
  LetWait(&machine, now);
  return true;
}

std::string ConnectionGuard::Closed(Id id, Time now) {
  MutexLock lock(&mu_);
  const auto found = connections_.find(id);
  if (found == connections_.end()) return "";
  const std::string machine = found->second.peer.machine;
  if (!Remove(id, now)) return "";
  const auto waits =
      std::chrono::duration_cast<std::chrono::milliseconds>(machines_[machine].waits_until - now);
  return absl::StrCat("connections from ", machine, " are refused for ", waits.count(),
                      " ms: more than ", static_cast<int64_t>(limits_.vain_per_second),
                      " a second, or a large one, ended without a single answered call");
}

std::chrono::milliseconds ConnectionGuard::LetWait(Machine* machine, Time now) const {
  if (now - machine->last_offence > limits_.forgives_after) machine->offences = 0;
  const int doublings = std::min(machine->offences, 20);
  const auto waits = std::min(limits_.first_wait * (int64_t{1} << doublings),
                              std::chrono::milliseconds(limits_.longest_wait));
  // Those of one moment, of several connections, are one offence.
  if (now >= machine->waits_until) {
    ++machine->offences;
    machine->last_offence = now;
    machine->waits_until = now + waits;
    return waits;
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(machine->waits_until - now);
}

void ConnectionGuard::ForgetMachines(Time now) {
  if (now < next_forget_) return;
  next_forget_ = now + std::chrono::seconds(10);
  for (auto it = machines_.begin(); it != machines_.end();) {
    const Machine& machine = it->second;
    const bool clean = machine.open == 0 && now >= machine.waits_until &&
                       now - machine.last_offence > limits_.forgives_after;
    it = clean ? machines_.erase(it) : std::next(it);
  }
}

std::shared_ptr<ConnectionAccount> ConnectionGuard::Find(absl::string_view peer) {
  const std::optional<PeerAddress> address = PeerOfText(peer);
  if (address.has_value()) {
    MutexLock lock(&mu_);
    const auto found = by_endpoint_.find(address->endpoint);
    if (found != by_endpoint_.end()) return connections_[found->second].account;
  }
  return std::make_shared<ConnectionAccount>();
}

int64_t ConnectionGuard::num_open() const {
  MutexLock lock(&mu_);
  return static_cast<int64_t>(connections_.size());
}

int64_t ConnectionGuard::num_cut_off() const {
  MutexLock lock(&mu_);
  return cut_off_;
}

}  // namespace vicinity
