#include "proto/common/last_words.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

namespace vicinity {
namespace {

// A thread's stack and a little more: where not even that can be had, memory is what is wanting.
constexpr size_t kProbeBytes = size_t{16} << 20;
constexpr int kReaderMs = 1000;  // how long a reader of standard error is waited for

const char* program_name = "";
volatile std::sig_atomic_t has_spoken = 0;

// All below runs in signal handlers, too, and perhaps without a byte of free memory.

void Say(const char* text) {
  has_spoken = 1;
  pollfd writable{STDERR_FILENO, POLLOUT, 0};
  if (poll(&writable, 1, kReaderMs) <= 0) return;  // nobody reads: that must not keep the process
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

// A limit as people know it, in units of `unit` bytes or pieces.
void AddLimit(const char* name, int resource, rlim_t unit, char* out, size_t size) {
  rlimit limit;
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return;
  const size_t used = std::strlen(out);
  if (limit.rlim_cur == RLIM_INFINITY) {
    std::snprintf(out + used, size - used, " (%s is unlimited)", name);
  } else {
    std::snprintf(out + used, size - used, " (%s is %llu)", name,
                  static_cast<unsigned long long>(limit.rlim_cur / unit));
  }
}

[[noreturn]] void EndForMemory() {
  char text[512];
  std::snprintf(text, sizeof(text), "%s: out of memory: see the limits of this process",
                program_name);
  AddLimit("ulimit -v", RLIMIT_AS, 1024, text, sizeof(text));
  std::strncat(text, " and of its container\n", sizeof(text) - std::strlen(text) - 1);
  Say(text);
  _exit(kResourcesExitCode);
}

[[noreturn]] void EndForThreads() {
  char text[512];
  std::snprintf(text, sizeof(text), "%s: cannot start a thread: see the limits of this user",
                program_name);
  AddLimit("ulimit -u", RLIMIT_NPROC, 1, text, sizeof(text));
  std::strncat(text, " and of its container (pids)\n", sizeof(text) - std::strlen(text) - 1);
  Say(text);
  _exit(kResourcesExitCode);
}

bool LacksMemory() {
  void* const memory =
      mmap(nullptr, kProbeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return true;
  munmap(memory, kProbeBytes);
  return false;
}

// Processes and threads have the same limits.
bool LacksThreads() {
  const pid_t child = vfork();
  if (child == 0) _exit(0);
  if (child < 0) return errno == EAGAIN;
  waitpid(child, nullptr, 0);
  return false;
}

// What `reason` says, behind the program's name.
void SayReason(const char* reason) {
  char text[256];
  std::snprintf(text, sizeof(text), "%s: %s\n", program_name, reason);
  Say(text);
}

void OnAbort(int signal, siginfo_t* info, void*) {
  const int error = errno;
  if (info->si_pid != getpid()) {
    SayReason("ended from outside by SIGABRT, as a watchdog ends what gives no sign of life");
  } else if (has_spoken == 0) {
    if (LacksMemory()) EndForMemory();
    if (LacksThreads()) EndForThreads();
    SayReason("aborted: a fault in this program or its libraries; please report it");
  }
  errno = error;
  raise(signal);  // on return it ends the process, for the handler is gone
}

void OnTerminate() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    EndForMemory();
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::not_enough_memory) EndForMemory();
    if (error.code() == std::errc::resource_unavailable_try_again) {
      if (LacksMemory()) EndForMemory();
      EndForThreads();
    }
  } catch (const std::exception& error) {
    char text[512];
    std::snprintf(text, sizeof(text), "%s: ended by an exception: %s; please report it\n",
                  program_name, error.what());
    Say(text);
  } catch (...) {  // OnAbort has a text for it
  }
  std::abort();
}

}  // namespace

void SpeakLastWords(const char* program) {
  program_name = program;
  std::set_terminate(&OnTerminate);
  struct sigaction action;
  std::memset(&action, 0, sizeof(action));
  action.sa_sigaction = &OnAbort;
  action.sa_flags = SA_SIGINFO | SA_RESETHAND;
  sigaction(SIGABRT, &action, nullptr);
}

}  // namespace vicinity
