#include "proto/common/last_words.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace vicinity {
namespace {

struct End {
  int code = 0;  // exit code, or 128 + signal
  std::string text;
};

void Limit(int resource, rlim_t most) {
  const rlimit limit = {most, most};
  setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

// How a process ends that speaks its last words after `work`.
End EndOf(const std::function<void()>& work) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDERR_FILENO);
    Limit(RLIMIT_CORE, 0);
    std::signal(SIGALRM, SIG_DFL);
    alarm(60);
    SpeakLastWords("prog");
    work();
    _exit(0);
  }
  close(ends[1]);
  End end;
  char buffer[256];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    end.text.append(buffer, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return end;
}

// As where an exception leaves a thread.
[[noreturn]] void Throw(const std::function<void()>& thrower) {
  try {
    thrower();
  } catch (...) {
    std::terminate();
  }
  std::abort();
}

TEST_CASE("memory that nobody could have is named, with the limit", "[last_words]") {
  const End end = EndOf([] { Throw([] { throw std::bad_alloc(); }); });
  CHECK(end.code == kResourcesExitCode);
  CHECK_THAT(end.text, Catch::StartsWith("prog: out of memory") && Catch::Contains("ulimit -v") &&
                           Catch::EndsWith("\n"));
}

TEST_CASE("a thread that nobody could have is named, with the limit", "[last_words]") {
  const End end = EndOf([] {
    Throw([] {
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    });
  });
  CHECK(end.code == kResourcesExitCode);
  CHECK_THAT(end.text,
             Catch::StartsWith("prog: cannot start a thread") && Catch::Contains("ulimit -u"));
}

TEST_CASE("a library's abort at the end of memory is told so", "[last_words]") {
  const End end = EndOf([] {
    Limit(RLIMIT_AS, 1);
    std::abort();
  });
  CHECK(end.code == kResourcesExitCode);
  CHECK_THAT(end.text, Catch::Contains("out of memory") && Catch::Contains("ulimit -v is 0"));
}

TEST_CASE("a library's abort at the end of processes is told so", "[last_words]") {
  const End end = EndOf([] {
    Limit(RLIMIT_NPROC, 1);
    if (setuid(54321) != 0) _exit(3);  // a user without other processes; root has no limit
    std::abort();
  });
  if (end.code == 3) {
    WARN("not root, or in a sandbox: the limit of processes is not tried");
    return;
  }
  CHECK(end.code == kResourcesExitCode);
  CHECK_THAT(end.text,
             Catch::Contains("cannot start a thread") && Catch::Contains("ulimit -u is 1"));
}

TEST_CASE("any other abort is a fault, said once, and still a signal", "[last_words]") {
  const End abort = EndOf([] { std::abort(); });
  CHECK(abort.code == 128 + SIGABRT);
  CHECK_THAT(abort.text, Catch::StartsWith("prog: aborted: a fault"));
  const End thrown = EndOf([] { Throw([] { throw std::runtime_error("odd"); }); });
  CHECK(thrown.code == 128 + SIGABRT);
  CHECK(thrown.text == "prog: ended by an exception: odd; please report it\n");
}

TEST_CASE("a watchdog's SIGABRT ends the process, and is no fault of ours", "[last_words]") {
  const End end = EndOf([] {
    const pid_t self = getpid();
    const pid_t watchdog = fork();
    if (watchdog == 0) {
      kill(self, SIGABRT);
      _exit(0);
    }
    for (;;) pause();
  });
  CHECK(end.code == 128 + SIGABRT);
  CHECK_THAT(end.text,
             Catch::StartsWith("prog: ended from outside by SIGABRT") && !Catch::Contains("fault"));
}

TEST_CASE("last words that nobody reads do not keep the process", "[last_words]") {
  const End end = EndOf([] {
    int full[2];
    if (pipe(full) != 0) _exit(3);
    dup2(full[1], STDERR_FILENO);
    const std::string bytes(65536, 'x');  // all that the pipe holds
    if (write(STDERR_FILENO, bytes.data(), bytes.size()) != 65536) _exit(3);
    Throw([] { throw std::bad_alloc(); });
  });
  CHECK(end.code == kResourcesExitCode);
}

}  // namespace
}  // namespace vicinity
