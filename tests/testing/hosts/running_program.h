// A program that a test has started, watches and stops: daemons, mostly.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace vicinity::testing {

// Threads:  one at a time.
// Lifetime: the destructor kills the program if it still runs. It also dies with the test.
class RunningProgram {
 public:
  // argv[0] is the path, under Bazel one relative to the runfiles. NotFound if it cannot be
  // started.
  static absl::StatusOr<std::unique_ptr<RunningProgram>> Start(
      const std::vector<std::string>& argv);
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  // Reads what it prints, on either stream, until a line contains `text`. DeadlineExceeded, or
  // OutOfRange when it has ended before, both with all that it printed.
  absl::Status WaitForLine(const std::string& text, absl::Duration limit);

  // Its exit code, or 128 + the signal that ended it. DeadlineExceeded if it runs on.
  absl::StatusOr<int> WaitForExit(absl::Duration limit);

  void Signal(int signal);
  pid_t pid() const { return pid_; }
  const std::string& output() const { return output_; }  // read so far

 private:
  RunningProgram(pid_t pid, int pid_fd, int output_fd);
  // Reads what there is, waiting for more. False: nothing until `deadline`, or the end.
  bool ReadMore(absl::Time deadline);

  const pid_t pid_;
  const int pid_fd_;
  const int output_fd_;
  bool ended_ = false;  // reaped
  int exit_code_ = 0;
  bool at_end_ = false;  // of its output
  std::string output_;
};

}  // namespace vicinity::testing
