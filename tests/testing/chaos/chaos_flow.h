// What a fault-injecting proxy does to one direction of one connection, apart from any socket and
// any clock: bytes go in, and come out late, slowly, in pieces, changed, or not at all.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "proto/common/random.h"

namespace vicinity::testing {

using SteadyTime = std::chrono::steady_clock::time_point;

// The default passes everything on at once.
struct Toxics {
  absl::Duration latency;        // each byte comes out no earlier than this after it came in,
  absl::Duration jitter;         // plus a random part of this; the order stays
  int64_t bytes_per_second = 0;  // 0: no limit
  int64_t slice_bytes = 0;       // written in pieces of at most this many; 0: any size
  int64_t corrupt_every = 0;     // one bit of every so-many-th byte is flipped; 0: none
  // The connection ends, in both directions, when this many bytes have passed since it was made or
  // these toxics were set, whichever is later; by FIN, or by RST. -1: never.
  int64_t cut_after = -1;
  bool cut_by_reset = false;
  bool stall = false;    // nothing comes out until it is lifted; nothing is lost
  bool swallow = false;  // what comes in is gone, the end of the stream too
};

// Threads: one at a time.
// Memory:  the capacity, at most.
// Order:   bytes come out in the order in which they came in.
class ChaosFlow {
 public:
  // The same seed gives the same jitter and flips the same bits.
  ChaosFlow(size_t capacity_bytes, uint64_t seed);

  // For all that comes in from now on; what waits comes out no later than if it came in now. A
  // stream that has lost bytes by `swallow` goes on losing all.
  void Set(const Toxics& toxics, SteadyTime now);

  size_t Room() const;                                // bytes that Push takes
  void Push(std::string_view bytes, SteadyTime now);  // at most Room(); after PushEnd they are lost
  void PushEnd();                                     // no more is to come out after what is in
  void Drop();                                        // what is in is gone, the end is next

  // What may come out now, at most one piece; stays valid until the next call that changes
  // anything. Pop tells how much of it did.
  std::string_view Ready(SteadyTime now) const;
  void Pop(size_t count, SteadyTime now);
  // When Ready may come to give something without any call; none if it does now or never will.
  std::optional<SteadyTime> NextReady(SteadyTime now) const;

  const Toxics& toxics() const { return toxics_; }
  bool cut() const;                      // as many bytes have passed as were to pass
  bool drained() const;                  // everything came out, the end is next
  bool holed() const { return holed_; }  // bytes were swallowed
  int64_t passed() const { return passed_; }
  int64_t corrupted() const { return corrupted_; }

 private:
  struct Piece {
    std::string bytes;
    SteadyTime due;
  };

  void Corrupt(std::string* bytes);
  bool Paced() const { return toxics_.bytes_per_second > 0; }

  const size_t capacity_;
  NodeDraws random_;
  Toxics toxics_;
  std::deque<Piece> queue_;
  size_t front_used_ = 0;  // bytes of queue_.front() that came out
  size_t queued_ = 0;      // bytes that wait
  bool end_ = false;
  bool holed_ = false;
  SteadyTime last_due_;
  SteadyTime next_send_;       // by the pace
  int64_t until_corrupt_ = 0;  // bytes before the next that is changed
  int64_t passed_ = 0;
  int64_t passed_since_set_ = 0;
  int64_t corrupted_ = 0;
};

}  // namespace vicinity::testing
