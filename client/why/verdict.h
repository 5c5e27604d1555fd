// Which part of a cluster a trainer waits for, and what would help: a judgement of measured
// numbers, without any network, clock or file.
//
// The rule, in order:
//
//   1. A trainer that seldom waits is bound by itself: its model, its device.
//   2. Else by the loader's stage whose threads are busy for the largest part of the time. The
//      stages before it stand still for want of room, those behind it for want of work.
//   3. A stage that does not wait for calls most of that time is bound by the trainer's own cores.
//   4. One that does waits for servers or for the way there. Servers that lack cores are told by
//      what they use and by threads that are ready to run and have none; servers that read from
//      disks by threads that wait for one.
//   5. If they lack neither, calls take their time on the way: the link. But where servers compute
//      for most of the time that sampling waits, there are too few that ask at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/why/server_numbers.h"
#include "client/why/trainer_numbers.h"

namespace vicinity {

enum class Bound : uint8_t {
  kUnknown,    // too little was measured
  kDevice,     // the trainer's own step
  kLink,       // the network between trainer and servers
  kServerCpu,  // cores of servers
  kSampling,   // the loader's sampling: its threads, its cores
  kDisk,       // servers that read from disks
  kLoader,     // another stage of the loader, on the trainer's cores
  kRemote,     // servers or the link: nobody has asked the servers
};
const char* BoundName(Bound bound);  // "device", "link", "server-cpu", ...

struct Advice {
  std::string what;
  double speedup = 0;  // of batches a second, at most; 0: nobody can tell
};

struct Verdict {
  Bound bound = Bound::kUnknown;
  std::string stage;                  // of the loader, that is busiest; empty: none was looked for
  double waits = 0;                   // the part of its time that the trainer waits for data
  double batch_seconds = 0;           // of training, waiting included
  std::vector<std::string> evidence;  // sentences without a full stop, the weightiest first
  std::vector<Advice> advice;
};

// Of `vicinity plan`: what a batch fetches with a cache.
struct PlannedCache {
  int64_t cache_rows = 0;
  double cache_bytes = 0;
  double rows = 0;  // a batch
};

struct JudgeOptions {
  double link_bytes_per_second = 0;  // of the trainer's link; 0: not known
  std::vector<PlannedCache> plan;    // in any order; empty: there is none
};

// `servers`: over the same time; empty: nobody has asked them.
Verdict Judge(const TrainerNumbers& trainer, absl::Span<const ServerNumbers> servers,
              const JudgeOptions& options = {});

}  // namespace vicinity
