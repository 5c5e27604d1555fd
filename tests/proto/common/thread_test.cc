#include "proto/common/thread.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("a thread that can be had runs its work", "[thread]") {
  int done = 0;
  VICINITY_ASSERT_OK_AND_ASSIGN(std::thread thread, StartThread([&done] { done = 1; }));
  thread.join();
  CHECK(done == 1);
}

// In a process of its own, which may have no more address space than it has taken: there is room
// for a thread or two, whose stacks lie ready, but not for a hundred.
int RefusedThread() {
  const pid_t pid = fork();
  if (pid == 0) {
    const rlimit none = {1, 1};
    setrlimit(RLIMIT_AS, &none);
    for (int i = 0; i < 100; ++i) {
      absl::StatusOr<std::thread> thread = StartThread([] {
        for (;;) pause();
      });
      if (absl::IsResourceExhausted(thread.status())) _exit(0);
      if (!thread.ok()) break;
      thread->detach();
    }
    _exit(1);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  return status;
}

TEST_CASE("a thread that is refused is an error, not an exception", "[thread]") {
  CHECK(RefusedThread() == 0);
}

TEST_CASE("memory and threads that are refused inside become an error", "[thread]") {
  const absl::Status memory = WithinResources([]() -> absl::Status { throw std::bad_alloc(); });
  VICINITY_CHECK_CODE(memory, absl::StatusCode::kResourceExhausted);
  const absl::StatusOr<int> thread = WithinResources([]() -> absl::StatusOr<int> {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  });
  VICINITY_CHECK_CODE(thread, absl::StatusCode::kResourceExhausted);
  CHECK(WithinResources([]() -> absl::StatusOr<int> { return 7; }).value() == 7);
}

}  // namespace
}  // namespace vicinity
