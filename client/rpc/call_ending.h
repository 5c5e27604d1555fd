// How a call ended, whatever carried it, and what its failure is called.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "client/rpc/call_settings.h"

namespace vicinity {

struct CallEnding {
  absl::Status status;       // what the server says, or what carried the call
  absl::Status aborted;      // not OK: what was wrong with a message of the answer
  bool is_late = false;      // the deadline passed here
  bool is_ended = false;     // the server ended it, for no reason of the call's own
  bool is_stopping = false;  // the server said that it is about to stop
  std::string retry_delay;   // what the server said of it, as gRPC carries it; empty: nothing
  int64_t num_messages = 0;
};

// Tells what the settings want to be told, but for `done`, and says what that gets: errors are
// "`where`: `text`", as StartCall says.
absl::Status EndCall(const CallSettings& settings, const CallEnding& ending);

}  // namespace vicinity
