#include "proto/common/folder_lock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

const LockWait kNoWait = {absl::ZeroDuration(), nullptr};

// A process that holds the lock until it is killed.
class Holder {
 public:
  explicit Holder(const std::string& folder) {
    int holds[2];
    REQUIRE(pipe(holds) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      const absl::StatusOr<FolderLock> lock = FolderLock::Take(folder);
      if (!lock.ok() || write(holds[1], "x", 1) != 1) _exit(1);
      for (;;) pause();
    }
    close(holds[1]);
    char byte;
    REQUIRE(read(holds[0], &byte, 1) == 1);
    close(holds[0]);
  }
  ~Holder() { Kill(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  std::string name() const { return absl::StrCat("process ", pid_); }

 private:
  pid_t pid_ = 0;
};

TEST_CASE("a lock that another process holds is refused, naming the process", "[partition]") {
  const testing::TempDir folder;
  const Holder holder(folder.path());
  const absl::Status refused = FolderLock::Take(folder.path(), kNoWait).status();
  VICINITY_CHECK_CODE(refused, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(refused.message()),
             Catch::Contains(holder.name()) && Catch::Contains(folder.path()));
  const absl::Status late =
      FolderLock::Take(folder.path(), {absl::Milliseconds(30), nullptr}).status();
  VICINITY_CHECK_CODE(late, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(late.message()), Catch::Contains("30ms"));
}

TEST_CASE("whoever waits for a lock is told, and gets it when its holder is killed",
          "[partition]") {
  const testing::TempDir folder;
  Holder holder(folder.path());
  const std::string name = holder.name();
  std::string told;
  LockWait wait;
  wait.told = [&](const std::string& text) {
    told += text;
    holder.Kill();
  };
  VICINITY_CHECK_OK(FolderLock::Take(folder.path(), wait));
  CHECK_THAT(told, Catch::Contains(name) && Catch::Contains("1m"));
}

TEST_CASE("a lock is free when it was released, moved from or destroyed", "[partition]") {
  const testing::TempDir folder;
  VICINITY_ASSERT_OK_AND_ASSIGN(FolderLock lock, FolderLock::Take(folder.path(), kNoWait));
  VICINITY_CHECK_CODE(FolderLock::Take(folder.path(), kNoWait),
                      absl::StatusCode::kFailedPrecondition);
  {
    const FolderLock moved = std::move(lock);
    VICINITY_CHECK_CODE(FolderLock::Take(folder.path(), kNoWait),
                        absl::StatusCode::kFailedPrecondition);
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(FolderLock again, FolderLock::Take(folder.path(), kNoWait));
  again.Release();
  VICINITY_CHECK_OK(FolderLock::Take(folder.path(), kNoWait));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a folder that is not there has no lock", "[partition]") {
  const testing::TempDir folder;
  VICINITY_CHECK_CODE(FolderLock::Take(folder.File("nothing")), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace vicinity
