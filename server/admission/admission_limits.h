// What a server takes on at once, from all clients and from each.
#pragma once

#include <chrono>
#include <cstdint>

#include "absl/status/status.h"

namespace vicinity {

// The defaults are those of calls for data (rows, samples, names, keys, rankings). Small calls have
// limits of their own (below), so that neither kind is in the other's way.
struct AdmissionLimits {
  const char* calls = "calls";    // what refusals call them
  bool has_flags = true;          // refusals name the option of vicinityd that sets the limit
  int64_t max_calls = 1024;       // there at once: worked on, waiting, or not read by their client
  int64_t max_client_calls = 64;  // of them, of one client
  // Worked on at once; the others wait their turn. 0: four for each core, at least 16. More do not
  // get more done, each only takes longer, and refusing others, too.
  int64_t max_running = 0;

  // Of replies that are still to be sent: those worked on, and as much again of those waiting.
  // Large ones count as a sixteenth of it, so that as many may run at once.
  int64_t max_reply_bytes = int64_t{1} << 30;
  // Of one client, whole; one reply alone may always be sent.
  int64_t max_client_reply_bytes = int64_t{512} << 20;

  double max_client_request_rate = 0;  // requests a second; 0: no limit
  double max_client_byte_rate = 0;     // reply bytes a second; 0: no limit

  // Once the queue has held calls for longer than max_queue_delay during all of overload_time,
  // there is an overload: those that have waited for longer than max_overload_delay are refused,
  // but for a few (a quarter of max_running) of clients with no more than their share of the turns:
  // these may wait for twice max_queue_delay. It ends when none had to be for overload_time.
  std::chrono::milliseconds max_queue_delay{50};
  std::chrono::milliseconds max_overload_delay{10};
  std::chrono::milliseconds overload_time{100};

  // A client that takes nothing of a reply for stall_time, though others are served or nobody is at
  // all, gives up its turn, as it does in any case after ten times as long. After write_timeout it
  // is cut off; after a tenth of that where more than half of max_calls are such calls.
  std::chrono::milliseconds stall_time{100};
  std::chrono::milliseconds write_timeout{20'000};

  // InvalidArgument naming the limit that is out of its range.
  absl::Status Validate() const;
  // max_running, or what its 0 stands for here.
  int64_t EffectiveRunning() const;

  // Of Hello, Describe, Status and reflection: a client asks a few of them when it begins, and an
  // operator now and then.
  static AdmissionLimits OfSmallCalls();
  // Of health checks, which anybody may ask: for all who ask from one machine.
  static AdmissionLimits OfHealthChecks();
  // Of changes to a live graph. Most of a turn is waiting for the disk, which one commit of many
  // writers' batches does for all of them.
  static AdmissionLimits OfWrites();
  // Of what other servers' writers send: each sends one after the other, for a shard.
  static AdmissionLimits OfReplicas();
};

}  // namespace vicinity
