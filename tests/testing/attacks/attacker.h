// A hostile client, or a broken one: carries out one attack from a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "proto/cluster/cluster_file.h"
#include "tests/testing/attacks/hostile_connection.h"
#include "tests/testing/attacks/hostile_session.h"

namespace vicinity::testing {

struct AttackerOptions {
  HostPort address;
  bool tls = true;
  HostileTls shows;
  double cpu_share = 0.5;  // of one core: it waits when it has used more
  // Called first on the thread, which for instance joins another network there.
  std::function<absl::Status()> prepare;
};

// What became of an attack's connections. One is open once it is made as the attack wants it.
struct AttackReport {
  int64_t begun = 0;
  int64_t opened = 0;
  int64_t cut = 0;      // of those opened, ended by the server
  int64_t refused = 0;  // ended before they were open
  int64_t open_at_end = 0;
  int64_t sent_bytes = 0;
  // Of those opened: how long they lasted, those that were open at the end included.
  absl::Duration typical_life;  // the median
  absl::Duration longest_life;
  absl::Duration until_first_cut = absl::InfiniteDuration();  // since the beginning
  double cpu_seconds = 0;
  absl::Status prepared;  // what `prepare` said; if not OK, there was no attack
};

// Threads:  one at a time.
// Lifetime: the destructor ends the attack.
class Attacker {
 public:
  // Begins at once. A connection that ends is replaced at once.
  Attacker(const AttackerOptions& options, const Attack& attack);
  ~Attacker();
  Attacker(const Attacker&) = delete;
  Attacker& operator=(const Attacker&) = delete;

  // Closes all connections.
  AttackReport Stop();

 private:
  void Run();

  const AttackerOptions options_;
  const Attack attack_;
  std::atomic<bool> stop_{false};
  AttackReport report_;  // the thread's, until it is joined
  std::thread thread_;
};

}  // namespace vicinity::testing
