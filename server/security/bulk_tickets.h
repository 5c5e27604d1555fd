// What opens a bulk connection: tickets, each for whoever has proven over gRPC who it is.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "proto/common/mutex.h"
#include "server/security/credentials.h"

namespace vicinity {

// A ticket is 8 bytes that number it and 24 random ones. It is good once, for kValid, on the kind
// of socket that it was given for. What a connection may that was opened with one is what was
// proven when it was given; whether that still holds is asked for each call
// (ServerTrust::Identify).
//
// Threads: all methods from any number at once. Reads no clock.
// Memory:  of kMostAtOnce tickets; the oldest give way to new ones.
class BulkTickets {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kValid{10};
  static constexpr size_t kMostAtOnce = 8192;
  static constexpr size_t kTicketBytes = 32;

  enum class Socket : uint8_t { kTcp, kUnix };

  // Where the channel is. No name, or port 0: not there.
  struct Places {
    std::string unix_name;
    int port = 0;
  };

  struct Bearer {
    std::string peer;  // as gRPC writes it
    ServerTrust::Proof proof;
  };

  explicit BulkTickets(Places places) : places_(std::move(places)) {}

  const Places& places() const { return places_; }

  // None: the system has no random bytes.
  std::optional<std::string> Issue(Bearer bearer, Socket socket, Time now);
  // Whose it is; it is used up then. None: it is not one, or not any more, or not for this socket.
  std::optional<Bearer> Redeem(absl::string_view ticket, Socket socket, Time now);

  int64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    std::string secret;
    Bearer bearer;
    Socket socket = Socket::kTcp;
    Time until;
  };

  void Forget(Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Places places_;
  std::atomic<int64_t> refused_{0};
  Mutex mu_;
  uint64_t next_ ABSL_GUARDED_BY(mu_) = 1;
  std::unordered_map<uint64_t, Entry> entries_ ABSL_GUARDED_BY(mu_);
  std::deque<uint64_t> in_order_
      ABSL_GUARDED_BY(mu_);  // of their issue; used ones may be among them
};

}  // namespace vicinity
