// What somebody on the network could have recorded of a connection, and what becomes of it when it
// is sent again.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "proto/common/mutex.h"

namespace vicinity::testing {

// Passes connections on to a port of the loopback device, one after the other, and keeps what the
// clients sent. Ends the process with a message if it cannot be set up.
//
// Threads:  one of its own passes bytes on; any thread may call any method.
// Lifetime: the destructor ends the connections and its thread.
class RecordingRelay {
 public:
  explicit RecordingRelay(int server_port);
  ~RecordingRelay();
  RecordingRelay(const RecordingRelay&) = delete;
  RecordingRelay& operator=(const RecordingRelay&) = delete;

  int port() const { return port_; }
  std::string sent() const;  // by all clients so far

 private:
  void Run();
  void Relay(int client);

  const int server_port_;
  const int listener_;
  const int wake_;  // an eventfd that ends every wait
  int port_ = 0;
  mutable Mutex mu_;
  std::string sent_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;  // last: it uses all above
};

struct Replayed {
  bool closed = false;   // by the server, before the limit
  std::string received;  // until then
};

// Sends recorded bytes on a connection of their own.
Replayed Replay(int server_port, const std::string& recorded, absl::Duration limit);

}  // namespace vicinity::testing
