#include "server/resource_check.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr int kCannotLimit = 3;

// What the check says in a process of its own, after `limit`; empty: all is there.
std::string Said(const std::function<void()>& limit, const ResourceNeeds& needs = {}) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    limit();
    const absl::Status status = CheckResources(needs);
    const std::string text(status.message());
    const bool told = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(told && (status.ok() || absl::IsResourceExhausted(status)) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[256];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kCannotLimit) return "cannot limit";
  CHECK(WEXITSTATUS(status) == 0);
  return text;
}

void Limit(__rlimit_resource_t resource, rlim_t most) {
  const rlimit limit = {most, most};
  setrlimit(resource, &limit);
}

TEST_CASE("what a server needs is there", "[resources]") {
  VICINITY_CHECK_OK(CheckResources());
  CHECK(Said([] {}).empty());
}

TEST_CASE("address space that is wanting is named, with its limit", "[resources]") {
  ResourceNeeds needs;
  needs.num_threads = 0;
  CHECK_THAT(Said([] { Limit(RLIMIT_AS, 300 << 20); }, needs),
             Catch::Contains("1024 MiB of address space") && Catch::Contains("307200"));
  needs.address_bytes = INT64_MAX / 2;
  CHECK_THAT(Said([] {}, needs), Catch::Contains("unlimited"));
}

TEST_CASE("threads that are wanting are named, with their limits", "[resources]") {
  CHECK_THAT(Said([] { Limit(RLIMIT_AS, 100 << 20); }),
             Catch::Contains("32 threads") && Catch::Contains("102400"));
  const std::string said = Said([] {
    Limit(RLIMIT_NPROC, 8);
    if (setuid(54321) != 0)
      _exit(kCannotLimit);  // a user without other processes; root has no limit
  });
  if (said == "cannot limit") {
    WARN("not root, or in a sandbox: the limit of processes is not tried");
    return;
  }
  CHECK_THAT(said, Catch::Contains("can have 7") && Catch::Contains("ulimit -u: 8"));
}

}  // namespace
}  // namespace vicinity
