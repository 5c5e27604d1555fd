#include "partition/cut/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/common/file.h"
#include "proto/common/open_file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int kTickMs = 200;
constexpr absl::Duration kTimeToDie = absl::Seconds(10);
constexpr int64_t kLogTail = 500;  // bytes of the log that an error quotes

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

absl::StatusOr<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe", "create");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// Runs in the child, between fork and exec: only calls that are safe there, since other threads of
// the parent may have held any lock at the fork.
[[noreturn]] void BecomeProgram(char* const* argv, int log, int errno_pipe, int alive_pipe,
                                pid_t parent) {
  setpgid(0, 0);  // so that its own children can be killed with it
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent was faster and is gone
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  // Stays open in the program: its end is the sign of life.
  fcntl(alive_pipe, F_SETFD, 0);
  execv(argv[0], argv);
  const int error = errno;
  // Nothing better can be done if this fails: the exit status then tells.
  [[maybe_unused]] const ssize_t written = write(errno_pipe, &error, sizeof(error));
  _exit(127);
}

std::string LogTail(const std::string& path) {
  const absl::StatusOr<std::string> log = ReadFile(path);
  if (!log.ok()) return "";
  const size_t begin = log->size() > kLogTail ? log->size() - kLogTail : 0;
  const absl::string_view tail = absl::StripAsciiWhitespace(absl::string_view(*log).substr(begin));
  return tail.empty() ? "" : absl::StrCat("; it said: ", tail);
}

absl::Status Verdict(const ChildOptions& options, int wait_status) {
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) return absl::OkStatus();
  std::string what;
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    what = absl::StrCat("ended by signal ", signal, " (", strsignal(signal), ")",
                        signal == SIGKILL ? ", perhaps for lack of memory" : "");
  } else {
    what = absl::StrCat("exit status ", WEXITSTATUS(wait_status));
  }
  return absl::AbortedError(absl::StrCat(options.program, ": ", what, LogTail(options.log_path)));
}

// A clock that nobody sets.
absl::Duration Since(std::chrono::steady_clock::time_point begun) {
  return absl::FromChrono(std::chrono::steady_clock::now() - begun);
}

void KillWithItsOwn(pid_t child) {
  kill(-child, SIGKILL);
  kill(child, SIGKILL);  // should it not have made its group yet
}

absl::Status TookTooLong(const ChildOptions& options) {
  return absl::DeadlineExceededError(absl::StrCat(options.program, ": killed after ",
                                                  absl::FormatDuration(options.time_limit),
                                                  ", its time limit", LogTail(options.log_path)));
}

// Sleeps until the child shows signs of its end, a tick at most.
void AwaitTick(absl::Duration left, pollfd* alive) {
  // A program may close its end of the pipe and live on: then its death is found by looking often.
  const absl::Duration tick = absl::Milliseconds(alive->fd < 0 ? 2 : kTickMs);
  const absl::Duration wait = std::clamp(left, absl::Milliseconds(1), tick);
  if (poll(alive, 1, static_cast<int>(absl::ToInt64Milliseconds(wait))) > 0) alive->fd = -1;
}

// The child's wait status, or DeadlineExceeded once it has been killed and buried.
absl::StatusOr<int> WaitFor(const ChildOptions& options, pid_t child, int alive_pipe,
                            std::chrono::steady_clock::time_point begun, rusage* usage) {
  pollfd alive = {alive_pipe, POLLIN, 0};
  absl::Duration limit = options.time_limit;
  bool killed = false;
  for (;;) {
    AwaitTick(limit - Since(begun), &alive);
    int wait_status = 0;
    const pid_t ended = wait4(child, &wait_status, WNOHANG, usage);
    if (ended < 0 && errno != EINTR) return ErrnoStatus(errno, options.program, "wait");
    if (ended == child) {
      kill(-child, SIGKILL);  // what it started itself
      if (killed) return TookTooLong(options);
      return wait_status;
    }
    if (Since(begun) >= limit) {
      // Not even a kill gets through to a process that hangs in the kernel.
      if (killed) return TookTooLong(options);
      KillWithItsOwn(child);
      killed = true;
      limit += kTimeToDie;
    }
    if (options.on_tick) options.on_tick(Since(begun));
  }
}

}  // namespace

absl::StatusOr<ChildUsage> RunChild(const ChildOptions& options) {
  std::vector<char*> argv = {const_cast<char*>(options.program.c_str())};
  for (const std::string& argument : options.arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  const Descriptor log = OpenFile(options.log_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  if (log.get() < 0) return ErrnoStatus(errno, options.log_path, "create");
  VICINITY_ASSIGN_OR_RETURN(Pipe errno_pipe, MakePipe());
  VICINITY_ASSIGN_OR_RETURN(Pipe alive_pipe, MakePipe());

  const auto begun = std::chrono::steady_clock::now();
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return ErrnoStatus(errno, options.program, "fork");
  if (child == 0) {
    BecomeProgram(argv.data(), log.get(), errno_pipe.write_end.get(), alive_pipe.write_end.get(),
                  parent);
  }
  errno_pipe.write_end.Close();
  alive_pipe.write_end.Close();

  int exec_error = 0;
  ssize_t got = 0;
  do {  // ends at the child's exec or death, both at once
    got = read(errno_pipe.read_end.get(), &exec_error, sizeof(exec_error));
  } while (got < 0 && errno == EINTR);
  rusage usage = {};
  absl::StatusOr<int> wait_status =
      WaitFor(options, child, alive_pipe.read_end.get(), begun, &usage);
  if (got == sizeof(exec_error)) return ErrnoStatus(exec_error, options.program, "start");
  VICINITY_RETURN_IF_ERROR(wait_status.status());
  VICINITY_RETURN_IF_ERROR(Verdict(options, *wait_status));
  ChildUsage result;
  result.elapsed = Since(begun);
  result.peak_memory_bytes = int64_t{usage.ru_maxrss} * 1024;
  return result;
}

}  // namespace vicinity
