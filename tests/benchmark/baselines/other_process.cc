#include "tests/benchmark/baselines/other_process.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

namespace vicinity::benchmark {
namespace {

double Seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

[[noreturn]] void Fail(const char* what) {
  std::cerr << "cannot start a process: " << what << '\n';
  std::exit(1);
}

}  // namespace

std::unique_ptr<OtherProcess> OtherProcess::Start(const Serve& serve) {
  int to_parent[2];
  int alive[2];
  if (pipe(to_parent) != 0 || pipe(alive) != 0) Fail("pipe");
  const pid_t pid = fork();
  if (pid < 0) Fail("fork");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(alive[1]);
    serve([&](int port) {
      char end = 0;
      if (write(to_parent[1], &port, sizeof(port)) != sizeof(port)) _exit(1);
      while (read(alive[0], &end, 1) > 0) {
      }
    });
    _exit(0);
  }
  close(to_parent[1]);
  close(alive[0]);
  int port = 0;
  if (read(to_parent[0], &port, sizeof(port)) != sizeof(port)) Fail("it serves nowhere");
  close(to_parent[0]);
  return std::unique_ptr<OtherProcess>(new OtherProcess(pid, port, alive[1]));
}

OtherProcess::OtherProcess(pid_t pid, int port, int alive) : pid_(pid), port_(port), alive_(alive) {
  if (clock_getcpuclockid(pid, &clock_) != 0) Fail("no CPU clock");
}

OtherProcess::~OtherProcess() {
  close(alive_);
  kill(pid_, SIGKILL);  // it has nothing to lose
  waitpid(pid_, nullptr, 0);
}

double OtherProcess::CpuSeconds() const { return Seconds(clock_); }

int64_t OtherProcess::AnonymousBytes() const {
  std::ifstream in("/proc/" + std::to_string(pid_) + "/status");
  const std::string key = "RssAnon:";
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(key, 0) == 0) return std::stoll(line.substr(key.size())) << 10;
  }
  Fail("no RssAnon in its status");
}

double OwnCpuSeconds() { return Seconds(CLOCK_PROCESS_CPUTIME_ID); }

void UseTwoCores() {
  cpu_set_t all;
  cpu_set_t two;
  CPU_ZERO(&two);
  if (sched_getaffinity(0, sizeof(all), &all) != 0) return;
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &two);
  }
  sched_setaffinity(0, sizeof(two), &two);
}

TransferCost MeasureTransfer(const OtherProcess& server, double seconds,
                             const std::function<double()>& work) {
  using Clock = std::chrono::steady_clock;
  work();  // connects, warms caches
  const double cpu_before = OwnCpuSeconds() + server.CpuSeconds();
  const Clock::time_point start = Clock::now();
  double moved = 0;
  double taken = 0;
  while (taken < seconds) {
    moved += work();
    taken = std::chrono::duration<double>(Clock::now() - start).count();
  }
  const double cpu = OwnCpuSeconds() + server.CpuSeconds() - cpu_before;
  return {moved / taken * 1e-9, cpu / moved * 1e9};
}

}  // namespace vicinity::benchmark
