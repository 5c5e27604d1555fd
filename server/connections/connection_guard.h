// Judges connections: which are let in, which are cut off, and whose address has to wait.
//
// gRPC 1.51 bounds neither what a peer sends outside of calls nor how often it gives calls up, and
// both cost the server far more than the peer. So the kernel is asked what a connection has
// received, and the calls say what they account for; who sends much else is cut off.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "proto/common/mutex.h"
#include "server/connections/peer_address.h"
#include "server/connections/socket_traffic.h"

namespace vicinity {

// How a call ended, for its connection.
enum class CallEnd {
  kAnswered,  // or refused for reasons of the server's
  kUseless,   // given up before it was answered, nobody's, of no known method, beyond a limit
};

// What calls tell of their connection. Threads: any.
class ConnectionAccount {
 public:
  // A call comes, at first without its request.
  void CallBegins();
  void RequestArrives(int64_t bytes);
  // `had_request`: it arrived.
  void CallEnds(CallEnd end, bool had_request);
  // Who is behind it, once known; the first one stays.
  void SetClient(const std::string& client);
  // Calls that have begun and not ended.
  int64_t live() const { return live_.load(std::memory_order_relaxed); }

 private:
  friend class ConnectionGuard;

  std::atomic<int64_t> live_{0};     // calls
  std::atomic<int64_t> reading_{0};  // of them, those whose requests arrive
  std::atomic<int64_t> begun_{0};
  std::atomic<int64_t> answered_{0};
  std::atomic<int64_t> useless_{0};
  std::atomic<int64_t> unread_{0};        // calls that ended before their request was there
  std::atomic<int64_t> credit_bytes_{0};  // that calls account for
  mutable Mutex mu_;
  std::string client_ ABSL_GUARDED_BY(mu_);
};

struct ConnectionLimits {
  int64_t max_connections = 4096;
  int64_t max_of_machine = 1024;  // of them, from one address
  // Let in within 20 ms at most, and fewer where that takes long; others wait their turn.
  int64_t new_at_once = 64;

  // Of one connection. Honest ones stay far below: a call that is given up costs the server some 40
  // microseconds, so that a thousand a second are 4 % of a core.
  double useless_per_second = 1000;
  double useless_at_once = 1000;
  int64_t calls_at_once = 256;  // more than twice what the transport allows those who keep to it
  // Bytes that no call accounts for: handshakes, pings, windows; and calls that were given up, of
  // which gRPC may have thousands waiting, at 20 KiB each, that nobody has been told of yet.
  double free_bytes_per_second = 64 << 10;
  double free_bytes = 128 << 10;
  double request_bytes = 8 << 20;  // and of requests that are arriving, of four at most
  // gRPC may have read much of a connection that is in use before anybody is told of it, when the
  // cores have other things to do: whatever it owes is only late when it has not accounted for so
  // much in this time. Until then it may owe two requests more.
  std::chrono::milliseconds pays_within{500};
  // What is on its way of a request that was refused before it was all there (too large, say) is
  // forgiven, once in so long.
  std::chrono::seconds forgives_request_after{10};
  // Of all connections of a machine, each beyond what a handshake takes; and of all there are.
  double handshake_bytes = 16 << 10;
  double free_bytes_of_machine = 128 << 10;
  double free_bytes_in_all = 64 << 20;

  // Connections of one machine that end without any answered call.
  double vain_per_second = 50;
  double vain_at_once = 250;
  double vain_bytes = 64 << 10;  // one that has sent so much is enough
  // One that is not used for so long is idle, and may have to give way to a new one.
  std::chrono::seconds idle{10};
  // One without an answered call is closed after it.
  std::chrono::seconds time_to_prove{30};

  // How long a machine waits whose connection was cut off: at first, doubling, and at most; it
  // counts anew when there was no reason for so long. Not where `machines_wait` is false: all
  // come through a proxy, with its address.
  bool machines_wait = true;
  std::chrono::milliseconds first_wait{500};
  std::chrono::milliseconds longest_wait{30'000};
  std::chrono::minutes forgives_after{10};
};

// Threads: all methods from any number at once; `measure` is called under a lock. Knows no sockets
//          and reads no clock.
class ConnectionGuard {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Id = uint64_t;

  explicit ConnectionGuard(const ConnectionLimits& limits) : limits_(limits) {}

  const ConnectionLimits& limits() const { return limits_; }

  // Whether a new connection may come in. `gives_way` gets the one that has to end for it, if any.
  enum class Entry { kLetIn, kMachineWaits, kFull };
  Entry Admit(Id id, const PeerAddress& peer, Time now, std::optional<Id>* gives_way);

  // Judges a connection by what has happened since the last look; with anything but kMayStay it is
  // to be ended and is not known any more. `measure` is asked for its traffic.
  enum class Verdict { kMayStay, kIdle, kOffends };
  struct Judgement {
    Verdict verdict = Verdict::kMayStay;
    bool owes = false;        // more than a handshake: worth another look soon
    std::string reason;       // of an offence: who, what, and how long its address waits
    std::vector<Id> with_it;  // others of its machine that are to be ended, too
  };
  Judgement Look(Id id, absl::FunctionRef<SocketTraffic()> measure, Time now);

  // It is there no more. Not empty: that was one too many of its kind, and its address waits.
  std::string Closed(Id id, Time now);

  // The account of a connection, by its peer as gRPC writes it. Never null: what was not accepted
  // here has an account that nobody looks at.
  std::shared_ptr<ConnectionAccount> Find(absl::string_view peer);

  int64_t num_open() const;
  int64_t num_cut_off() const;  // so far, for a reason

 private:
  struct Connection {
    PeerAddress peer;
    std::shared_ptr<ConnectionAccount> account;
    Time accepted;
    Time last_used;
    Time last_look;
    SocketTraffic traffic;      // at the last look
    int64_t credit_bytes = 0;   // likewise
    int64_t begun = 0;          // likewise
    int64_t useless_calls = 0;  // likewise
    int64_t unread_calls = 0;   // likewise
    double debt = 0;            // bytes that nobody accounts for
    double debt_counted = 0;    // of it, in the sum of all
    double late_counted = 0;    // of it, in its machine's
    int64_t reading = 0;        // calls whose requests arrived, at the last look
    // Since when it owes, what it owed then, and what calls had accounted for by then; the epoch:
    // it does not.
    Time owes_since;
    double owed = 0;
    int64_t paid = 0;
    double forgivable = 0;  // bytes of a refused request that may be still to come
    Time forgave;           // when that was last granted
    double useless = 0;     // calls beyond the rate
  };
  struct Machine {
    int64_t open = 0;
    double debt = 0;  // of its connections, as far as it is late, beyond their handshakes
    double vain = 0;  // connections beyond the rate
    Time vain_at;
    int offences = 0;
    Time last_offence;
    Time waits_until;
  };

  std::optional<Id> LeastMissed(const std::string& machine, Time now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Measure(Connection* connection, absl::FunctionRef<SocketTraffic()> measure, Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CountDebt(Connection* connection, double debt, double late)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Forgive(Connection* connection, int64_t unread, Time now) const;
  void NotePayment(Connection* connection, Time now) const;
  bool IsLate(const Connection& connection, Time now) const;
  double FreeBytesOf(const Connection& connection) const;
  std::string OffenceOf(const Connection& connection, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string CutOff(Id id, const std::string& offence, Time now, std::vector<Id>* with_it)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Remove(Id id, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::chrono::milliseconds LetWait(Machine* machine, Time now) const;
  void ForgetMachines(Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const ConnectionLimits limits_;
  mutable Mutex mu_;
  std::unordered_map<Id, Connection> connections_ ABSL_GUARDED_BY(mu_);
  std::unordered_map<std::string, Id> by_endpoint_ ABSL_GUARDED_BY(mu_);
  std::unordered_map<std::string, Machine> machines_ ABSL_GUARDED_BY(mu_);
  Time next_forget_ ABSL_GUARDED_BY(mu_);
  double debt_in_all_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t cut_off_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vicinity
