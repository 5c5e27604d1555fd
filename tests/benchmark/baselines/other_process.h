// A server in a process of its own, so that what both ends of a connection cost can be told.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace vicinity::benchmark {

// Serves until its parent is done: gives the port, and then blocks in the second argument.
using Serve = std::function<void(const std::function<void(int port)>& serve_at)>;

// Lifetime: the destructor ends the process.
class OtherProcess {
 public:
  // Forks, so before gRPC or any thread is used here. Exits 1 if that fails.
  static std::unique_ptr<OtherProcess> Start(const Serve& serve);
  ~OtherProcess();
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  int port() const { return port_; }
  double CpuSeconds() const;  // of all its threads, user and system
  // What it has in memory but for pages of files.
  int64_t AnonymousBytes() const;

 private:
  OtherProcess(pid_t pid, int port, int alive);
  const pid_t pid_;
  const int port_;
  const int alive_;  // the process ends when this pipe does
  clockid_t clock_ = 0;
};

// Of this process.
double OwnCpuSeconds();

// Leaves this process, and those that it starts, at most two cores.
void UseTwoCores();

// How fast `work`, which moves something (bytes, say) and says how much, is with a server's help.
// A giga is 10^9 of it.
struct TransferCost {
  double giga_per_second = 0;
  double core_seconds_per_giga = 0;  // of both processes
};
TransferCost MeasureTransfer(const OtherProcess& server, double seconds,
                             const std::function<double()>& work);

}  // namespace vicinity::benchmark
