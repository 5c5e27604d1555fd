#include "server/stop_signals.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <thread>

namespace vicinity {
namespace {

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

void BlockStopSignals() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

int WaitForStopSignal() {
  const sigset_t signals = StopSignals();
  int number = 0;
  while (sigwait(&signals, &number) != 0) {
  }
  return number;
}

void ForceExitAfter(std::chrono::nanoseconds limit) {
  std::thread([end = std::chrono::steady_clock::now() + limit] {
    const sigset_t signals = StopSignals();
    for (;;) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left.count() <= 0) _exit(1);
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
      timespec wait{};
      wait.tv_sec = seconds.count();
      wait.tv_nsec = std::chrono::nanoseconds(left - seconds).count();
      if (sigtimedwait(&signals, nullptr, &wait) > 0) _exit(1);
    }
  }).detach();  // it ends with the process, which is its purpose
}

bool StopWithParent() {
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  // A parent that ended before the call sends nothing any more.
  return getppid() == parent;
}

}  // namespace vicinity
