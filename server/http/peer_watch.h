// Which servers of the cluster answer, as this one sees them.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace vicinity {

// Tries to connect to each server's address, while somebody asks and for a little longer; nothing
// is said on the connections.
//
// Threads:  any. One of its own looks, which may outlive this for as long as a name takes to be
//           resolved, and keeps what it needs.
class PeerWatch {
 public:
  enum class State { kUnknown, kAnswers, kSilent };
  struct Peer {
    State state = State::kUnknown;
    double connect_seconds = 0;  // if it answers
    std::string fault;           // if it is silent: what the system said
  };
  struct Times {
    std::chrono::milliseconds between{2'000};   // looks
    std::chrono::milliseconds limit{1'000};     // of one
    std::chrono::milliseconds goes_on{10'000};  // after the last question
  };

  // `addresses` as host:port; of an empty one nothing is ever known. Without a thread nothing is of
  // any.
  explicit PeerWatch(const std::vector<std::string>& addresses) : PeerWatch(addresses, Times()) {}
  PeerWatch(const std::vector<std::string>& addresses, const Times& times);
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  // By address. Does not wait: what the last look has found, and has the next one made. Nothing is
  // known where nobody has asked for as long as looks go on.
  std::vector<Peer> Ask();

 private:
  class Watcher;
  const std::shared_ptr<Watcher> watcher_;  // with its thread
};

}  // namespace vicinity
