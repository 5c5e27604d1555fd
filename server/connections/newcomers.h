// Connections that have been accepted and wait to be let in: machines take turns, so that none
// keeps others waiting with however many of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include "server/connections/peer_address.h"

namespace vicinity {

struct Newcomer {
  int listener_fd = -1;
  int fd = -1;
  uint64_t id = 0;  // SocketId
  PeerAddress peer;
};

// Threads: one at a time. Owns no file.
class Newcomers {
 public:
  explicit Newcomers(size_t most) : most_(most) {}

  // Returns who has to go for it where there are more than so many: the oldest of the machine that
  // has the most.
  std::optional<Newcomer> Add(Newcomer newcomer);
  // The oldest of the machine whose turn it is. None: nobody waits.
  std::optional<Newcomer> Next();

  bool empty() const { return size_ == 0; }

 private:
  Newcomer TakeFrom(const std::string& machine);

  const size_t most_;
  size_t size_ = 0;
  std::unordered_map<std::string, std::deque<Newcomer>> of_machine_;  // none is empty
  std::deque<std::string> turns_;                                     // of machines, each once
};

}  // namespace vicinity
