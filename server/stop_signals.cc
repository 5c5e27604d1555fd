#include "server/stop_signals.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <thread>

#include "absl/status/statusor.h"
#include "proto/common/thread.h"

namespace vicinity {
namespace {

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

sigset_t AllSignals() {
  sigset_t signals = StopSignals();
  sigaddset(&signals, SIGHUP);
  return signals;
}

[[noreturn]] void ForceExitAt(std::chrono::steady_clock::time_point end) {
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
}

}  // namespace

void BlockStopSignals() {
  const sigset_t signals = AllSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

int WaitForStopSignal(const std::function<void()>& reload) {
  const sigset_t signals = AllSignals();
  for (;;) {
    int number = 0;
    if (sigwait(&signals, &number) != 0) continue;
    if (number != SIGHUP) return number;
    reload();
  }
}

void StopThisProcess() { kill(getpid(), SIGTERM); }

void ForceExitAfter(std::chrono::nanoseconds limit) {
  absl::StatusOr<std::thread> thread =
      StartThread([end = std::chrono::steady_clock::now() + limit] { ForceExitAt(end); });
  if (thread.ok()) {
    thread->detach();  // it ends with the process, which is its purpose
  } else {
    alarm(1 + static_cast<unsigned>(std::chrono::ceil<std::chrono::seconds>(limit).count()));
  }
}

bool StopWithParent() {
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  // A parent that ended before the call sends nothing any more.
  return getppid() == parent;
}

}  // namespace vicinity
