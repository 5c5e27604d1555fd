#include "tests/testing/hosts/running_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace vicinity::testing {
namespace {

// Between fork and exec: only what is safe there.
[[noreturn]] void BecomeProgram(char* const* argv, int output_fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(output_fd, STDOUT_FILENO);
  dup2(output_fd, STDERR_FILENO);
  execv(argv[0], argv);
  _exit(127);
}

int MillisecondsUntil(absl::Time deadline) {
  const absl::Duration left = std::max(deadline - absl::Now(), absl::ZeroDuration());
  return static_cast<int>(std::min<int64_t>(absl::ToInt64Milliseconds(left) + 1, 60'000));
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunningProgram>> RunningProgram::Start(
    const std::vector<std::string>& argv) {
  if (access(argv[0].c_str(), X_OK) != 0) {
    return absl::NotFoundError(absl::StrCat(argv[0], ": ", std::strerror(errno)));
  }
  std::vector<char*> raw;
  for (const std::string& arg : argv) raw.push_back(const_cast<char*>(arg.c_str()));
  raw.push_back(nullptr);
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return absl::UnavailableError(std::strerror(errno));
  const pid_t pid = fork();
  if (pid == 0) BecomeProgram(raw.data(), fds[1]);
  close(fds[1]);
  if (pid < 0) {
    close(fds[0]);
    return absl::UnavailableError(std::strerror(errno));
  }
  const int pid_fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  return std::unique_ptr<RunningProgram>(new RunningProgram(pid, pid_fd, fds[0]));
}

RunningProgram::RunningProgram(pid_t pid, int pid_fd, int output_fd)
    : pid_(pid), pid_fd_(pid_fd), output_fd_(output_fd) {}

RunningProgram::~RunningProgram() {
  if (!ended_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(pid_fd_);
  close(output_fd_);
}

absl::Status RunningProgram::WaitForLine(const std::string& text, absl::Duration limit) {
  const absl::Time deadline = absl::Now() + limit;
  size_t looked = 0;
  for (;;) {
    size_t end = output_.find('\n', looked);
    while (end != std::string::npos) {
      if (output_.substr(looked, end - looked).find(text) != std::string::npos) {
        return absl::OkStatus();
      }
      looked = end + 1;
      end = output_.find('\n', looked);
    }
    if (!ReadMore(deadline)) break;
  }
  const std::string told = absl::StrCat("no line with \"", text, "\" in:\n", output_);
  return at_end_ ? absl::OutOfRangeError(told) : absl::DeadlineExceededError(told);
}

absl::StatusOr<int> RunningProgram::WaitForExit(absl::Duration limit) {
  const absl::Time deadline = absl::Now() + limit;
  // Its output is read to the end first: a program may wait for someone to read it.
  while (!at_end_ && ReadMore(deadline)) {
  }
  pollfd exit{pid_fd_, POLLIN, 0};
  while (!ended_) {
    const int ready = poll(&exit, 1, MillisecondsUntil(deadline));
    int status = 0;
    if (ready > 0 && waitpid(pid_, &status, 0) == pid_) {
      ended_ = true;
      exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    } else if (absl::Now() >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat("still running, having said:\n", output_));
    }
  }
  return exit_code_;
}

void RunningProgram::Signal(int signal) {
  if (!ended_) kill(pid_, signal);
}

bool RunningProgram::ReadMore(absl::Time deadline) {
  pollfd readable{output_fd_, POLLIN, 0};
  if (at_end_ || poll(&readable, 1, MillisecondsUntil(deadline)) <= 0) return false;
  char buffer[4096];
  const ssize_t got = read(output_fd_, buffer, sizeof(buffer));
  at_end_ = got <= 0;
  if (got > 0) output_.append(buffer, static_cast<size_t>(got));
  return !at_end_;
}

}  // namespace vicinity::testing
