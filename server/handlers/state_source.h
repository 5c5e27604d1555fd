// Which of a server's states a call is answered by.
#pragma once

#include <cstdint>
#include <memory>

#include "server/handlers/server_state.h"

namespace vicinity {

// Threads: any number at once.
class StateSource {
 public:
  virtual ~StateSource() = default;

  // That of the dataset with this fingerprint; if it is not here, or 0, that of the one in force,
  // whose handlers say so. For as long as somebody has it all that it points to is there.
  virtual std::shared_ptr<const ServerState> Of(uint64_t fingerprint) const = 0;
};

// Of a port that has one alone.
// Lifetime: `state` outlives all that it was given to.
class OneState final : public StateSource {
 public:
  explicit OneState(const ServerState* state) : state_(state, [](const ServerState*) {}) {}
  std::shared_ptr<const ServerState> Of(uint64_t /*fingerprint*/) const override { return state_; }

 private:
  const std::shared_ptr<const ServerState> state_;
};

}  // namespace vicinity
